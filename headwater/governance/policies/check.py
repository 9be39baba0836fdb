"""Policies evaluated on the graph: which nodes violate them, and which cannot be assessed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, product

from headwater.chunks import chunks
from headwater.errors import QueryError
from headwater.governance.policies.evaluate import OutcomesOf, evaluate_all, outcomes_here
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

NODES_PER_CHUNK = 500
_PAGE = 1_000
# More nodes than this are not evaluated in one request.
NODES_MAX = 200_000
# How long the evaluation of one request may take, and after how many nodes and policies the time is
# read.
SECONDS_MAX = 20.0
_NODES_PER_STEP = 25
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
    seconds_max: how long the evaluation may take.
    outcomes_of: evaluates the conditions.
    """

    change: Change | None = None
    past: bool = False
    test_consumers: tuple[str, ...] = ()
    seconds_max: float = math.inf
    outcomes_of: OutcomesOf = outcomes_here


def check_graph(
    view: GraphView,
    policies: PolicySet,
    instant: datetime,
    *,
    past: bool = False,
    test_consumers: tuple[str, ...] = (),
    outcomes_of: OutcomesOf = outcomes_here,
) -> Checked:
    """Return which nodes of the graph violate standing policies at an instant.

    Raises:
        QueryError: There are more nodes than `NODES_MAX`.
    """
    standing = policies.standing
    urns = list(_subjects(view, standing, instant if past else None))
    request = CheckRequest(None, past, test_consumers, SECONDS_MAX, outcomes_of)
    return _check(view, standing, urns, instant, request)


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
    bounded = replace(request, seconds_max=SECONDS_MAX)
    return check_known_nodes(view, policies, resolved, instant, bounded)


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
    return _check(view, wanted, urns, instant, request)


def policies_of(policies: PolicySet, action: str) -> tuple[Policy, ...]:
    """Return the policies that concern an action, a key of `SUBJECTS_OF_ACTION`."""
    subjects = SUBJECTS_OF_ACTION[action]
    return tuple(policy for policy in policies.policies if policy.subjects & subjects)


def _check(
    view: GraphView,
    policies: Sequence[Policy],
    urns: Sequence[str],
    instant: datetime,
    request: CheckRequest,
) -> Checked:
    violations: list[Violation] = []
    found: set[str] = set()
    facts_request = FactsRequest(_needs(policies), request.past, request.test_consumers)
    deadline = time.monotonic() + request.seconds_max + view.planning_seconds
    steps = list(chunks(list(policies), _POLICIES_PER_STEP))
    for some in chunks(list(urns), NODES_PER_CHUNK):
        read = read_facts(view, some, instant, request.change, facts_request)
        found.update(read)
        for step in product(chunks(read.values(), _NODES_PER_STEP), steps):
            violations += evaluate_all(step[1], step[0], instant, request.outcomes_of)
            require_time(deadline)
    ordered = sorted(violations, key=lambda one: (one.severity, one.policy, one.urn))
    return Checked(
        tuple(one for one in ordered if not one.unknown),
        tuple(one for one in ordered if one.unknown),
        len(found),
        len(policies),
        tuple(urn for urn in urns if urn not in found),
    )


def require_time(deadline: float) -> None:
    """Raise QueryError past a deadline, a reading of time.monotonic()."""
    if time.monotonic() > deadline:
        raise QueryError(
            f"the policies were evaluated for more than {SECONDS_MAX:.0f} seconds",
            hint="Check fewer nodes or policies, or shorten regular expressions.",
        )


def _needs(policies: Iterable[Policy]) -> frozenset[str]:
    return frozenset(chain.from_iterable(policy.variables for policy in policies))


def _subjects(view: GraphView, policies: Sequence[Policy], at: datetime | None) -> Iterator[str]:
    """Yield the visible nodes that one of the policies may concern, at an instant or now."""
    count = 0
    for kind, subjects in _KINDS.items():
        if not any(policy.subjects.intersection(subjects) for policy in policies):
            continue
        for urn in _urns(view, kind, at):
            count += 1
            if count > NODES_MAX:
                raise QueryError(
                    f"the graph has more than {NODES_MAX} nodes for these policies",
                    hint="Check parts of it, with --node.",
                )
            yield urn


def _urns(view: GraphView, kind: str, at: datetime | None) -> Iterator[str]:
    after = ""
    while rows := view.read(
        "read/policies/subject_urns",
        kind=kind,
        after=after,
        at=at,
        visible=view.visibility.regexes,
        limit=_PAGE,
    ):
        urns = [row["urn"] for row in rows]
        yield from select_visible(view, urns)
        after = urns[-1]
