"""All jobs of the graph, page by page and counted."""

from __future__ import annotations

from headwater.cypher.driver.database import Row
from headwater.lineage.list_pages import (
    EVERY_NODE,
    CatalogFilter,
    CatalogOrder,
    CatalogStatements,
    read_catalog_count,
    read_catalog_page,
)
from headwater.lineage.pagination import FIRST_PAGE, Page, PageRequest
from headwater.lineage.questions.runs import require_run_status
from headwater.lineage.view import GraphView

_STATEMENTS = CatalogStatements(
    by_name="read/lists/jobs_by_name",
    by_last_seen="read/lists/jobs_by_last_seen",
    total="read/lists/jobs_count",
)


def jobs(
    view: GraphView,
    *,
    filter: CatalogFilter = EVERY_NODE,
    status: str = "",
    page: PageRequest = FIRST_PAGE,
    order: CatalogOrder = CatalogOrder.NAME,
) -> Page[Row]:
    """Return a page of the visible jobs; each entry has the properties of the job.

    With `status`, only jobs whose newest visible run has this status are listed. Raises QueryError
    for an unknown status or a malformed cursor.
    """
    require_run_status(status)
    return read_catalog_page(view, _STATEMENTS, page, filter, order, status=status)


def count_jobs(view: GraphView, filter: CatalogFilter = EVERY_NODE, *, status: str = "") -> int:
    """Return the number of jobs on all pages."""
    require_run_status(status)
    return read_catalog_count(view, _STATEMENTS, filter, status=status)
