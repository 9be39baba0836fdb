"""All namespaces that have datasets or jobs, page by page, by name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.lineage.pagination import FIRST_PAGE, Page, PageRequest, cut_page
from headwater.lineage.view import GraphView

# More namespaces are listed up to this number, by name.
NAMESPACES_MAX = 10_000


@dataclass(frozen=True)
class Namespace:
    """A namespace with its first and last observation, and the number of its nodes."""

    name: str
    first_seen: datetime | None
    last_seen: datetime | None
    datasets: int
    jobs: int


@dataclass(frozen=True)
class Namespaces:
    """A page of namespaces, and the number of namespaces on all pages."""

    page: Page[Namespace]
    count: int


def find_namespace(view: GraphView, name: str) -> Namespace | None:
    """Return one namespace, None if it is hidden or empty."""
    if not view.visibility.includes(name):
        return None
    [row] = view.read("read/catalog/namespace", namespace=name)
    if not row["size"]:
        return None
    return Namespace(name, row["first"], row["last"], row["size"] - row["jobs"], row["jobs"])


def namespaces(view: GraphView, *, page: PageRequest = FIRST_PAGE) -> Namespaces:
    """Return a page of the visible namespaces. Raises QueryError for a malformed cursor."""
    rows = view.read(
        "read/catalog/namespaces", visible=view.visibility.regexes, skip=0, limit=NAMESPACES_MAX
    )
    found = [
        Namespace(row["namespace"], row["first"], row["last"], row["datasets"], row["jobs"])
        for row in rows
    ]
    return Namespaces(cut_page(found, lambda one: (one.name,), page, shape=("",)), len(found))
