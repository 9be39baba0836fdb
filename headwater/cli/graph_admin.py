"""Commands about the whole graph: `export`, `rebuild`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from headwater.cli.options import Home, Json, connect, graph, settings_of, with_local_neo4j
from headwater.cli.serve import set_when_told_to_end
from headwater.errors import NotFoundError, QueryError

if TYPE_CHECKING:
    from rich.progress import Progress

    from headwater.cypher.driver.database import Database
    from headwater.ingest.spool.spool import Spool
    from headwater.ingest.worker import Worker
    from headwater.settings import Settings

INTERRUPTED = 130
HOLDER = "rebuild"


def export(
    home: Home = None,
    canonical: Annotated[
        bool,
        typer.Option(
            "--canonical",
            help="Only what the events say: two graphs are the same exactly when this is byte for byte the same.",
        ),
    ] = False,
    output: Annotated[
        str | None, typer.Option(help="Write to this file.", show_default="stdout", metavar="FILE")
    ] = None,
) -> None:
    """Print the whole graph as JSON lines: every node by label and urn, then every edge by source, type and target.

    Read page by page, so of any size; export when nothing is folded, or be told that the graph changed meanwhile.
    """
    from headwater.cypher.maintenance import export as graph_export

    with closing(graph(home)) as database, _written(output) as out:
        counts = graph_export.count(database)
        before = graph_export.checkpoints(database)
        with progress_bar(quiet=output is None and sys.stdout.isatty()) as bar:
            task = bar.add_task(
                "exporting", total=sum(size.nodes + size.edges for size in counts.values())
            )
            for line in graph_export.as_lines(
                graph_export.export(database, canonical=canonical, counts=counts)
            ):
                out.write(line.encode() + b"\n")
                bar.advance(task)
        if graph_export.checkpoints(database) != before:
            print(
                "headwater: events were folded meanwhile; this is the graph of no single instant",
                file=sys.stderr,
            )


@contextmanager
def _written(output: str | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that is there only when it is whole."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = Path(f"{output}.part")
    try:
        with part.open("wb") as stream:
            yield stream
        os.replace(part, output)
    except OSError as error:
        raise QueryError(f"--output {output}: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def rebuild(
    home: Home = None,
    neo4j_uri: Annotated[
        str | None, typer.Option(help="Another Neo4j than that of the settings.", metavar="URI")
    ] = None,
    erase: Annotated[
        bool, typer.Option("--erase", help="Erase the graph first, if it is not empty.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before erasing.")] = False,
    as_json: Json = False,
) -> None:
    """Make the graph anew from every event of the spool, also from those that were set aside; and from the lake, where
    the spool was cut (`pipeline archive --cut`).

    End the worker first, so that the two do not take turns; nothing is folded twice or lost if you forget: every batch
    takes the graph's write lock and moves the checkpoint. Events may come in meanwhile. After Ctrl-C `headwater worker`
    goes on from the checkpoint; an erasing that was interrupted must be done again.
    """
    from headwater.ingest.spool.spool import Spool

    settings = settings_of(home, neo4j_uri=neo4j_uri)
    if not settings.spool_path.is_file():
        raise NotFoundError(
            f"there is no spool {settings.spool_path}", hint="--home names the folder it is in."
        )
    settings = settings if neo4j_uri else with_local_neo4j(settings)
    with (
        closing(connect(settings)) as database,
        closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool,
        progress_bar(quiet=as_json, rate=True) as bar,
    ):
        gone = _in_the_lake(spool)
        _make_room(database, bar, erase=erase, yes=yes)
        if gone is not None:
            _from_lake(settings, database, gone, bar)
        _fold(settings, database, spool, bar, as_json=as_json)


def _make_room(database: Database, bar: Progress, *, erase: bool, yes: bool) -> None:
    """An empty graph without a checkpoint. Raises QueryError when it is not empty and may not be erased."""
    from headwater.cypher.maintenance import erase as graph_erase
    from headwater.cypher.migrate import migrate

    migrate(database)
    if graph_erase.is_empty(database):
        graph_erase.forget_checkpoints(database, holder=HOLDER)
        return
    if not erase:
        raise QueryError(
            f"the graph in {database.uri} is not empty",
            hint="--erase takes out everything in it first.",
        )
    if sys.stdin.isatty() and not yes:
        bar.stop()
        typer.confirm(
            f"Erase everything in {database.uri}, also what other spools told it?",
            abort=True,
            err=True,
        )
        bar.start()
    task = bar.add_task("erasing", total=None)
    graph_erase.erase(database, holder=HOLDER, erased=lambda piece: bar.advance(task, piece))
    bar.remove_task(task)


def _in_the_lake(spool: Spool) -> str | None:
    """The lake that has what was cut from the spool, None when nothing was. Raises QueryError when it has not."""
    gone, address = spool.cut_events()
    if not gone:
        return None
    hint = "Put it back, or the graph cannot be made anew; erase nothing before."
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise QueryError(
            f"events 1 to {gone} are in the lake {address}, which Spark reads",
            hint="pip install 'headwater[pipelines]'",
        )
    from headwater.pipelines.lake import Lake

    found = Lake(address).archived(spool.id)
    if found < gone:
        raise QueryError(
            f"events {found + 1} to {gone} were cut, and are not in the lake {address}", hint=hint
        )
    return address


def _from_lake(settings: Settings, database: Database, lake: str, bar: Progress) -> None:
    """Fold what the lake has; the worker then goes on behind it."""
    from headwater.pipelines.backfill import SETTINGS, backfill
    from headwater.pipelines.fold_partition import read_rules
    from headwater.pipelines.session import spark_session

    task = bar.add_task("starting Spark", total=None)
    with spark_session("rebuild", settings=SETTINGS) as spark:
        backfill(
            spark,
            database,
            [lake],
            read_rules(settings),
            dead=str(settings.home_path / "dead"),
            on_progress=lambda what, done, total: bar.update(
                task, description=f"the lake: {what}", completed=done, total=total or None
            ),
        )
    bar.remove_task(task)


def _fold(
    settings: Settings, database: Database, spool: Spool, bar: Progress, *, as_json: bool
) -> None:
    from headwater.cli import render as show
    from headwater.ingest.write.transaction import read_checkpoint

    began = time.monotonic()
    worker = _worker(settings, database, spool, bar)
    set_when_told_to_end(worker.stop)
    worker.run(until_done=True)
    seconds = time.monotonic() - began
    done = read_checkpoint(database, spool.id)
    whole = done.position >= spool.last()
    bar.stop()
    if as_json:
        said = {
            "folded": done.folded,
            "dead": done.dead,
            "seconds": round(seconds, 3),
            "done": whole,
        }
        print(json.dumps(said))
    else:
        rate = done.position / max(seconds, 0.001)
        folded = show.counted(done.folded, "event")
        print(
            f"{folded} folded, {done.dead:,} set aside, in {seconds:.1f} s ({rate:,.0f} a second)"
        )
    if not whole:
        print("headwater: interrupted; `headwater worker` goes on from here", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _worker(settings: Settings, database: Database, spool: Spool, bar: Progress) -> Worker:
    from headwater.ingest.worker import Worker
    from headwater.schema.naming import load_naming

    task = bar.add_task("folding", total=spool.last())
    return Worker(
        database,
        spool,
        events_max=settings.fold_events_max,
        naming=load_naming(settings.naming_path),
        future_seconds=settings.future_seconds,
        on_commit=lambda folded: bar.advance(task, len(folded.received)),
    )


def progress_bar(*, quiet: bool, rate: bool = False) -> Progress:
    """How far something is, on the standard error, if a person looks at it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    ]
    if rate:
        columns.append(TaskProgressColumn(show_speed=True, text_format=""))
    return Progress(
        *columns, console=Console(stderr=True), disable=quiet or not sys.stderr.isatty()
    )


COMMANDS = {"export": export, "rebuild": rebuild}
