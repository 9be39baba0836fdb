"""What hangs on a node and only grows, newest first, in pages: versions and answers of a dataset, runs of a job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from headwater.lineage.pagination import Page, read_moment, write_moment
from headwater.lineage.view import GraphView

# What has no time yet is newer than what has one.
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)


def newest(
    view: GraphView, name: str, urns: Sequence[str], *, first: int, after: str | None = None
) -> dict[str, Page[str]]:
    """A page for each of these nodes, by urn: the urns that the query of that name lists for it.

    Raises QueryError for a bad cursor.
    """
    at, behind = read_moment(after) if after else (_LATEST, "")
    sees = view.visibility.regexes
    rows = view.read(name, urns=list(urns), at=at, behind=behind, sees=sees, limit=first + 1)
    return {row["urn"]: _page(row["listed"], first) for row in rows}


def _page(listed: list[dict[str, object]], first: int) -> Page[str]:
    shown = [(str(one["urn"]), one["at"]) for one in listed[:first]]
    cursors = [write_moment(at, urn) for urn, at in shown if isinstance(at, datetime)]
    return Page([urn for urn, _ in shown], cursors, len(listed) > first)
