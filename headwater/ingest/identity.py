"""Which names are one dataset: symlinks that hold, and what somebody decided by hand. Pure.

A name is joined to those that its `symlinks` facets give it, namespace and name both compared, unless the facet was
deleted since. A decision by hand, that two names are `same` or `apart`, outweighs any facet; the newest counts. Names
joined to each other, over however many steps, are one dataset. It goes by the name of one that has symlinks of its
own (what a table is called in a catalog is another name of the place it lies at), or else by one that events use.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.schema.facts import DatasetFacts, Register

SAME, APART = "same", "apart"


def others(facts: DatasetFacts) -> set[str]:
    """The urns of all names that anything was ever said about beside this one."""
    return facts.symlinks.keys() | facts.by_hand.keys()


def goes_by(members: Mapping[str, DatasetFacts]) -> dict[str, str]:
    """urn of a name -> urn of the name by which its dataset goes. The members must hold whole datasets."""
    first: dict[str, str] = {urn: urn for urn in members}

    def root(urn: str) -> str:
        while first[urn] != urn:
            first[urn] = first[first[urn]]
            urn = first[urn]
        return urn

    for one, facts in sorted(members.items()):
        for other in sorted(others(facts)):
            if other in members and _joined(one, facts, other, members[other]):
                first[root(other)] = root(one)
    parts: dict[str, list[str]] = {}
    for urn in sorted(members):
        parts.setdefault(root(urn), []).append(urn)
    return {urn: chosen for part in parts.values() for chosen in [_chosen(part, members)] for urn in part}


def _chosen(part: list[str], members: Mapping[str, DatasetFacts]) -> str:
    return min(part, key=lambda urn: (not members[urn].symlinks, members[urn].span is None, urn))


def _joined(one: str, facts: DatasetFacts, other: str, others_facts: DatasetFacts) -> bool:
    decided = [register for register in (facts.by_hand.get(other), others_facts.by_hand.get(one)) if register]
    if decided:
        return max(decided).value == SAME
    return _linked(facts, other) or _linked(others_facts, one)


def _linked(facts: DatasetFacts, other: str) -> bool:
    claim, facet = facts.symlinks.get(other), facts.facets.get("symlinks")
    return claim is not None and not _deleted_since(facet, claim.last)


def _deleted_since(facet: Register | None, instant: int) -> bool:
    return facet is not None and not facet.value and facet.instant >= instant
