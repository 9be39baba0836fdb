"""The commands `pipeline backfill` and `pipeline archive`."""

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
    from headwater.ingest.spool.spool import Spool
    from headwater.settings import Settings


def backfill(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Folders, files or globs, in any file system of Spark, such as s3a://."
        ),
    ],
    home: Home = None,
    dead: Annotated[
        str | None,
        typer.Option(
            help="Folder for refused events, with their reasons.",
            show_default="`dead` in the home",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fold an archive of events into the graph: JSON lines, .gz too, or Parquet with a column
    `body`.

    The graph is the one that the worker would make. After an interruption run it again; it
    continues. Exit code 4 means that some events were refused; all others are in the graph.
    """
    from headwater.cli import render
    from headwater.cli.graph_admin import progress_bar
    from headwater.cypher.migrate import migrate
    from headwater.pipelines.backfill import SETTINGS, backfill
    from headwater.pipelines.fold_partition import read_rules
    from headwater.pipelines.session import spark_session

    settings = with_local_neo4j(settings_of(home))
    with closing(connect(settings)) as database, progress_bar(quiet=as_json) as bar:
        task = bar.add_task("starting", total=None)
        # An absent Neo4j shows here, long before Spark has started.
        migrate(database)
        with spark_session("backfill", settings=SETTINGS) as spark:
            done = backfill(
                spark,
                database,
                paths,
                read_rules(settings),
                dead=dead or str(settings.home_path / "dead"),
                on_progress=lambda stage, done, total: bar.update(
                    task, description=stage, completed=done, total=total or None
                ),
            )
    if as_json:
        render.print_json(msgspec.structs.asdict(done))
    else:
        print(
            f"{render.with_noun(done.folded, 'event')} folded, "
            f"{render.with_noun(done.duplicates, 'copy', 'copies')} skipped: "
            f"{render.with_noun(done.facts, 'fact')} in "
            f"{render.with_noun(done.transactions, 'transaction')}, "
            f"in {done.seconds:.1f} s"
        )
        if done.resumed:
            print(f"  {render.with_noun(done.resumed, 'fact')} written by an earlier run")
    if done.refused:
        print(
            f"headwater: {render.with_noun(done.refused, 'event')} refused; see {done.dead}",
            file=sys.stderr,
        )
    if done.unwritable:
        print(
            f"headwater: Neo4j refused {render.with_noun(done.unwritable, 'fact')}, see above",
            file=sys.stderr,
        )
    if done.refused or done.unwritable:
        raise typer.Exit(EventError.exit_code)


def archive(
    lake: Annotated[
        str, typer.Argument(help="Folder of the lake; s3://, gs://, abfs:// and hdfs:// too.")
    ],
    home: Home = None,
    cut: Annotated[
        bool,
        typer.Option(
            "--cut",
            help="Then remove events from the spool that are in the lake and in the graph.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Copy new events of the spool into a lake of Parquet, by day and namespace.

    Run it as often as you like, on the machine of the spool. Events may arrive meanwhile, and no
    event is in the lake twice. After --cut the lake holds the only copy of its events: back it up,
    because a rebuild needs both. A lake is refused if the spool is a restored backup from before
    it: name an empty folder then.
    """
    from headwater.cli import render
    from headwater.cli.graph_admin import progress_bar
    from headwater.ingest.spool.spool import Spool
    from headwater.pipelines import archive as pipeline
    from headwater.pipelines.lake import Lake
    from headwater.pipelines.session import spark_session

    settings = with_local_neo4j(settings_of(home))
    if not settings.spool_path.is_file():
        raise NotFoundError(
            f"there is no spool {settings.spool_path}", hint="Name its folder with --home."
        )
    target = Lake(lake)
    with (
        closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool,
        progress_bar(quiet=as_json) as bar,
    ):
        task = bar.add_task("starting", total=None)

        def on_progress(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total or None)

        with spark_session("archive") as spark:
            done = pipeline.archive(spark, spool, target, on_progress=on_progress)
        folded = 0
        if cut:
            folded = _complete_position(settings, spool)
            done.cut = pipeline.cut(spool, target, folded, on_progress=on_progress)
            done.spool_bytes = settings.spool_path.stat().st_size
    if as_json:
        render.print_json(msgspec.structs.asdict(done))
    else:
        print(
            f"{render.with_noun(done.events, 'event')} into the lake, in "
            f"{render.with_noun(done.files, 'file')} of "
            f"{render.bytes_of(done.bytes)}"
        )
        if cut:
            print(
                f"{render.with_noun(done.cut, 'event')} cut from the spool, which now has "
                f"{render.bytes_of(done.spool_bytes)}"
            )
            _print_remainder(done.archived - folded)


def _print_remainder(waiting: int) -> None:
    """Print why events remain in the spool after a cut."""
    if waiting > 0:
        print(
            f"  {waiting:,} archived events are not folded yet; cut again when the worker "
            f"has caught up"
        )
    else:
        print("  it keeps its newest events, by which it counts, and what was dead-lettered")


def _complete_position(settings: Settings, spool: Spool) -> int:
    """Return the seq up to which the graph holds every event of a spool.

    Raises DiscontinuityError if the graph holds other events in their place.
    """
    from headwater.ingest.continuity import check_continuity
    from headwater.ingest.write.transaction import read_checkpoint

    with closing(connect(settings)) as database:
        checkpoint = read_checkpoint(database, spool.id)
    check_continuity(spool, checkpoint)
    return checkpoint.complete_position


COMMANDS: dict[str, Callable[..., None]] = {"backfill": backfill, "archive": archive}
