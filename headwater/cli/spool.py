"""Commands about the spool, the durable log of accepted events: `spool check`, `spool salvage`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.administration import record
from headwater.cli.options import Home, Json, graph, settings_of
from headwater.errors import HeadwaterError, NewerVersionError, NotFoundError, QueryError

if TYPE_CHECKING:
    from headwater.ingest.spool.salvage import OnProgress, SpoolReport
    from headwater.settings import Settings

HELP = "Check the spool, which holds every accepted event, and repair it."
_RANGES_SHOWN_MAX = 20


def check(home: Home = None, as_json: Json = False) -> None:
    """Read every event of the spool, and compare its end with the graph.

    Exit code 0: the spool is whole. 1: something is damaged, the spool refuses all events, or it is
    older than the graph.
    The API and the worker may run. A spool or a graph of a newer Headwater is refused.

    For example: headwater spool check"""
    from headwater.cli import render
    from headwater.ingest.spool.salvage import check

    settings = settings_of(home)
    path = _spool_path(settings)
    with _progress("reading", quiet=as_json) as on_progress:
        report = check(path, on_progress)
    gap = _gap(settings, home)
    if as_json:
        render.print_json({"path": str(path), **_facts(report), **gap})
    else:
        _print(path, report, gap)
    if not report.is_whole or gap["discontinuity"]:
        raise typer.Exit(1)


def salvage(
    home: Home = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Rewrite a damaged spool from its readable events, and fold a spool again that is older than
    the graph.

    The damaged file stays beside the new one. Damaged events are dead letters; their producers can
    send them again. While it runs, nothing else writes the spool: producers get a 503 and send
    again later, and dead letters wait. Killed, it leaves the spool as it was. Nothing happens to a
    spool that is whole and fits the graph. A spool or a graph of a newer Headwater is refused.

    For example: headwater spool salvage --yes"""
    from headwater.cli import render
    from headwater.ingest.spool.salvage import check, salvage
    from headwater.local.signals import interrupt_on_signals

    interrupt_on_signals()
    settings = settings_of(home)
    path = _spool_path(settings)
    with _progress("reading", quiet=as_json) as on_progress:
        report = check(path, on_progress)
    gap = _gap(settings, home)
    if not as_json:
        _print(path, report, gap)
    is_needed = not report.is_whole or gap["discontinuity"]
    if is_needed and not yes:
        if as_json:
            raise QueryError("this changes the spool or the graph", hint="Add --yes.")
        typer.confirm("Repair it?", abort=True)
    kept: Path | None = None
    if not report.is_whole:
        with _progress("writing", quiet=as_json) as on_progress:
            kept = salvage(path, on_progress)
    folded_from = _reset_checkpoint(settings, home) if gap["discontinuity"] else None
    if is_needed:
        record(
            settings,
            "spool salvage",
            damaged=report.damaged_count,
            lost=report.lost,
            folded_from=folded_from,
        )
    if as_json:
        done = {"damagedCopy": kept and str(kept), "foldedAgainFrom": folded_from}
        render.print_json({"path": str(path), **_facts(report), **gap, **done})
        return
    if kept is not None:
        print(f"rewritten; the damaged file is {kept}")
    if folded_from is not None:
        print(f"the worker folds event {folded_from} and all later ones again")
    if not is_needed:
        print("nothing to repair")


def _spool_path(settings: Settings) -> Path:
    path = settings.spool_path
    if not path.is_file():
        raise NotFoundError(f"there is no spool at {path}", hint="Check --home.")
    return path


def _gap(settings: Settings, home: str | None) -> dict[str, Any]:
    """Return how the spool and the graph fit together, with None if the graph is away.

    Raises NewerVersionError.
    """
    from headwater.cypher.migrate import check_not_newer
    from headwater.ingest.continuity import DiscontinuityError, check_continuity
    from headwater.ingest.spool.spool import Spool
    from headwater.ingest.write.transaction import read_checkpoint

    found: dict[str, Any] = {"folded": None, "discontinuity": ""}
    try:
        with (
            closing(graph(home)) as database,
            closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool,
        ):
            check_not_newer(database)
            checkpoint = read_checkpoint(database, spool.id)
            found["folded"] = checkpoint.position
            check_continuity(spool, checkpoint)
    except DiscontinuityError as error:
        found["discontinuity"] = error.message
    except NewerVersionError:
        raise
    except HeadwaterError:
        pass
    return found


def _reset_checkpoint(settings: Settings, home: str | None) -> int:
    """Let the worker fold the events of the spool again; return the first of them."""
    from headwater.ingest.continuity import reset_checkpoint
    from headwater.ingest.spool.spool import Spool

    with (
        closing(graph(home)) as database,
        closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool,
    ):
        return reset_checkpoint(database, spool).position + 1


def _facts(report: SpoolReport) -> dict[str, Any]:
    return {
        "id": report.id,
        "version": report.version,
        "first": report.first,
        "last": report.last,
        "intact": report.intact,
        "damaged": [{"first": first, "last": last} for first, last in report.damaged],
        "lost": report.lost,
        "problems": report.problems,
        "refusesEvents": report.refuses_events,
        "whole": report.is_whole,
    }


def _print(path: Path, report: SpoolReport, gap: dict[str, Any]) -> None:
    from headwater.cli import render

    print(f"spool      {path}, version {report.version}, id {report.id}")
    print(f"intact     {render.with_noun(report.intact, 'event')}, the last is {report.last:,}")
    if report.damaged:
        ranges = [
            f"{first}-{last}" if last > first else str(first)
            for first, last in report.damaged[:_RANGES_SHOWN_MAX]
        ]
        more = len(report.damaged) - len(ranges)
        ranges += [f"and {more} more ranges"] if more else []
        count = render.with_noun(report.damaged_count, "event")
        print(f"damaged    {count}: {', '.join(ranges)}")
    if report.lost:
        print(f"lost       {render.with_noun(report.lost, 'damaged event')}")
    for problem in report.problems:
        print(f"structure  {problem}")
    if report.refuses_events:
        print("refused    all events: a killed salvage of an older version left its trigger")
    if gap["discontinuity"]:
        print(f"graph      {gap['discontinuity']}")
    elif gap["folded"] is None:
        print("graph      Neo4j does not answer, so its checkpoint was not compared")
    else:
        print(f"graph      has the events up to {gap['folded']:,}")


@contextmanager
def _progress(what: str, *, quiet: bool) -> Iterator[OnProgress]:
    from headwater.cli.graph_admin import progress_bar

    with progress_bar(quiet=quiet) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


COMMANDS: dict[str, Callable[..., None]] = {"check": check, "salvage": salvage}
