"""Group names into datasets: by symlinks that hold, and by decisions of a steward. Pure.

A name is joined to the names in its `symlinks` facets, by namespace and name, unless the facet was
deleted since. A decision by hand that two names are `same` or `apart` overrides any facet; the
newest decision counts. Names joined over any number of steps are one dataset. Its canonical name is
one with symlinks of its own, since a catalog's table name is an alias of its location; otherwise
one that events use.

Names of several teams may be one dataset. The canonical name decides who can read it. So symlinks
count by how many namespaces of the dataset their sender covers: a key of one team gives no name of
that team precedence over a name that a key of all teams joined. Nor does its deletion of a facet
undo symlinks to names that it does not cover.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.schema.facts import DatasetFacts, linked_by
from headwater.schema.visibility import namespaces_of

SAME, APART = "same", "apart"
BY_HAND, BY_FACET = "manual", "facet"


def linked_urns(facts: DatasetFacts) -> set[str]:
    """Return the urns of all other names that facts of this name refer to."""
    return facts.symlinks.keys() | facts.by_hand.keys()


def canonical_urns(members: Mapping[str, DatasetFacts]) -> dict[str, str]:
    """Return the urn of the canonical name for the urn of each name.

    `members` must have every name of its datasets.
    """
    first: dict[str, str] = {urn: urn for urn in members}

    def root(urn: str) -> str:
        while first[urn] != urn:
            first[urn] = first[first[urn]]
            urn = first[urn]
        return urn

    for member, facts in sorted(members.items()):
        for other in sorted(linked_urns(facts)):
            if other in members and _is_joined(member, facts, other, members[other]):
                first[root(other)] = root(member)
    parts: dict[str, list[str]] = {}
    for urn in sorted(members):
        parts.setdefault(root(urn), []).append(urn)
    canonical: dict[str, str] = {}
    for part in parts.values():
        canonical |= dict.fromkeys(part, _canonical_urn(part, members))
    return canonical


def _canonical_urn(part: list[str], members: Mapping[str, DatasetFacts]) -> str:
    namespaces = {members[urn].dataset.namespace for urn in part}

    def precedence(urn: str) -> tuple[int, bool, str]:
        facts = members[urn]
        covered = [_covered(sender, namespaces) for sender in linked_by(facts)]
        return -max(covered, default=0), facts.span is None, urn

    return min(part, key=precedence)


def _covered(sender: str, namespaces: set[str]) -> int:
    """Return how many of these namespaces the keys of a sender cover."""
    return sum(map(namespaces_of(sender).includes, namespaces))


def _is_joined(
    first: str, first_facts: DatasetFacts, second: str, second_facts: DatasetFacts
) -> bool:
    return alias_since(first, first_facts, second, second_facts) is not None


def alias_since(
    first: str, first_facts: DatasetFacts, second: str, second_facts: DatasetFacts
) -> tuple[str, int] | None:
    """Return the reason (by hand or by facet) and the instant since which two names are joined.

    A join through a third name does not count. None if the two are not joined.
    """
    decisions = [
        register
        for register in (first_facts.by_hand.get(second), second_facts.by_hand.get(first))
        if register
    ]
    if decisions:
        newest = max(decisions)
        return (BY_HAND, newest.instant) if newest.value == SAME else None
    linked = [
        since
        for since in (_linked_since(first_facts, second), _linked_since(second_facts, first))
        if since is not None
    ]
    return (BY_FACET, min(linked)) if linked else None


def _linked_since(facts: DatasetFacts, other: str) -> int | None:
    claim = facts.symlinks.get(other)
    if claim is None or (facts.unlinked is not None and facts.unlinked >= claim.last):
        return None
    for sender, unlinked in facts.unlinked_by.items():
        if unlinked >= claim.last and namespaces_of(sender).includes(claim.name.namespace):
            return None
    return claim.first
