"""Which finding caused another: a chain of causes ends at its root.

G may have caused F if F's rule lists the rule of G as a cause, both were open at the same time, and
G is about the same node or one upstream of it within `HOPS_MAX` hops. A cause of a cause counts
too. The root of F is the furthest finding at the end of these chains that has no cause itself: the
one with the most hops upstream of F, then the one that began first, then the first by id. Findings
that cause one another in a circle have one root, the one that began first.

So the root of a root is itself: roots and the findings below them are a forest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from headwater.health.findings.rules import RULES

HOPS_MAX = 20
_BEYOND = HOPS_MAX + 1
_NEVER = datetime.max.replace(tzinfo=UTC)
_NO_CAUSES: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Interval:
    """A finding as far as causes depend on it: what it is about, and when it was open."""

    id: str
    rule: str
    subject: str
    first_seen: datetime
    resolved_at: datetime | None = None

    @property
    def beginning(self) -> tuple[datetime, str]:
        """Return the order in which findings began."""
        return self.first_seen, self.id

    def overlaps(self, other: Interval) -> bool:
        """Return True if both were open at some instant."""
        return self.first_seen <= (other.resolved_at or _NEVER) and other.first_seen <= (
            self.resolved_at or _NEVER
        )


def find_roots(
    findings: Iterable[Interval],
    upstream: Mapping[str, Mapping[str, int]],
    known_roots: Mapping[str, str],
    others: Mapping[str, Interval],
) -> dict[str, str]:
    """Return the id of the root of each of these findings.

    Args:
        findings: The findings whose roots are asked.
        upstream: By the subject of each, the hops to every node upstream, itself with 0 hops.
        known_roots: The roots of all other findings.
        others: All other findings, and those at the roots, by id.
    """
    asked = {one.id: one for one in findings}
    everything = {**others, **asked}
    by_subject: dict[str, list[Interval]] = defaultdict(list)
    for one in everything.values():
        by_subject[one.subject].append(one)
    causes = {
        one.id: _direct_causes(one, upstream.get(one.subject, {one.subject: 0}), by_subject)
        for one in asked.values()
    }
    roots: dict[str, str] = {}
    for circle in _circles(causes):
        members = set(circle)
        ends: set[str] = set()
        for member in circle:
            outside = (cause for cause in causes[member] if cause not in members)
            ends.update(roots.get(cause) or known_roots.get(cause, cause) for cause in outside)
        ends = {end for end in ends if end in everything}
        first = min(circle, key=lambda urn: asked[urn].beginning)
        for member in circle:
            hops = upstream.get(asked[member].subject, {})
            roots[member] = _furthest(ends, hops, everything) if ends else first
    return roots


def _direct_causes(
    one: Interval, hops: Mapping[str, int], by_subject: Mapping[str, Sequence[Interval]]
) -> list[str]:
    rule = RULES.get(one.rule)
    explaining = rule.causes if rule else _NO_CAUSES
    nodes = [*hops, one.subject] if len(hops) < len(by_subject) else list(by_subject)
    near = (node for node in dict.fromkeys(nodes) if node in hops or node == one.subject)
    beside = chain.from_iterable(by_subject.get(node, ()) for node in near)
    return sorted(
        other.id
        for other in beside
        if other.id != one.id and other.rule in explaining and one.overlaps(other)
    )


def _furthest(ends: Iterable[str], hops: Mapping[str, int], all_: Mapping[str, Interval]) -> str:
    return min(ends, key=lambda urn: (-hops.get(all_[urn].subject, _BEYOND), *all_[urn].beginning))


def _circles(causes: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the strongly connected components of the graph of causes, causes before effects.

    Tarjan's algorithm without recursion (https://doi.org/10.1137/0201010).
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    components: list[list[str]] = []
    for start in sorted(causes):
        if start in order:
            continue
        work = [(start, iter(causes[start]))]
        _enter(start, order, low, stack, on_stack)
        while work:
            urn, following = work[-1]
            cause = next(following, None)
            if cause is not None and cause not in causes:
                continue
            if cause is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[urn])
                if low[urn] == order[urn]:
                    components.append(_component(urn, stack, on_stack))
            elif cause not in order:
                _enter(cause, order, low, stack, on_stack)
                work.append((cause, iter(causes[cause])))
            elif cause in on_stack:
                low[urn] = min(low[urn], order[cause])
    return components


def _enter(
    urn: str, order: dict[str, int], low: dict[str, int], stack: list[str], on_stack: set[str]
) -> None:
    order[urn] = low[urn] = len(order)
    stack.append(urn)
    on_stack.add(urn)


def _component(urn: str, stack: list[str], on_stack: set[str]) -> list[str]:
    component: list[str] = []
    while True:
        member = stack.pop()
        on_stack.discard(member)
        component.append(member)
        if member == urn:
            return sorted(component)
