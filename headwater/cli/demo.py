"""The command `demo`: Headwater at work on real data, from an empty folder to a traced answer.

The folder of the demo is emptied first, so the demo is the same every time. Only an empty folder,
or one that an earlier demo marked as its own, is used.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from rich.console import Console

from headwater import own_python
from headwater.cli import failures, query
from headwater.cli.backend.local import LocalBackend
from headwater.cli.result import Format, write
from headwater.cli.stack import Stack
from headwater.client.address import is_up
from headwater.cypher.driver.database import Database
from headwater.errors import HomeInUseError, ServerError
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from headwater.settings import Settings

ANSWER = "worst-carrier-2013"
OTHER_ANSWERS = ("worst-weather-2013", "least-punctual-airport-2013")
_MARK = ".headwater-demo"
# The longest time in seconds without a commit of the worker.
STALL_SECONDS = 300.0


def run(settings: Settings, *, bolt_port: int, serve: bool) -> None:
    """Run the demo. Raise ServerError if a step gives a wrong result."""
    out = Console(highlight=False)
    began = time.monotonic()
    home = settings.home_path
    empty_home(home)
    out.rule("[bold]1  Neo4j, the API and the worker")
    with Stack(settings, bolt_port=bolt_port, console=out) as stack:
        stack.announce()
        out.rule("[bold]2  a Spark pipeline on real flights, with the OpenLineage listener")
        _pipeline(stack.url, home)
        wait_folded(settings, stack.database)
        out.rule("[bold]3  where did this answer come from?")
        backend = LocalBackend(lambda: stack.database)
        write(query.ask_trace(backend, ANSWER), Format.TABLE, None)
        for answer_id in OTHER_ANSWERS:
            sources = query.ask_trace(backend, answer_id).data["sources"]
            out.print(
                f"[bold]{answer_id}[/] comes from "
                f"{', '.join(sorted(Path(s['name']).name for s in sources))}"
            )
        out.rule("[bold]4  which run failed, and what is downstream of it?")
        found = failures.ask_failures(backend, first=20)
        write(found, Format.TABLE, None)
        if not found.rows:
            raise ServerError("no failed run is in the graph", hint=f"Read {home / 'spark.log'}.")
        out.rule(f"[bold]done in {time.monotonic() - began:.0f} s")
        _next(out, stack.url, home, serve)
        if serve:
            stack.watch()


def empty_home(home: Path) -> None:
    """Empty a folder that is empty or of an earlier demo. Raise HomeInUseError for any other."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(home.iterdir()) and not (home / _MARK).exists():
        raise HomeInUseError(
            f"{home} holds files that are not of a demo", hint="Choose an empty folder with --home."
        )
    if (home / "api.url").exists() and is_up(home):
        raise HomeInUseError(
            f"a demo is being served from {home}",
            hint="End it first, or choose another folder with --home.",
        )
    from headwater.local.neo4j import LocalNeo4j

    LocalNeo4j(home).stop()
    for entry in home.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    (home / _MARK).touch()


def _pipeline(url: str, home: Path) -> None:
    command = own_python.command(
        *("-m", "headwater.demo.pipeline", "--url", url, "--home", str(home / "flights"))
    )
    ended = subprocess.run(command, env=own_python.environment(), check=False)
    if ended.returncode != 0:
        raise ServerError(
            "the pipeline of the demo failed",
            hint=f"Read {home / 'flights' / 'spark.log'}.",
        )


def wait_folded(settings: Settings, database: Database) -> None:
    """Wait until the graph has every accepted event."""
    spool = Spool(settings.spool_path)
    folded, progress_at = 0, time.monotonic()
    try:
        while (position := read_checkpoint(database, spool.id).position) < spool.last():
            if position != folded:
                folded, progress_at = position, time.monotonic()
            if time.monotonic() - progress_at > STALL_SECONDS:
                raise ServerError(
                    "the worker makes no progress",
                    hint=f"Read {settings.home_path / 'worker.log'}.",
                )
            time.sleep(0.1)
    finally:
        spool.close()


def _next(out: Console, url: str, home: Path, serve: bool) -> None:
    audit = f"headwater cypher answer_to_sources --param answerId={ANSWER} --home {home}"
    ask = f"headwater lineage dataset:file:{home}/flights/marts/carrier_delays --home {home}"
    if serve:
        steps = [
            ("open", f"{url}   in a browser: lineage, failures, dashboards"),
            ("audit", audit),
            ("ask", ask),
        ]
        last = "Ctrl-C ends it."
    else:
        steps = [
            ("serve", f"headwater up --home {home}   serves this graph again; then"),
            ("open", "the address it prints in a browser: lineage, failures, dashboards"),
            ("audit", audit),
            ("ask", ask),
        ]
        last = (
            "`make demo SERVE=1` runs the demo again and keeps serving. The command is "
            ".venv/bin/headwater."
        )
    out.print("What next:")
    for name, step in steps:
        out.print(f"  {name:<7} {step}", soft_wrap=True)
    out.print(last, soft_wrap=True)
