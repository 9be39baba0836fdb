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
    at, behind = decode_time_cursor(after) if after else (_LATEST, "")
    sees = view.visibility.regexes
    rows = view.read(query, urns=list(urns), at=at, behind=behind, sees=sees, limit=first + 1)
    return {row["urn"]: _page(row["listed"], first) for row in rows}


def _page(listed: list[dict[str, object]], first: int) -> Page[str]:
    shown = [(str(one["urn"]), one["at"]) for one in listed[:first]]
    cursors = [encode_time_cursor(at, urn) for urn, at in shown if isinstance(at, datetime)]
    return Page([urn for urn, _ in shown], cursors, len(listed) > first)
