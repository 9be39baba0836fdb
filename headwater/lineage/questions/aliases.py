"""Aliases of datasets: which dataset each stands for, who declared it, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from headwater.cypher.driver.database import Row
from headwater.lineage.pagination import require_between
from headwater.lineage.view import GraphView
from headwater.schema.dataset_aliases import alias_since
from headwater.schema.events import to_datetime
from headwater.schema.facts import DatasetFacts, Name
from headwater.schema.visibility import Visibility

ALIASES_MAX = 1_000


@dataclass(frozen=True)
class Alias:
    """An alias and its canonical dataset.

    `declared_by` is `facet` or `manual`. `via` is the third name of the dataset to which the alias
    is joined, or None if it is joined to the canonical name itself or that name is hidden.
    """

    urn: str
    name: Name
    dataset_urn: str
    dataset: Name
    declared_by: str
    since: datetime
    via: Name | None


def list_aliases(view: GraphView, *, first: int = 100, after: str = "") -> list[Alias]:
    """Return the aliases after a urn, in the order of their urns, if both names are visible.

    Raises QueryError for `first` outside the bounds.
    """
    require_between("first", first, 0, ALIASES_MAX)
    if not first:
        return []
    rows = view.read(
        "read/catalog/aliases", after=after, limit=first, visible=view.visibility.regexes
    )
    return [_alias(row, view.visibility) for row in rows]


def count_aliases(view: GraphView) -> int:
    """Return the number of aliases whose names are both visible."""
    [row] = view.read("read/catalog/aliases_count", visible=view.visibility.regexes)
    return int(row["count"])


def _alias(row: Row, visibility: Visibility) -> Alias:
    facts = {
        member["urn"]: msgspec.json.decode(member["facts"], type=DatasetFacts)
        for member in row["members"]
    }
    urn, canonical = row["urn"], row["canonical"]
    declared_by, since, joined_to = _declaration(urn, canonical, facts)
    via = None
    if joined_to != canonical and visibility.includes(facts[joined_to].dataset.namespace):
        via = facts[joined_to].dataset
    return Alias(
        urn=urn,
        name=facts[urn].dataset,
        dataset_urn=canonical,
        dataset=facts[canonical].dataset,
        declared_by=declared_by,
        since=to_datetime(since),
        via=via,
    )


def _declaration(
    urn: str, canonical: str, facts: Mapping[str, DatasetFacts]
) -> tuple[str, int, str]:
    """Return who joined an alias to its dataset, since when, and to which of the names."""
    for other in (canonical, *sorted(facts.keys() - {urn, canonical})):
        joined = alias_since(urn, facts[urn], other, facts[other])
        if joined is not None:
            return (*joined, other)
    raise AssertionError(f"the alias {urn} of {canonical} is joined to none of its names")
