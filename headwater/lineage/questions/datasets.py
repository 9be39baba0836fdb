"""All datasets of the graph, page by page and counted."""

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
from headwater.lineage.view import GraphView

_STATEMENTS = CatalogStatements(
    by_name="read/lists/datasets_by_name",
    by_last_seen="read/lists/datasets_by_last_seen",
    total="read/lists/datasets_count",
)


def datasets(
    view: GraphView,
    *,
    filter: CatalogFilter = EVERY_NODE,
    page: PageRequest = FIRST_PAGE,
    order: CatalogOrder = CatalogOrder.NAME,
) -> Page[Row]:
    """Return a page of the visible datasets; each entry has the properties of the dataset.

    Raises QueryError for a malformed cursor.
    """
    return read_catalog_page(view, _STATEMENTS, page, filter, order)


def count_datasets(view: GraphView, filter: CatalogFilter = EVERY_NODE) -> int:
    """Return the number of datasets on all pages."""
    return read_catalog_count(view, _STATEMENTS, filter)
