"""Policies evaluated on the graph: which nodes violate them, and which cannot be assessed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater.chunks import chunks
from headwater.errors import QueryError
from headwater.governance.policies.evaluate import evaluate
from headwater.governance.policies.facts import FactsRequest, read_facts
from headwater.governance.policies.models import (
    SUBJECTS_OF_ACTION,
    Change,
    Policy,
    PolicySet,
    Subject,
    Violation,
)
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

NODES_PER_CHUNK = 500
_PAGE = 1_000
# More nodes than this are not evaluated in one request.
NODES_MAX = 200_000
# How long the evaluation of one request may take, and after how many policies the time is read.
SECONDS_MAX = 120.0
_POLICIES_PER_STEP = 20
# Nodes that a caller names.
URNS_MAX = 1_000
_KINDS = {
    "dataset": (Subject.DATASET, Subject.FLOW),
    "job": (Subject.JOB,),
    "answer": (Subject.ANSWER,),
}


@dataclass(frozen=True)
class Checked:
    """What an evaluation found.

    violations: violated policies, the most urgent first; `unknown` those that cannot be assessed.
    nodes: the number of nodes that were evaluated; policies: that of the policies that concerned
      them.
    missing: the nodes that do not exist, or that the caller may not see.
    """

    violations: tuple[Violation, ...]
    unknown: tuple[Violation, ...]
    nodes: int
    policies: int
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckRequest:
    """What is checked of nodes.

    change: a proposed change of them; None: the standing policies.
    past: evaluate the lineage of the instant.
    test_consumers: patterns of the namespaces and names of consumers that are tests.
    """

    change: Change | None = None
    past: bool = False
    test_consumers: tuple[str, ...] = ()


@dataclass(frozen=True)
class ViolationFilter:
    """Conditions on violations; an empty one matches everything.

    include_unknown: also what cannot be assessed.
    """

    policy: str = ""
    severity: str = ""
    namespace: str = ""
    urn: str = ""
    include_unknown: bool = False

    def includes_policy(self, policy: Policy) -> bool:
        """Return True if the violations of a policy are wanted."""
        return self.policy in ("", policy.name) and self.severity in ("", policy.severity)

    def includes_node(self, urn: str) -> bool:
        """Return True if the violations of a node are wanted."""
        if not self.namespace:
            return True
        parts = parse_urn(urn).parts
        return urn.startswith(("dataset:", "job:")) and parts[:1] == (self.namespace,)


def check_graph(
    view: GraphView,
    policies: PolicySet,
    instant: datetime,
    *,
    past: bool = False,
    test_consumers: tuple[str, ...] = (),
) -> Checked:
    """Return which nodes of the graph violate standing policies at an instant.

    Raises:
        QueryError: There are more nodes than `NODES_MAX`.
    """
    standing = policies.standing
    urns = list(_subjects(view, standing))
    return _check(
        view, standing, urns, instant, None, FactsRequest(_needs(standing), past, test_consumers)
    )


def check_nodes(
    view: GraphView,
    policies: PolicySet,
    urns: Sequence[str],
    instant: datetime,
    request: CheckRequest = CheckRequest(),
) -> Checked:
    """Return which policies some nodes violate, or a proposed change of them would violate.

    Raises:
        QueryError: The action of the change is unknown, or a urn is none.
    """
    if len(urns) > URNS_MAX:
        raise QueryError(f"there are more than {URNS_MAX} nodes", hint="Check them in parts.")
    resolved = [resolve_urn(view, urn) for urn in dict.fromkeys(urns)]
    return check_known_nodes(view, policies, resolved, instant, request)


def check_known_nodes(
    view: GraphView,
    policies: PolicySet,
    urns: Sequence[str],
    instant: datetime,
    request: CheckRequest,
) -> Checked:
    """Return the same for any number of nodes by their canonical urns.

    Raises:
        QueryError: The action of the change is unknown.
    """
    change = request.change
    if change is not None and change.action not in SUBJECTS_OF_ACTION:
        known = ", ".join(SUBJECTS_OF_ACTION)
        raise QueryError(f"there is no action {change.action[:40]!r}", hint=f"Actions: {known}.")
    wanted = policies.standing if change is None else policies_of(policies, change.action)
    facts = FactsRequest(_needs(wanted), request.past, request.test_consumers)
    return _check(view, wanted, urns, instant, change, facts)


def policies_of(policies: PolicySet, action: str) -> tuple[Policy, ...]:
    """Return the policies that concern an action, a key of `SUBJECTS_OF_ACTION`."""
    subjects = SUBJECTS_OF_ACTION[action]
    return tuple(policy for policy in policies.policies if policy.subjects & subjects)


def policy_violations(
    view: GraphView,
    policies: PolicySet,
    instant: datetime,
    filter: ViolationFilter = ViolationFilter(),
    *,
    test_consumers: tuple[str, ...] = (),
) -> list[Violation]:
    """Return the violations of standing policies on the nodes that the caller sees."""
    wanted = PolicySet(
        tuple(one for one in policies.standing if filter.includes_policy(one)), policies.digest
    )
    if not wanted.policies:
        return []
    if filter.urn:
        request = CheckRequest(test_consumers=test_consumers)
        found = check_nodes(view, wanted, [filter.urn], instant, request)
    else:
        found = check_graph(view, wanted, instant, test_consumers=test_consumers)
    unknown = found.unknown if filter.include_unknown else ()
    return [one for one in (*found.violations, *unknown) if filter.includes_node(one.urn)]


def _check(
    view: GraphView,
    policies: Sequence[Policy],
    urns: Sequence[str],
    instant: datetime,
    change: Change | None,
    request: FactsRequest,
) -> Checked:
    violations: list[Violation] = []
    found: set[str] = set()
    deadline = time.monotonic() + SECONDS_MAX + view.planning_seconds
    for some in chunks(list(urns), NODES_PER_CHUNK):
        for urn, facts in read_facts(view, some, instant, change, request).items():
            found.add(urn)
            for part in chunks(list(policies), _POLICIES_PER_STEP):
                violations += evaluate(part, facts, instant)
                _require_time(deadline)
    ordered = sorted(violations, key=lambda one: (one.severity, one.policy, one.urn))
    return Checked(
        tuple(one for one in ordered if not one.unknown),
        tuple(one for one in ordered if one.unknown),
        len(found),
        len(policies),
        tuple(urn for urn in urns if urn not in found),
    )


def _require_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise QueryError(
            f"the policies were evaluated for more than {SECONDS_MAX:.0f} seconds",
            hint="Check fewer nodes or policies, or shorten regular expressions.",
        )


def _needs(policies: Iterable[Policy]) -> frozenset[str]:
    return frozenset(name for policy in policies for name in policy.variables)


def _subjects(view: GraphView, policies: Sequence[Policy]) -> Iterator[str]:
    """Yield the visible nodes that one of the policies may concern."""
    count = 0
    for kind, subjects in _KINDS.items():
        if not any(policy.subjects.intersection(subjects) for policy in policies):
            continue
        for urn in _urns(view, kind):
            count += 1
            if count > NODES_MAX:
                raise QueryError(
                    f"the graph has more than {NODES_MAX} nodes for these policies",
                    hint="Check parts of it, with --node.",
                )
            yield urn


def _urns(view: GraphView, kind: str) -> Iterator[str]:
    after = ""
    while rows := view.read(
        "read/policies/subject_urns",
        kind=kind,
        after=after,
        visible=view.visibility.regexes,
        limit=_PAGE,
    ):
        urns = [row["urn"] for row in rows]
        yield from select_visible(view, urns)
        after = urns[-1]
