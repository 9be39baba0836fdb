"""The command `pipeline rollup`: replace old runs by daily summaries."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import Home, Json, connect, settings_of, with_local_neo4j
from headwater.cli.serve import set_on_signal
from headwater.schema.durations import DAYS_MAX

if TYPE_CHECKING:
    from headwater.cypher.driver.database import Database
    from headwater.pipelines.retention_cost import GraphCost
    from headwater.schema.retention import Horizon, Rules

INTERRUPTED = 130


def rollup(
    home: Home = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with your rules: days and samples by namespace.", metavar="FILE"
        ),
    ] = None,
    days: Annotated[
        float | None,
        typer.Option(
            help=f"Keep the detail of all runs for so many days, at most {DAYS_MAX}; overrides the "
            "rules."
        ),
    ] = None,
    sample: Annotated[
        float | None,
        typer.Option(help="Share of the runs whose detail is kept longer, 0 to 1."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count the runs that would be summarised.")
    ] = False,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="Print the size of the graph and possible savings; change nothing."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Replace old runs by daily summaries, and keep every run that a question needs.

    Failed runs, runs behind answers and the newest data, and the whole lineage graph stay. The
    command works in transactions of a few hundred runs, so that the worker has its turn. After
    Ctrl-C or a crash run it again.
    """
    from headwater.cypher.migrate import migrate
    from headwater.pipelines.rollup_plan import present_time
    from headwater.schema import retention

    settings = with_local_neo4j(settings_of(home))
    chosen = retention.override(retention.read_rules(rules), days=days, sample=sample)
    with closing(connect(settings)) as database:
        migrate(database)
        now = present_time(database)
        if report:
            store = settings.home_path / "data" / "databases" / settings.neo4j_database
            _report(database, chosen, now, store if store.is_dir() else None, as_json=as_json)
            return
        _roll_up(database, retention.Horizon(chosen, now), dry_run=dry_run, as_json=as_json)


def _roll_up(database: Database, horizon: Horizon, *, dry_run: bool, as_json: bool) -> None:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    from headwater.cli import render
    from headwater.pipelines.rollup import roll_up

    stop = threading.Event()
    set_on_signal(stop)
    columns = (TextColumn("{task.description}, runs: {task.completed:,.0f}"), TimeElapsedColumn())
    with Progress(
        *columns, console=Console(stderr=True), disable=as_json or not sys.stderr.isatty()
    ) as bar:
        tasks = {what: bar.add_task(what, total=None) for what in ("walking", "summarising")}
        done = roll_up(
            database,
            horizon,
            dry_run=dry_run,
            progress=lambda what, count: bar.advance(tasks[what], count),
            stopped=stop.is_set,
        )
    if as_json:
        summary = {
            "old": done.old,
            "summarised": done.summarised,
            "protected": done.protected,
            "done": done.done,
        }
        print(json.dumps({**summary, "dryRun": dry_run}))
    else:
        would = "to be " if dry_run else ""
        print(
            f"{render.with_noun(done.old, 'run')} past their horizon: {done.summarised:,} "
            f"{would}summarised, "
            f"{done.remaining:,} kept ({done.protected:,} for an answer, a failure or the "
            f"newest data)"
        )
    if not done.done:
        print("headwater: interrupted; run the same command to continue", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _report(
    database: Database, rules: Rules, now: int, store: Path | None, *, as_json: bool
) -> None:
    from headwater.pipelines.retention_cost import measure_cost

    found = measure_cost(database, rules, now=now, store=store)
    if as_json:
        print(json.dumps(found.as_json()))
        return
    _print_sizes(found)
    _print_savings(found)


def _print_sizes(found: GraphCost) -> None:
    from rich.table import Table

    from headwater.cli import render

    table = Table(
        "label",
        "nodes",
        "edges",
        "bytes",
        "bytes per million events",
        title=render.with_noun(found.events, "event"),
    )
    for label, size in sorted(found.sizes.items(), key=lambda pair: -pair[1].bytes):
        table.add_row(
            label,
            f"{size.nodes:,}",
            f"{size.edges:,}",
            f"{size.bytes:,}",
            _number(found, size.bytes),
        )
    render.console().print(table)
    if found.files:
        total = sum(found.files.values())
        print(
            f"the store on this disk: {render.with_noun(total, 'byte')}, "
            f"{_number(found, total)} per million events"
        )


def _number(found: GraphCost, amount: int) -> str:
    each = found.per_million(amount)
    return "-" if each is None else f"{each:,}"


def _print_savings(found: GraphCost) -> None:
    from rich.table import Table

    from headwater.cli import render

    table = Table("days", "sample", "runs", "versions", "bytes", title="possible savings now")
    for one in found.savings:
        table.add_row(
            str(one.days),
            f"{one.sample:.0%}",
            f"{one.runs:,}",
            f"{one.versions:,}",
            f"{one.bytes:,}",
        )
    render.console().print(table)
