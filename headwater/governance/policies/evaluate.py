"""The one evaluator of policies: policies, facts and an instant give violations. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from headwater.governance.policies.models import (
    MESSAGE_VARIABLE,
    STANDING,
    Facts,
    Outcome,
    Policy,
    Violation,
)

EVIDENCE_ITEMS_MAX = 20
_TEXT_CHARACTERS_MAX = 200
_APPROVAL_VARIABLES = frozenset({"approved", "approvers"})


Pairs = Sequence[tuple[Policy, Mapping[str, Any]]]
# Returns what the conditions of policies give for variables, in order.
OutcomesOf = Callable[[Pairs], Sequence[Outcome]]


def outcomes_here(pairs: Pairs) -> list[Outcome]:
    """Evaluate conditions in this process: those of the policies in force."""
    return [policy.condition.evaluate(values) for policy, values in pairs]


def evaluate(policies: Sequence[Policy], facts: Facts, instant: datetime) -> list[Violation]:
    """Return the violations of a node or a proposed change, in order of urgency.

    A policy that cannot be assessed is among them, with the reason in `unknown`.
    """
    return evaluate_all(policies, [facts], instant)


def evaluate_all(
    policies: Sequence[Policy],
    some: Iterable[Facts],
    instant: datetime,
    outcomes_of: OutcomesOf = outcomes_here,
) -> list[Violation]:
    """Return the violations of nodes or proposed changes, one after the other."""
    ordered = sorted(policies, key=lambda one: (one.severity, one.name))
    concerned = [
        (facts, policy) for facts in some for policy in ordered if applies(policy, facts, instant)
    ]
    pairs = [(policy, variables_at(policy, facts, instant)) for facts, policy in concerned]
    return [
        _violation(policy, facts, outcome, values)
        for (facts, policy), (_, values), outcome in zip(
            concerned, pairs, outcomes_of(pairs), strict=True
        )
        if outcome.is_violated or outcome.unknown
    ]


def applies(policy: Policy, facts: Facts, instant: datetime) -> bool:
    """Return True if a policy concerns a node or change at an instant, and no exception covers it.

    A node that was dropped or deleted no longer violates standing policies. An approval is an
    exception, unless the condition of the policy itself reads approvals.
    """
    is_gone = bool(facts.values.get("node.dropped")) and bool(facts.subjects & STANDING)
    return (
        not is_gone
        and bool(policy.subjects & facts.subjects)
        and (policy.until is None or instant < policy.until)
        and policy.match.includes(facts.values)
        and exception_of(policy, facts, instant) is None
        and not _is_approved(policy, facts, instant)
    )


def _is_approved(policy: Policy, facts: Facts, instant: datetime) -> bool:
    if not facts.approvals or _APPROVAL_VARIABLES.intersection(policy.condition.variables):
        return False
    return any(one.applies(policy.name, instant) for one in facts.approvals)


def exception_of(policy: Policy, facts: Facts, instant: datetime) -> str | None:
    """Return the reason of the exception that covers a node, or None."""
    for exception in policy.exceptions:
        if exception.applies(facts.urn, instant):
            return exception.reason
    return None


def variables_at(policy: Policy, facts: Facts, instant: datetime) -> Mapping[str, Any]:
    """Return the variables of a node for one policy at an instant."""
    approvers = sorted({one.actor for one in facts.approvals if one.applies(policy.name, instant)})
    return {
        **facts.values,
        "instant": instant,
        "approved": bool(approvers),
        "approvers": approvers,
    }


def _violation(
    policy: Policy, facts: Facts, outcome: Outcome, values: Mapping[str, Any]
) -> Violation:
    return Violation(
        policy=policy.name,
        urn=facts.urn,
        severity=policy.severity,
        enforce=policy.enforce,
        message=render_message(policy, values),
        unknown=outcome.unknown,
        evidence={name: _evidence(values[name]) for name in policy.variables if name in values},
        owners=tuple(facts.values.get("node.owners", ())),
        notify=policy.notify,
        since=facts.values.get("node.created"),
    )


def render_message(policy: Policy, values: Mapping[str, Any]) -> str:
    """Return the message of a policy with the values of its variables."""
    text = policy.message or policy.title or f"{policy.name} is violated by {{node.urn}}"
    return MESSAGE_VARIABLE.sub(lambda match: _text(values.get(match[1])), text)


def _text(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        shown = [_item(item) for item in value[:EVIDENCE_ITEMS_MAX]]
        more = len(value) - len(shown)
        return ", ".join([*shown, *([f"{more} more"] if more > 0 else [])]) or "none"
    return re.sub(r"[\x00-\x1f\x7f]", " ", str(value))[:_TEXT_CHARACTERS_MAX]


def _item(item: Any) -> str:
    if isinstance(item, Mapping):
        item = item.get("urn") or item.get("name") or ""
    return _text(item)


def _evidence(value: Any) -> Any:
    """Return a value as JSON of bounded size; of a dataset or column, its urn or name."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_item(item) for item in value[:EVIDENCE_ITEMS_MAX]]
    return value
