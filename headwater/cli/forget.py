"""The command `forget`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.backups import steps_bar
from headwater.cli.options import Home, Json, connect, settings_of
from headwater.cli.up_lock import home_without_servers
from headwater.errors import NotFoundError, QueryError

if TYPE_CHECKING:
    from headwater.forgetting.forget import Request, Search
    from headwater.settings import Settings


def forget(
    value: Annotated[
        str,
        typer.Argument(
            help="An e-mail address, a user name or another text; - reads it from standard input, "
            "so that the history of the shell does not have it."
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count the places in which the value stands.")
    ] = False,
    past_only: Annotated[
        bool, typer.Option("--past-only", help="Accept the value in later events.")
    ] = False,
    lake: Annotated[
        list[str] | None,
        typer.Option(help="A lake of copies that were not cut; repeatable.", metavar="DIR"),
    ] = None,
    without_lake: Annotated[
        bool,
        typer.Option("--without-lake", help="Leave out lakes that --lake does not name."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Replace a value by a keyed hash in every store: events, dead letters, lake, access log,
    evidence packs, logs and other files of the home. The graph is erased, to be built again.

    A value is found by its words, in upper or lower case: ann@example.com also as
    ANN%40example.com, and not in joann@example.com. Nothing may run in the home. A record stays
    that has no value: its keyed hash, the time, the user, and the numbers of places. Events that
    arrive later are searched for it too. Backups are not changed: write a new one and remove the
    old ones.

    Exit code 1: a file could not be searched or rewritten; the output names it, and everything else
    is rewritten.

    For example: headwater forget - --dry-run"""
    from headwater.forgetting.forget import Request
    from headwater.ingest.spool.copy import refuse_used

    settings = settings_of(home)
    if not settings.spool_path.is_file():
        raise NotFoundError(f"there is no spool {settings.spool_path}", hint="Check --home.")
    text = sys.stdin.readline().strip() if value == "-" else value
    request = Request(text, tuple(lake or ()), without_lake, not past_only)
    with home_without_servers(settings.home_path, "forget"):
        refuse_used(settings.spool_path)
        search = _count(settings, request, as_json)
        if dry_run:
            _print(search, {"dryRun": True, "counts": dict(search.counts)}, as_json)
        else:
            _confirm(search, yes, as_json)
            search = _forget(settings, request, search.counts, as_json)
    if search.problems:
        raise typer.Exit(1)


def _forget(settings: Settings, request: Request, counts: Counter[str], as_json: bool) -> Search:
    """Forget the value and print the record; return the paths that were not rewritten."""
    from headwater.forgetting.forget import forget
    from headwater.ingest.receive.forgotten import mask_of

    database = _outer_graph(settings) if counts else None
    with steps_bar(quiet=as_json) as on_progress:
        if database is None:
            record, search = forget(settings, request, counts, None, on_progress)
        else:
            with closing(database):
                record, search = forget(settings, request, counts, database, on_progress)
    command = f"headwater rebuild --home {settings.home_path}" if counts else ""
    facts = {
        "hash": record.hash,
        "mask": mask_of(record.hash),
        "at": record.at,
        "by": record.by,
        "later": record.later,
        "counts": record.counts,
        "next": command,
    }
    search.counts = counts
    _print(search, facts, as_json)
    if not as_json:
        print(f"replaced by {mask_of(record.hash)}; the record is in {settings.forgotten_path}")
        if command:
            print(f"next: {command}")
    return search


def _confirm(search: Search, yes: bool, as_json: bool) -> None:
    """Ask the user, unless --yes is given."""
    if yes:
        return
    if as_json:
        raise QueryError("this rewrites the events and erases the graph", hint="Add --yes.")
    _print(search, {}, as_json=False)
    typer.confirm("Replace it everywhere, and erase the graph?", abort=True)


def _count(settings: Settings, request: Request, as_json: bool) -> Search:
    from headwater.forgetting.forget import count

    with steps_bar(quiet=as_json) as on_progress:
        return count(settings, request, on_progress)


def _outer_graph(settings: Settings) -> Any:
    """Return the graph that settings name outside of the home; None without one."""
    if "HEADWATER_NEO4J_URI" not in os.environ:
        return None
    return connect(settings)


def _print(search: Search, facts: dict[str, Any], as_json: bool) -> None:
    from headwater.cli import render

    if as_json:
        problems = [
            {"path": str(path), "problem": reason}
            for path, reason in sorted(search.problems.items())
        ]
        render.print_json({**facts, "problems": problems})
        return
    for name, number in sorted(search.counts.items()):
        print(f"{number:>8,}  {name}")
    for path, reason in sorted(search.problems.items()):
        print(f"not rewritten: {path}: {reason}", file=sys.stderr)
    if not search.counts and not search.problems:
        print("no place that was searched has the value")


COMMANDS = {"forget": forget}
