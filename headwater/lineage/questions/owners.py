"""The owners of datasets and jobs, the nodes of each, and the nodes without an owner.

Owner names are as sent in the `ownership` facets of datasets and jobs. Dropped datasets are not
counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.lineage.list_pages import directed
from headwater.lineage.node_names import NodeName
from headwater.lineage.nodes import name_nodes
from headwater.lineage.pagination import (
    Page,
    cut_page,
    encode_cursor,
    page_request,
)
from headwater.lineage.view import GraphView

OWNERS_MAX = 10_000


@dataclass(frozen=True)
class Owner:
    """An owner and the number of datasets and jobs it owns."""

    name: str
    datasets: int
    jobs: int


@dataclass(frozen=True)
class Owners:
    """A page of owners, the largest first, their number, and the nodes without an owner."""

    page: Page[Owner]
    count: int
    unowned_datasets: int
    unowned_jobs: int


def owners(
    view: GraphView,
    *,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Owners:
    """Return a page of owners. Raises QueryError for bad arguments of a page."""
    request = page_request(first, after, last, before)
    rows = view.read("read/catalog/owners", visible=view.visibility.regexes, limit=OWNERS_MAX)
    unowned = {"datasets": 0, "jobs": 0}
    entries: list[Owner] = []
    for row in rows:
        if row["owner"] is None:
            unowned = row
        else:
            entries.append(Owner(row["owner"], row["datasets"], row["jobs"]))
    page = cut_page(
        entries,
        lambda owner: (-owner.datasets - owner.jobs, owner.name),
        request,
        shape=(0, ""),
    )
    return Owners(page, len(entries), unowned["datasets"], unowned["jobs"])


def nodes_of_owner(
    view: GraphView,
    owner: str,
    *,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Page[NodeName]:
    """Return a page of the datasets and jobs of an owner, by urn; "" selects unowned nodes.

    Raises QueryError for bad arguments of a page.
    """
    request = page_request(first, after, last, before)
    [cursor] = request.decode(("",)) or ("",)
    rows = view.read(
        directed("read/catalog/nodes_of_owner", request.is_backward),
        owner=owner,
        visible=view.visibility.regexes,
        cursorUrn=cursor,
        limit=request.limit,
    )
    page = request.page(rows, lambda row: encode_cursor(row["urn"]))
    names = name_nodes(view, [row["urn"] for row in page.entries])
    return Page(names, page.cursors, page.has_next, page.has_previous)


def count_nodes_of_owner(view: GraphView, owner: str) -> int:
    """Return the number of datasets and jobs of an owner; "" selects unowned nodes."""
    [row] = view.read(
        "read/catalog/nodes_of_owner_count", owner=owner, visible=view.visibility.regexes
    )
    return int(row["count"])
