"""The commands `pipeline backfill` and `pipeline archive`: history into the graph, and the spool into history."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Annotated

import msgspec
import typer

from headwater.cli.options import Home, Json, connect, settings_of, with_local_neo4j
from headwater.errors import EventError


def backfill(
    paths: Annotated[list[str], typer.Argument(help="Folders, files or globs; s3a:// too, and what else Spark reads.")],
    home: Home = None,
    dead: Annotated[
        str | None,
        typer.Option(help="Where events go that are none, with their reasons.  [default: `dead` in the home]"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fold an archive of events into the graph: JSON lines, also .gz, or Parquet with a column `body`.

    The graph is the one that the worker would have made. Whatever ended it, run it again: it goes on from there. With
    exit code 4 some events were refused; all others are in the graph.
    """
    from headwater.cli import show
    from headwater.cli.whole import progress_bar
    from headwater.pipelines.backfill import SETTINGS, backfill
    from headwater.pipelines.folding import rules_of
    from headwater.pipelines.session import spark_session

    settings = with_local_neo4j(settings_of(home))
    with (
        closing(connect(settings)) as database,
        progress_bar(quiet=as_json) as bar,
        spark_session("backfill", settings=SETTINGS) as spark,
    ):
        task = bar.add_task("starting", total=None)
        done = backfill(
            spark,
            database,
            paths,
            rules_of(settings),
            dead=dead or str(settings.home_path / "dead"),
            heard=lambda what, done, total: bar.update(task, description=what, completed=done, total=total or None),
        )
    if as_json:
        show.json_of(msgspec.structs.asdict(done))
    else:
        print(
            f"{done.folded} events folded, {done.duplicates} copies of them passed over: {done.facts} facts in "
            f"{done.transactions} transactions, in {done.seconds:.1f} s"
        )
    if done.refused or done.unwritable:
        print(f"headwater: {done.refused} events were refused; see {done.dead}", file=sys.stderr)
        raise typer.Exit(EventError.exit_code)


COMMANDS = {"backfill": backfill}
