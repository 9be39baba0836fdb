"""Who owns what: the owners that producers told, with what each owns, and what nobody owns.

Names of owners are as they were sent (`ownership` facets of datasets and jobs); dropped datasets are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.lineage.node_names import NodeName
from headwater.lineage.nodes import name_nodes
from headwater.lineage.pagination import Page, checked_page, page, read_cursor, write_cursor
from headwater.lineage.view import GraphView

OWNERS_MAX = 10_000


@dataclass(frozen=True)
class Owner:
    name: str
    datasets: int
    jobs: int


@dataclass(frozen=True)
class Owners:
    """A page of owners, those of the most first; how many there are; the datasets and jobs that nobody owns."""

    page: Page[Owner]
    count: int
    unowned_datasets: int
    unowned_jobs: int


def owners(view: GraphView, *, first: int = 20, after: str | None = None) -> Owners:
    """Who owns how much. Raises QueryError for a bad `first` or cursor."""
    rows = view.read("read/catalog/owners", sees=view.visibility.regexes, limit=OWNERS_MAX)
    unowned = next((row for row in rows if row["owner"] is None), {"datasets": 0, "jobs": 0})
    found = [
        Owner(row["owner"], row["datasets"], row["jobs"])
        for row in rows
        if row["owner"] is not None
    ]
    shown = page(
        found,
        lambda one: (-one.datasets - one.jobs, one.name),
        first=first,
        after=after,
        shape=(0, ""),
    )
    return Owners(shown, len(found), unowned["datasets"], unowned["jobs"])


def nodes_of_owner(
    view: GraphView, owner: str, *, first: int = 20, after: str | None = None
) -> Page[NodeName]:
    """The datasets and jobs of one owner by their urns; of nobody for an empty name."""
    checked_page(first)
    cursor = read_cursor(after, ("",))[0] if after else ""
    rows = view.read(
        "read/catalog/nodes_of_owner",
        owner=owner,
        sees=view.visibility.regexes,
        cursorUrn=cursor,
        limit=first + 1,
    )
    urns = [row["urn"] for row in rows[:first]]
    return Page(name_nodes(view, urns), [write_cursor(urn) for urn in urns], len(rows) > first)
