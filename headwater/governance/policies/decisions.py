"""Decisions on proposed actions: may this job drop, write, export or read this dataset?

The policies are evaluated on the dataset as it is, with the action as the proposed change. A
violated policy that blocks refuses the action. So does one that blocks and cannot be assessed.

A node that is not in the graph, or that the caller may not see, has its name and nothing else, so
the policies that need more cannot be assessed. One action is excepted: the first write of a dataset
must be possible, so only what is known refuses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from headwater.governance.policies.check import policies_of
from headwater.governance.policies.evaluate import evaluate
from headwater.governance.policies.facts import FactsRequest, read_facts
from headwater.governance.policies.models import (
    SUBJECTS_OF_ACTION,
    Change,
    Facts,
    PolicySet,
    Violation,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

# Whose consumers the answer names, whatever the policies read.
_DESTRUCTIVE = ("delete", "drop", "change")
CONSUMERS = "consumers.activeUrns"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Decision:
    """Whether an action is allowed.

    enforce: the strongest enforcement among the violations: block, warn or audit; otherwise empty.
    reason: `unknown` if nothing but policies that cannot be assessed refuse the action.
    consumers: who reads the node now, for an action that destroys or changes it.
    """

    urn: str
    allowed: bool
    enforce: str = ""
    reason: str = ""
    violations: tuple[Violation, ...] = ()
    consumers: tuple[str, ...] = ()
    is_known: bool = True


@dataclass(frozen=True)
class DecisionRequest:
    """A proposed change of one node, and the patterns of consumers that are tests."""

    urn: str
    change: Change
    instant: datetime
    test_consumers: tuple[str, ...] = field(default=())


def decide(view: GraphView, policies: PolicySet, request: DecisionRequest) -> Decision:
    """Return the decision on a proposed action, for one node that the caller may name."""
    urn, change = request.urn, request.change
    concerned = policies_of(policies, change.action)
    needs = set(chain.from_iterable(policy.variables for policy in concerned))
    if change.action in _DESTRUCTIVE:
        needs.add(CONSUMERS)
    facts_request = FactsRequest(needs, test_consumers=request.test_consumers)
    found = read_facts(view, [urn], request.instant, change, facts_request)
    facts = found.get(urn)
    is_known = facts is not None
    if facts is None:
        facts = _facts_of_name(urn, change)
    violations = tuple(evaluate(concerned, facts, request.instant))
    refusing = [one for one in violations if one.blocks]
    if not is_known and change.action == "write":
        refusing = [one for one in refusing if not one.unknown]
    is_unknown = bool(refusing) and all(one.unknown for one in refusing)
    return Decision(
        urn,
        allowed=not refusing,
        enforce=_strongest(violations),
        reason=UNKNOWN if is_unknown else "",
        violations=violations,
        consumers=tuple(facts.values.get(CONSUMERS, ())),
        is_known=is_known,
    )


def _strongest(violations: Iterable[Violation]) -> str:
    found = {one.enforce.value for one in violations}
    return next((one for one in ("block", "warn", "audit") if one in found), "")


def _facts_of_name(urn: str, change: Change) -> Facts:
    """Return the facts of a node that is not in the graph: what its urn and the change hold."""
    kind, parts = parse_urn(urn)
    values: dict[str, Any] = {
        "node.urn": urn,
        "node.kind": kind,
        "change.action": change.action,
        "change.job": change.job,
        "change.purpose": change.purpose,
        "change.actor": change.actor,
        "change.columns": list(change.columns),
    }
    if len(parts) == 2:
        values |= {"node.namespace": parts[0], "node.name": parts[1]}
    return Facts(urn, SUBJECTS_OF_ACTION[change.action], values)
