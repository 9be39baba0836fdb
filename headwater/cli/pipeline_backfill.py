"""The commands `pipeline backfill` and `pipeline archive`: history into the graph, and the spool into history."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from headwater.cli.options import Home, Json, connect, settings_of, with_local_neo4j
from headwater.errors import EventError, NotFoundError

if TYPE_CHECKING:
    from headwater.settings import Settings


def backfill(
    paths: Annotated[
        list[str],
        typer.Argument(help="Folders, files or globs; s3a:// too, and what else Spark reads."),
    ],
    home: Home = None,
    dead: Annotated[
        str | None,
        typer.Option(
            help="Where events go that are none, with their reasons.",
            show_default="`dead` in the home",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fold an archive of events into the graph: JSON lines, also .gz, or Parquet with a column `body`.

    The graph is the one that the worker would have made. Whatever ended it, run it again: it goes on from there. With
    exit code 4 some events were refused; all others are in the graph.
    """
    from headwater.cli import render as show
    from headwater.cli.graph_admin import progress_bar
    from headwater.cypher.migrate import migrate
    from headwater.pipelines.backfill import SETTINGS, backfill
    from headwater.pipelines.fold_partition import read_rules
    from headwater.pipelines.session import spark_session

    settings = with_local_neo4j(settings_of(home))
    with closing(connect(settings)) as database, progress_bar(quiet=as_json) as bar:
        task = bar.add_task("starting", total=None)
        # Whether Neo4j is there is known long before Spark has started.
        migrate(database)
        with spark_session("backfill", settings=SETTINGS) as spark:
            done = backfill(
                spark,
                database,
                paths,
                read_rules(settings),
                dead=dead or str(settings.home_path / "dead"),
                on_progress=lambda what, done, total: bar.update(
                    task, description=what, completed=done, total=total or None
                ),
            )
    if as_json:
        show.json_of(msgspec.structs.asdict(done))
    else:
        print(
            f"{show.counted(done.folded, 'event')} folded, "
            f"{show.counted(done.duplicates, 'copy', 'copies')} of them passed over: "
            f"{show.counted(done.facts, 'fact')} in {show.counted(done.transactions, 'transaction')}, "
            f"in {done.seconds:.1f} s"
        )
        if done.resumed:
            print(f"  {show.counted(done.resumed, 'fact')} there already, from an earlier try")
    if done.refused:
        print(
            f"headwater: {show.counted(done.refused, 'event')} refused; see {done.dead}",
            file=sys.stderr,
        )
    if done.unwritable:
        print(
            f"headwater: Neo4j did not take {show.counted(done.unwritable, 'fact')}, see above",
            file=sys.stderr,
        )
    if done.refused or done.unwritable:
        raise typer.Exit(EventError.exit_code)


def archive(
    lake: Annotated[
        str, typer.Argument(help="Folder of the lake; also s3://, gs://, abfs:// and hdfs://.")
    ],
    home: Home = None,
    cut: Annotated[
        bool,
        typer.Option(
            "--cut",
            help="Then remove from the spool what is in the lake and folded into the graph.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring what the spool has received since the last time into a lake of Parquet, by day and namespace.

    Run it as often as you like, on the machine of the spool; events may come in meanwhile, and nothing is in the lake
    twice whatever ended the last one. After --cut the lake is the only copy of what it has taken: keep it well, since
    the graph can be made anew only from both.
    """
    from headwater.cli import render as show
    from headwater.cli.graph_admin import progress_bar
    from headwater.ingest.spool.spool import Spool
    from headwater.pipelines import archive as pipeline
    from headwater.pipelines.lake import Lake
    from headwater.pipelines.session import spark_session

    settings = with_local_neo4j(settings_of(home))
    if not settings.spool_path.is_file():
        raise NotFoundError(
            f"there is no spool {settings.spool_path}", hint="--home names the folder it is in."
        )
    kept = Lake(lake)
    with (
        closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool,
        progress_bar(quiet=as_json) as bar,
    ):
        task = bar.add_task("starting", total=None)

        def on_progress(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        with spark_session("archive") as spark:
            done = pipeline.archive(spark, spool, kept, on_progress=on_progress)
        folded = 0
        if cut:
            folded = _folded(settings, spool.id)
            done.cut = pipeline.cut(spool, kept, folded, on_progress=on_progress)
            done.spool_bytes = settings.spool_path.stat().st_size
    if as_json:
        show.json_of(msgspec.structs.asdict(done))
    else:
        print(
            f"{show.counted(done.events, 'event')} into the lake, in {show.counted(done.files, 'file')} of "
            f"{show.bytes_of(done.bytes)}"
        )
        if cut:
            print(
                f"{show.counted(done.cut, 'event')} cut from the spool, which has {show.bytes_of(done.spool_bytes)} now"
            )
            _say_what_stays(done.archived - folded)


def _say_what_stays(waiting: int) -> None:
    """Why there is still something in the spool after a cut."""
    if waiting > 0:
        print(
            f"  it keeps {waiting:,} of the lake that are not yet folded: cut again when the worker is through"
        )
    else:
        print("  it keeps its newest event, by which it counts, and what was set aside")


def _folded(settings: Settings, spool: str) -> int:
    """Up to which seq the graph says that it has everything of a spool."""
    from headwater.ingest.write.transaction import read_checkpoint

    with closing(connect(settings)) as database:
        return read_checkpoint(database, spool).whole


COMMANDS: dict[str, Callable[..., None]] = {"backfill": backfill, "archive": archive}
