"""Which names are one dataset: symlinks that hold, and what somebody decided by hand. Pure.

A name is joined to those that its `symlinks` facets give it, namespace and name both compared,
unless the facet was deleted since. A decision by hand, that two names are `same` or `apart`,
outweighs any facet; the newest counts. Names joined to each other, over however many steps, are one
dataset. It goes by the name of one that has symlinks of its own (what a table is called in a
catalog is another name of the place it lies at), or else by one that events use.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.schema.facts import DatasetFacts

SAME, APART = "same", "apart"
BY_HAND, BY_FACET = "manual", "facet"


def linked_urns(facts: DatasetFacts) -> set[str]:
    """The urns of all names that anything was ever said about beside this one."""
    return facts.symlinks.keys() | facts.by_hand.keys()


def canonical_urns(members: Mapping[str, DatasetFacts]) -> dict[str, str]:
    """urn of a name -> urn of the name by which its dataset goes. The members must hold whole
    datasets.
    """
    first: dict[str, str] = {urn: urn for urn in members}

    def root(urn: str) -> str:
        while first[urn] != urn:
            first[urn] = first[first[urn]]
            urn = first[urn]
        return urn

    for one, facts in sorted(members.items()):
        for other in sorted(linked_urns(facts)):
            if other in members and _joined(one, facts, other, members[other]):
                first[root(other)] = root(one)
    parts: dict[str, list[str]] = {}
    for urn in sorted(members):
        parts.setdefault(root(urn), []).append(urn)
    return {
        urn: chosen
        for part in parts.values()
        for chosen in [_chosen(part, members)]
        for urn in part
    }


def _chosen(part: list[str], members: Mapping[str, DatasetFacts]) -> str:
    return min(part, key=lambda urn: (not members[urn].symlinks, members[urn].span is None, urn))


def _joined(one: str, facts: DatasetFacts, other: str, others_facts: DatasetFacts) -> bool:
    return alias_since(one, facts, other, others_facts) is not None


def alias_since(
    one: str, facts: DatasetFacts, other: str, others_facts: DatasetFacts
) -> tuple[str, int] | None:
    """Why two names are joined, without a third between, and since when: by hand or by a facet.
    None when they are not.
    """
    decided = [
        register
        for register in (facts.by_hand.get(other), others_facts.by_hand.get(one))
        if register
    ]
    if decided:
        newest = max(decided)
        return (BY_HAND, newest.instant) if newest.value == SAME else None
    linked = [
        first
        for first in (_linked_since(facts, other), _linked_since(others_facts, one))
        if first is not None
    ]
    return (BY_FACET, min(linked)) if linked else None


def _linked_since(facts: DatasetFacts, other: str) -> int | None:
    claim = facts.symlinks.get(other)
    if claim is None or (facts.unlinked is not None and facts.unlinked >= claim.last):
        return None
    return claim.first
