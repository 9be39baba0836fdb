"""Versions of datasets whose schema differs from that of the version before, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.lineage.list_pages import EARLIEST, LATEST
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.pagination import Page, PageRequest, cut_page
from headwater.lineage.view import GraphView

CHANGES_MAX = 1_000


@dataclass(frozen=True)
class SchemaChange:
    """A version with another schema than the version before; `before` is a hash, as is `after`."""

    version: str
    dataset: str
    at: datetime
    differences: list[str]
    before: str | None
    after: str | None


@dataclass(frozen=True)
class SchemaChanges:
    """A page of changes, their number, and whether older ones were not read."""

    page: Page[SchemaChange]
    count: int
    truncated: bool


def schema_changes(
    view: GraphView,
    page: PageRequest,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    namespace: str = "",
) -> SchemaChanges:
    """Return a page of the changes between two instants; `until` is exclusive.

    Raises QueryError for a malformed cursor.
    """
    rows = view.read(
        "read/estate/schema_changes",
        since=since or EARLIEST,
        until=until or LATEST,
        namespace=namespace,
        visible=view.visibility.regexes,
        limit=CHANGES_MAX + 1,
    )
    shown = rows[:CHANGES_MAX]
    visible = set(select_visible(view, [row["urn"] for row in shown]))
    changes = [
        SchemaChange(
            version=row["urn"],
            dataset=row["dataset"],
            at=row["at"],
            differences=row["drift"],
            before=row["before"],
            after=row["after"],
        )
        for row in shown
        if row["urn"] in visible
    ]
    return SchemaChanges(
        page=cut_page(changes, _order, page, shape=(0.0, "")),
        count=len(changes),
        truncated=len(rows) > CHANGES_MAX,
    )


def _order(change: SchemaChange) -> tuple[float, str]:
    return -change.at.timestamp(), change.version
