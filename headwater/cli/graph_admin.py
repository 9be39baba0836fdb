"""The command `rebuild`."""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack, closing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.administration import record
from headwater.cli.backend.home import names_neo4j
from headwater.cli.options import Home, Json, connect, settings_of, with_local_neo4j
from headwater.cli.serve import set_on_signal
from headwater.errors import NotFoundError, QueryError

if TYPE_CHECKING:
    from rich.progress import Progress

    from headwater.cypher.driver.database import Database
    from headwater.ingest.spool.spool import Spool
    from headwater.ingest.worker import Worker
    from headwater.settings import Settings

INTERRUPTED = 130
HOLDER = "rebuild"


def rebuild(
    home: Home = None,
    neo4j_uri: Annotated[
        str | None, typer.Option(help="A Neo4j other than that of the settings.", metavar="URI")
    ] = None,
    erase: Annotated[
        bool, typer.Option("--erase", help="Erase the graph first, if it is not empty.")
    ] = False,
    remove_data: Annotated[
        bool,
        typer.Option(
            "--remove-data",
            help="Move the data of the home's stopped Neo4j away first, because it is damaged.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Erase or move without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Build the graph again from every event of the spool, dead letters included, and from the
    lake.

    The lake is needed if the spool was cut (`pipeline archive --cut`). End the worker first, so the
    two do not take turns; with a running worker nothing is folded twice or lost either. Events may
    arrive meanwhile. After Ctrl-C, `headwater worker` continues from the checkpoint; an interrupted
    erase must be repeated.

    The Neo4j of the home is started for this command if it does not run and the settings name no
    other. With --remove-data, a running `headwater up` starts Neo4j again and builds the graph.
    """
    settings = settings_of(home, neo4j_uri=neo4j_uri)
    if not settings.spool_path.is_file():
        raise NotFoundError(
            f"there is no spool {settings.spool_path}", hint="Name its folder with --home."
        )
    with ExitStack() as server:
        if remove_data:
            if neo4j_uri or erase:
                raise QueryError(
                    "--remove-data excludes --erase and --neo4j-uri",
                    hint="It is for the stopped Neo4j of the home alone.",
                )
            from headwater.cli.damaged_data import remove_damaged_data

            if not remove_damaged_data(settings, yes=yes, as_json=as_json):
                return
        if not neo4j_uri and (remove_data or not names_neo4j(settings)):
            from headwater.cli.stack import local_neo4j

            server.enter_context(local_neo4j(settings, 0))
        settings = settings if neo4j_uri else with_local_neo4j(settings)
        _rebuild(settings, erase=erase, yes=yes, as_json=as_json)


def _rebuild(settings: Settings, *, erase: bool, yes: bool, as_json: bool) -> None:
    from headwater.ingest.spool.spool import Spool

    with (
        closing(connect(settings)) as database,
        closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool,
        progress_bar(quiet=as_json, rate=True) as bar,
    ):
        cut_events_lake = _lake_of_cut_events(spool)
        record(settings, "rebuild", "started", graph=database.uri, erase=erase)
        _prepare_graph(database, bar, erase=erase, yes=yes)
        if cut_events_lake is not None:
            _fold_lake(settings, database, cut_events_lake, bar)
            _return_to_own_events(database, spool)
        _fold(settings, database, spool, bar, as_json=as_json)


def _prepare_graph(database: Database, bar: Progress, *, erase: bool, yes: bool) -> None:
    """Prepare an empty graph without a checkpoint. Raise QueryError if it is not empty and may not
    be erased.
    """
    from headwater.cypher.maintenance import erase as graph_erase
    from headwater.cypher.migrate import migrate

    migrate(database)
    if graph_erase.reset_if_empty(database, holder=HOLDER):
        return
    if not erase:
        raise QueryError(
            f"the graph in {database.uri} is not empty",
            hint="Erase it first with --erase.",
        )
    if sys.stdin.isatty() and not yes:
        bar.stop()
        typer.confirm(
            f"Erase everything in {database.uri}, including the events of other spools?",
            abort=True,
            err=True,
        )
        bar.start()
    task = bar.add_task("erasing", total=None)
    graph_erase.erase(database, holder=HOLDER, on_piece=lambda piece: bar.advance(task, piece))
    bar.remove_task(task)


def _lake_of_cut_events(spool: Spool) -> str | None:
    """Return the lake with the events that were cut, or None. Raise QueryError if the lake lacks
    some.
    """
    count, address = spool.cut_events()
    if not count:
        return None
    hint = "Restore the lake first; without it the graph cannot be rebuilt."
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise QueryError(
            f"events 1 to {count} are in the lake {address}, and Spark is needed to read it",
            hint="pip install 'headwater[pipelines]'",
        )
    from headwater.pipelines.lake import Lake

    found = Lake(address).archived(spool.id)
    if found < count:
        raise QueryError(
            (
                f"events {found + 1} to {count} were cut from the spool and are missing in the "
                f"lake {address}"
            ),
            hint=hint,
        )
    return address


def _fold_lake(settings: Settings, database: Database, lake: str, bar: Progress) -> None:
    """Fold the events of the lake; the worker then continues behind them."""
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


def _return_to_own_events(database: Database, spool: Spool) -> None:
    """Let the worker fold all events of the spool if the lake holds other ones in their place."""
    from headwater.ingest.continuity import (
        DiscontinuityError,
        check_continuity,
        reset_checkpoint,
    )
    from headwater.ingest.write.transaction import read_checkpoint

    try:
        check_continuity(spool, read_checkpoint(database, spool.id))
    except DiscontinuityError:
        reset_checkpoint(database, spool)


def _fold(
    settings: Settings, database: Database, spool: Spool, bar: Progress, *, as_json: bool
) -> None:
    from headwater.cli import render
    from headwater.ingest.write.transaction import read_checkpoint

    began = time.monotonic()
    # Events may arrive meanwhile: the worker folds them too, but the rebuild is done without them.
    target = spool.last()
    worker = _worker(settings, database, spool, bar, target)
    set_on_signal(worker.stop)
    worker.run(until_done=True)
    seconds = time.monotonic() - began
    done = read_checkpoint(database, spool.id)
    is_complete = done.position >= target
    bar.stop()
    if as_json:
        summary = {
            "folded": done.folded,
            "dead": done.dead,
            "seconds": round(seconds, 3),
            "done": is_complete,
        }
        print(json.dumps(summary))
    else:
        rate = done.position / max(seconds, 0.001)
        folded = render.with_noun(done.folded, "event")
        print(
            f"{folded} folded, {done.dead:,} dead-lettered, in {seconds:.1f} s ({rate:,.0f} "
            f"a second)"
        )
    if not is_complete:
        print("headwater: interrupted; `headwater worker` continues from here", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _worker(
    settings: Settings, database: Database, spool: Spool, bar: Progress, target: int
) -> Worker:
    from headwater.ingest.time_limits import TimeLimits
    from headwater.ingest.worker import Worker
    from headwater.schema.naming import load_naming

    task = bar.add_task("folding", total=target)
    return Worker(
        database,
        spool,
        events_max=settings.fold_events_max,
        naming=load_naming(settings.naming_path),
        limits=TimeLimits(settings.future_seconds),
        on_commit=lambda folded: bar.advance(task, len(folded.received)),
    )


def progress_bar(*, quiet: bool, rate: bool = False) -> Progress:
    """Return a progress bar on standard error; it is silent without a terminal."""
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


COMMANDS = {"rebuild": rebuild}
