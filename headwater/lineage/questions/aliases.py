"""Which names go by which dataset, why, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.view import GraphView
from headwater.schema.dataset_aliases import alias_since
from headwater.schema.events import to_datetime
from headwater.schema.facts import DatasetFacts, Name
from headwater.schema.visibility import Visibility

SYMLINKS_MAX = 1_000


@dataclass(frozen=True)
class Symlink:
    """A name and the dataset that goes by it. `declared_by` is `facet` or `manual`; `via` is the third name that both are
    joined to, where they are not joined themselves."""

    urn: str
    name: Name
    dataset_urn: str
    dataset: Name
    declared_by: str
    since: datetime
    via: Name | None


def symlinks(view: GraphView, *, first: int = 100, after: str = "") -> list[Symlink]:
    """The other names of datasets after a urn, in the order of their urns; those of which both names may be seen."""
    if not 0 <= first <= SYMLINKS_MAX:
        raise QueryError(f"first {first} is not between 0 and {SYMLINKS_MAX}")
    rows = (
        view.read("read/catalog/aliases", after=after, limit=first, sees=view.visibility.regexes)
        if first
        else []
    )
    return [_symlink(row, view.visibility) for row in rows]


def _symlink(row: Row, visibility: Visibility) -> Symlink:
    facts = {
        one["urn"]: msgspec.json.decode(one["facts"], type=DatasetFacts) for one in row["members"]
    }
    urn, canonical = row["urn"], row["canonical"]
    by, since, joined_to = _why(urn, canonical, facts)
    return Symlink(
        urn=urn,
        name=facts[urn].dataset,
        dataset_urn=canonical,
        dataset=facts[canonical].dataset,
        declared_by=by,
        since=to_datetime(since),
        via=_through(facts[joined_to].dataset, visibility) if joined_to != canonical else None,
    )


def _through(name: Name, visibility: Visibility) -> Name | None:
    return name if visibility.includes(name.namespace) else None


def _why(urn: str, canonical: str, facts: Mapping[str, DatasetFacts]) -> tuple[str, int, str]:
    """Why a name is joined to the dataset it goes by, or else to another of its names; since when; and to which."""
    for other in (canonical, *sorted(facts.keys() - {urn, canonical})):
        joined = alias_since(urn, facts[urn], other, facts[other])
        if joined is not None:
            return (*joined, other)
    raise AssertionError(f"{urn} goes by {canonical} and is joined to none of its names")
