"""The owners of datasets and jobs, the nodes of each, and the nodes without an owner.

Owner names are as sent in the `ownership` facets of datasets and jobs. Dropped datasets are not
counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.lineage.node_names import NodeName
from headwater.lineage.nodes import name_nodes
from headwater.lineage.pagination import (
    Page,
    cut_page,
    decode_cursor,
    encode_cursor,
    require_page_size,
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


def owners(view: GraphView, *, first: int = 20, after: str | None = None) -> Owners:
    """Return a page of owners. Raises QueryError for a bad `first` or cursor."""
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
        first=first,
        after=after,
        shape=(0, ""),
    )
    return Owners(page, len(entries), unowned["datasets"], unowned["jobs"])


def nodes_of_owner(
    view: GraphView, owner: str, *, first: int = 20, after: str | None = None
) -> Page[NodeName]:
    """Return a page of the datasets and jobs of an owner, by urn; "" selects unowned nodes.

    Raises QueryError for a bad `first` or cursor.
    """
    require_page_size(first)
    cursor = decode_cursor(after, ("",))[0] if after else ""
    rows = view.read(
        "read/catalog/nodes_of_owner",
        owner=owner,
        visible=view.visibility.regexes,
        cursorUrn=cursor,
        limit=first + 1,
    )
    urns = [row["urn"] for row in rows[:first]]
    return Page(name_nodes(view, urns), [encode_cursor(urn) for urn in urns], len(rows) > first)
