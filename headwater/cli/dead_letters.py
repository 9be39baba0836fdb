"""Commands about events that could not be folded: `dead-letters list`, `skip` and `retry`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.administration import record
from headwater.cli.options import Home, Json, settings_of
from headwater.errors import NotFoundError, QueryError

if TYPE_CHECKING:
    from headwater.ingest.spool.spool import Spool

HELP = "List the accepted events that could not be folded; skip them, or try again."
LISTED_MAX = 1_000
_SHOWN_CHARACTERS = 200
_RECORDED_MAX = 1_000
# SQLite has no greater number.
SEQ_MAX = 2**63 - 1

Seqs = Annotated[
    list[int] | None,
    typer.Argument(
        help="Sequence numbers of events, as `list` shows them.",
        show_default=False,
        max=SEQ_MAX,
    ),
]
All = Annotated[bool, typer.Option("--all", help="All dead letters that are not skipped.")]


@contextmanager
def _spool(home: str | None) -> Iterator[Spool]:
    from headwater.ingest.spool.spool import Spool

    settings = settings_of(home)
    if not settings.spool_path.is_file():
        raise NotFoundError(f"there is no spool at {settings.spool_path}", hint="Check --home.")
    with closing(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)) as spool:
        yield spool


def list_letters(
    home: Home = None,
    skipped: Annotated[bool, typer.Option("--skipped", help="Also those that were skipped.")] = (
        False
    ),
    as_json: Json = False,
) -> None:
    """List accepted events that could not be folded, the newest first, with their reasons.

    For example: headwater dead-letters list --json"""
    from headwater.cli import render
    from headwater.schema.events import to_datetime

    with _spool(home) as spool:
        found = [one for one in spool.dead_letters(limit=LISTED_MAX) if skipped or not one.skipped]
    if as_json:
        rows = [
            {
                "seq": one.seq,
                "reason": one.reason,
                "at": to_datetime(one.at).isoformat(),
                "skipped": one.skipped,
                "event": one.body,
            }
            for one in found
        ]
        render.print_json(rows)
        return
    for one in found:
        print(f"{one.seq}  {one.reason}")
        if one.body:
            print(f"    {one.body[:_SHOWN_CHARACTERS]}")
    print(f"{render.with_noun(len(found), 'event')} dead-lettered")
    if found:
        print("headwater dead-letters retry --all   tries them again")


def skip(seqs: Seqs = None, every: All = False, home: Home = None, as_json: Json = False) -> None:
    """Leave events out of the graph: dead letters, or events that still wait.

    A skipped event stays in the spool. It is not listed any longer, and it is left out when the
    graph is built again.

    For example: headwater dead-letters skip 4711"""
    from headwater.cli import render

    with _spool(home) as spool:
        chosen = _chosen(spool, seqs, every)
        last = spool.last()
        if unknown := [seq for seq in chosen if not 1 <= seq <= last]:
            raise NotFoundError(f"the spool has no event {unknown[0]}; its last is {last}")
        spool.skip(chosen)
    _record(home, "dead-letters skip", chosen)
    if as_json:
        render.print_json({"skipped": chosen})
        return
    print(f"{render.with_noun(len(chosen), 'event')} skipped")


def retry(seqs: Seqs = None, every: All = False, home: Home = None, as_json: Json = False) -> None:
    """Let the worker try dead letters again. Each is appended to the spool with its first time of
    receipt.

    An event that took too long needs more time than before: HEADWATER_SLOW_EVENT_SECONDS.

    For example: headwater dead-letters retry --all"""
    from headwater.cli import render

    with _spool(home) as spool:
        chosen = _chosen(spool, seqs, every)
        retried = spool.retry(chosen)
    _record(home, "dead-letters retry", retried)
    left = [seq for seq in chosen if seq not in retried]
    if as_json:
        render.print_json({"retried": retried, "left": left})
    else:
        print(f"{render.with_noun(len(retried), 'event')} sent again")
    if left:
        raise NotFoundError(
            f"event {left[0]} is no dead letter, or its bytes are damaged",
            hint="See `headwater dead-letters list --skipped` and `headwater spool check`.",
        )


def _chosen(spool: Spool, seqs: list[int] | None, every: bool) -> list[int]:
    """Return the chosen events in order of arrival."""
    if bool(seqs) == every:
        raise QueryError("which events?", hint="Name their sequence numbers, or write --all.")
    if seqs:
        return sorted(set(seqs))
    return sorted(one.seq for one in spool.dead_letters(limit=-1) if not one.skipped)


def _record(home: str | None, action: str, seqs: list[int]) -> None:
    record(settings_of(home), action, events=len(seqs), seqs=seqs[:_RECORDED_MAX])


COMMANDS: dict[str, Callable[..., None]] = {"list": list_letters, "skip": skip, "retry": retry}
