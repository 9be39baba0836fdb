"""The columns with a tag, page by page and counted."""

from __future__ import annotations

from headwater.cypher.driver.database import Row
from headwater.lineage.list_pages import namespace_range, read_name_page
from headwater.lineage.pagination import FIRST_PAGE, Page, PageRequest
from headwater.lineage.view import GraphView


def columns(
    view: GraphView, tag: str, *, namespace: str = "", page: PageRequest = FIRST_PAGE
) -> Page[Row]:
    """Return a page of the visible columns with a tag, by dataset; `tag` is `key=value` or `key`.

    Each entry has the properties of the column. Raises QueryError for a malformed cursor.
    """
    found = read_name_page(
        view,
        "read/lists/columns",
        page,
        namespace=namespace,
        tag=tag,
        visible=view.visibility.regexes,
    )
    return found.map(lambda row: dict(row["properties"]))


def count_columns(view: GraphView, tag: str, *, namespace: str = "") -> int:
    """Return the number of columns on all pages."""
    [row] = view.read(
        "read/lists/columns_count",
        **namespace_range(namespace),
        tag=tag,
        visible=view.visibility.regexes,
    )
    return int(row["count"])
