"""The examples in files of policies: variables as they are written, and what they give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headwater.governance.policies.evaluate import evaluate
from headwater.governance.policies.models import (
    Approval,
    Facts,
    Policy,
    PolicyCase,
    PolicyError,
    PolicySet,
)
from headwater.governance.policies.ready_made import nearest
from headwater.governance.policies.variables import VARIABLES, Variable

VIOLATED, FINE, UNKNOWN = "violated", "fine", "unknown"


@dataclass(frozen=True)
class CaseResult:
    """What an example gives; it passes if that is what it expects."""

    policy: str
    case: PolicyCase
    outcome: str
    message: str

    @property
    def passes(self) -> bool:
        """Return True if the example gives what it expects."""
        return self.outcome == self.case.expected


def case_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of an example, written as `node.urn: x` or as `node: {urn: x}`.

    Raises:
        PolicyError: A variable is unknown, or its value is of another type.
    """
    return dict(_variables(given, ""))


def run_cases(policies: PolicySet, now: datetime) -> list[CaseResult]:
    """Return what the examples of all policies give; an example without an instant has `now`."""
    return [
        _run(policy, case, case.instant or now)
        for policy in policies.policies
        for case in policy.cases
    ]


def _run(policy: Policy, case: PolicyCase, instant: datetime) -> CaseResult:
    approvals = (Approval(policy.name, "the example"),) if case.values.get("approved") else ()
    values = {"change.action": "", **case.values}
    urn = str(values.get("node.urn", "dataset:example:example"))
    facts = Facts(urn, policy.subjects, values, approvals)
    found = evaluate([policy], facts, instant)
    if not found:
        return CaseResult(policy.name, case, FINE, "")
    one = found[0]
    outcome = UNKNOWN if one.unknown else VIOLATED
    return CaseResult(policy.name, case, outcome, one.unknown or one.message)


def _variables(given: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in given.items():
        name = f"{prefix}{key}"
        if name in VARIABLES:
            yield name, _typed(VARIABLES[name], value)
        elif isinstance(value, Mapping) and not prefix:
            yield from _variables(value, f"{name}.")
        else:
            raise PolicyError(f"{name[:80]} is no variable{nearest(name, VARIABLES)}")


def _typed(variable: Variable, value: Any) -> Any:
    if variable.type == "timestamp" and isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            raise PolicyError(f"{variable.name} is no time; write ISO 8601") from None
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    is_right = {
        "string": isinstance(value, str),
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool),
        "list(string)": _is_list_of(value, str),
        "list(map)": _is_list_of(value, dict),
    }
    if not is_right.get(variable.type, False):
        raise PolicyError(f"{variable.name} must be a {variable.type}")
    return value


def _is_list_of(value: Any, type: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, type) for item in value)
