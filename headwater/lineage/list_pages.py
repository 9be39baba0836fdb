"""Pages of the lists of all runs, jobs, datasets and answers.

Each list has two statements: one reads it in its order, the other, with the suffix `_reversed`,
reads it from its end. The urn orders entries of the same time or name.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, NamedTuple

from headwater.cypher.driver.database import Row
from headwater.lineage.pagination import Page, PageRequest, encode_cursor, encode_time_cursor
from headwater.lineage.view import GraphView

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
# Greater than each name: the greatest code point.
LAST_NAME = "\U0010ffff"


class CatalogStatements(NamedTuple):
    """The statements of a list that has two orders, and the one that counts its entries."""

    by_name: str
    by_last_seen: str
    total: str


class CatalogOrder(Enum):
    """The order of a list of datasets or jobs."""

    NAME = "NAME"
    NEWEST = "NEWEST"
    OLDEST = "OLDEST"


@dataclass(frozen=True)
class CatalogFilter:
    """Conditions on datasets or jobs; an empty one matches everything.

    `since` and `until` (exclusive) bound the last observation. `tag` is `key=value` or `key`.
    """

    since: datetime | None = None
    until: datetime | None = None
    namespace: str = ""
    owner: str = ""
    tag: str = ""


EVERY_NODE = CatalogFilter()


def read_catalog_page(
    view: GraphView,
    statements: CatalogStatements,
    page: PageRequest,
    filter: CatalogFilter,
    order: CatalogOrder,
    **parameters: Any,
) -> Page[Row]:
    """Read a page of datasets or jobs: their properties. Raises QueryError for a bad cursor."""
    conditions = {**_conditions(view, filter), **parameters}
    if order is CatalogOrder.NAME:
        found = read_name_page(
            view, statements.by_name, page, namespace=filter.namespace, **conditions
        )
    else:
        found = read_time_page(
            view,
            statements.by_last_seen,
            page,
            oldest_first=order is CatalogOrder.OLDEST,
            namespace=filter.namespace,
            **conditions,
        )
    return found.map(lambda row: dict(row["properties"]))


def read_catalog_count(
    view: GraphView, statements: CatalogStatements, filter: CatalogFilter, **parameters: Any
) -> int:
    """Count the datasets or jobs on all pages."""
    [row] = view.read(
        statements.total,
        **namespace_range(filter.namespace),
        **_conditions(view, filter),
        **parameters,
    )
    return int(row["count"])


def _conditions(view: GraphView, filter: CatalogFilter) -> dict[str, Any]:
    return {
        "since": filter.since or EARLIEST,
        "until": filter.until or LATEST,
        "owner": filter.owner,
        "tag": filter.tag,
        "visible": view.visibility.regexes,
    }


def read_time_page(
    view: GraphView,
    statement: str,
    page: PageRequest,
    *,
    oldest_first: bool = False,
    **parameters: Any,
) -> Page[Row]:
    """Read a page of a list in the order of time, newest first unless `oldest_first`.

    The rows have `urn` and `at`. Raises QueryError for a malformed cursor.
    """
    is_reversed = page.is_backward != oldest_first
    time, urn = page.decode_time() or (EARLIEST if is_reversed else LATEST, "")
    rows = view.read(
        directed(statement, is_reversed),
        cursorTime=time,
        cursorUrn=urn,
        limit=page.limit,
        **parameters,
    )
    return page.page(rows, lambda row: encode_time_cursor(row["at"], row["urn"]))


def read_name_page(
    view: GraphView,
    statement: str,
    page: PageRequest,
    *,
    namespace: str = "",
    **parameters: Any,
) -> Page[Row]:
    """Read a page of a list in the order of namespaces and names, of one namespace or all.

    The rows have `urn`, `namespace` and `name`. Raises QueryError for a malformed cursor.
    """
    cursor = page.decode(("", "", "")) or (LAST_NAME if page.is_backward else "", "", "")
    bounds: dict[str, Any] = namespace_range(namespace)
    if not namespace:
        # The index is read from the namespace of the cursor on.
        bounds["lastNamespace" if page.is_backward else "firstNamespace"] = str(cursor[0])
    rows = view.read(
        directed(statement, page.is_backward),
        cursorNamespace=cursor[0],
        cursorName=cursor[1],
        cursorUrn=cursor[2],
        limit=page.limit,
        **bounds,
        **parameters,
    )
    return page.page(rows, lambda row: encode_cursor(row["namespace"], row["name"], row["urn"]))


def directed(statement: str, is_reversed: bool) -> str:
    """Return the name of the statement that reads a list in this direction."""
    return f"{statement}_reversed" if is_reversed else statement


def namespace_range(namespace: str) -> dict[str, Any]:
    """Return the first and the last namespace of a statement: both this one, or all if empty."""
    return {"firstNamespace": namespace, "lastNamespace": namespace or LAST_NAME}
