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
from headwater.errors import HomeInUseError, NotFoundError, QueryError

if TYPE_CHECKING:
    from headwater.forgetting.forget import Request
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
        typer.Option("--without-lake", help="Leave out a lake that is in another store."),
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

    For example: headwater forget - --dry-run"""
    from headwater.forgetting.forget import Request

    settings = settings_of(home)
    if not settings.spool_path.is_file():
        raise NotFoundError(f"there is no spool {settings.spool_path}", hint="Check --home.")
    text = sys.stdin.readline().strip() if value == "-" else value
    request = Request(text, tuple(lake or ()), without_lake, not past_only)
    _refuse_used(settings)
    counts = _count(settings, request, as_json)
    if dry_run:
        _print(counts, {"dryRun": True, "counts": dict(counts)}, as_json)
        return
    if not yes:
        if as_json:
            raise QueryError("this rewrites the events and erases the graph", hint="Add --yes.")
        _print(counts, {}, as_json=False)
        typer.confirm("Replace it everywhere, and erase the graph?", abort=True)
    _forget(settings, request, counts, as_json)


def _forget(settings: Settings, request: Request, counts: Counter[str], as_json: bool) -> None:
    from headwater.forgetting.forget import forget, holds_events
    from headwater.ingest.receive.forgotten import mask_of

    database = _outer_graph(settings) if holds_events(counts) else None
    with steps_bar(quiet=as_json) as on_progress:
        if database is None:
            record = forget(settings, request, counts, None, on_progress)
        else:
            with closing(database):
                record = forget(settings, request, counts, database, on_progress)
    command = f"headwater rebuild --home {settings.home_path}" if holds_events(counts) else ""
    facts = {
        "hash": record.hash,
        "mask": mask_of(record.hash),
        "at": record.at,
        "by": record.by,
        "later": record.later,
        "counts": record.counts,
        "next": command,
    }
    _print(counts, facts, as_json)
    if not as_json:
        print(f"replaced by {mask_of(record.hash)}; the record is in {settings.forgotten_path}")
        if command:
            print(f"next: {command}")


def _refuse_used(settings: Settings) -> None:
    """Raise HomeInUseError if anything runs in the home."""
    from headwater.client.address import is_up
    from headwater.ingest.spool.copy import refuse_used
    from headwater.local.neo4j import LocalNeo4j

    refuse_used(settings.spool_path)
    if is_up(settings.home_path) or LocalNeo4j(settings.home_path).status().running:
        raise HomeInUseError(
            f"Headwater or its Neo4j runs in {settings.home_path}",
            hint="End it, and try again.",
        )


def _count(settings: Settings, request: Request, as_json: bool) -> Counter[str]:
    from headwater.forgetting.forget import count

    with steps_bar(quiet=as_json) as on_progress:
        return count(settings, request, on_progress)


def _outer_graph(settings: Settings) -> Any:
    """Return the graph that settings name outside of the home; None without one."""
    if "HEADWATER_NEO4J_URI" not in os.environ:
        return None
    return connect(settings)


def _print(counts: Counter[str], facts: dict[str, Any], as_json: bool) -> None:
    from headwater.cli import render

    if as_json:
        render.print_json(facts)
        return
    for name, number in sorted(counts.items()):
        print(f"{number:>8,}  {name}")
    if not counts:
        print("the value stands nowhere")


COMMANDS = {"forget": forget}
