"""Pages of the run history of a node, newest first: versions and answers of a dataset, runs of a
job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from headwater.lineage.list_pages import EARLIEST, directed
from headwater.lineage.pagination import Page, PageRequest, encode_time_cursor
from headwater.lineage.view import GraphView

# An entry without a time yet is newer than all others.
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)


def read_history_pages(
    view: GraphView, query: str, urns: Sequence[str], page: PageRequest
) -> dict[str, Page[str]]:
    """Read one page for each of these nodes, by urn: the urns that a query lists for it.

    Raises QueryError for a malformed cursor.
    """
    time, urn = page.decode_time() or (EARLIEST if page.is_backward else _LATEST, "")
    rows = view.read(
        directed(query, page.is_backward),
        urns=list(urns),
        cursorTime=time,
        cursorUrn=urn,
        visible=view.visibility.regexes,
        limit=page.limit,
    )
    return {row["urn"]: _page(page, row["listed"]) for row in rows}


def _page(page: PageRequest, listed: list[dict[str, Any]]) -> Page[str]:
    entries = page.page(listed, lambda entry: encode_time_cursor(entry["at"], entry["urn"]))
    return entries.map(lambda entry: str(entry["urn"]))
