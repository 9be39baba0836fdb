"""Pages of the run history of a node, newest first: versions and answers of a dataset, runs of a
job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from headwater.lineage.pagination import Page, decode_time_cursor, encode_time_cursor
from headwater.lineage.view import GraphView

# An entry without a time yet is newer than all others.
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)


def read_history_pages(
    view: GraphView, query: str, urns: Sequence[str], *, first: int, after: str | None = None
) -> dict[str, Page[str]]:
    """Read one page for each of these nodes, by urn: the urns that a query lists for it.

    Raises QueryError for a malformed cursor.
    """
    time, urn = decode_time_cursor(after) if after else (_LATEST, "")
    rows = view.read(
        query,
        urns=list(urns),
        cursorTime=time,
        cursorUrn=urn,
        visible=view.visibility.regexes,
        limit=first + 1,
    )
    return {row["urn"]: _page(row["listed"], first) for row in rows}


def _page(listed: list[dict[str, object]], first: int) -> Page[str]:
    shown = [(str(entry["urn"]), entry["at"]) for entry in listed[:first]]
    cursors = [encode_time_cursor(time, urn) for urn, time in shown if isinstance(time, datetime)]
    return Page([urn for urn, _ in shown], cursors, len(listed) > first)
