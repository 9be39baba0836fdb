"""Policies on the changes of a branch: what the gate asks of them, and what they answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from headwater.errors import HeadwaterError
from headwater.gate.changes import Problem
from headwater.gate.resolve_datasets import DatasetChange
from headwater.governance.policies.files import PolicyFile

BLOCK, WARN = "block", "warn"
# What each change of a dataset is for policies. A new column takes nothing from anybody.
_ACTIONS = {
    "table_drop": "drop",
    "table_rename": "drop",
    "job_delete": "delete",
    "column_drop": "change",
    "column_rename": "change",
    "column_type_change": "change",
    "semantics_change": "change",
}


@dataclass(frozen=True)
class ProposedAction:
    """An action of the branch on a node, with the first change that it comes from.

    columns: the columns that it removes or changes; empty for the whole node.
    """

    urn: str
    action: str
    columns: tuple[str, ...]
    change: DatasetChange


@dataclass(frozen=True)
class PolicyBreach:
    """A policy that an action violates, or that cannot be assessed for the reason in `unknown`."""

    policy: str
    urn: str
    severity: str
    enforce: str
    message: str
    unknown: str = ""
    owners: tuple[str, ...] = ()
    file: str = ""
    line: int = 0

    @property
    def is_refusal(self) -> bool:
        """Return True if the branch fails for it."""
        return self.enforce == BLOCK and not self.unknown


class PolicyApi(Protocol):
    """An API that evaluates files of policies on a proposed action."""

    def breaches(
        self, files: tuple[PolicyFile, ...], action: ProposedAction
    ) -> tuple[PolicyBreach, ...]: ...


def proposed_actions(changes: Iterable[DatasetChange]) -> list[ProposedAction]:
    """Return the actions of a branch, those on columns of one dataset as one action."""
    actions: dict[tuple[str, str], ProposedAction] = {}
    for one in changes:
        action = _ACTIONS.get(one.change["type"])
        if action is None:
            continue
        urn = one.change["urn"]
        column = one.change.get("column") or one.change.get("from")
        columns = (column,) if action == "change" and column else ()
        earlier = actions.get((urn, action))
        if earlier is not None:
            is_whole = not columns or not earlier.columns
            both = () if is_whole else tuple(dict.fromkeys((*earlier.columns, *columns)))
            actions[urn, action] = ProposedAction(urn, action, both, earlier.change)
        else:
            actions[urn, action] = ProposedAction(urn, action, columns, one)
    return list(actions.values())


def evaluate_policies(
    files: tuple[PolicyFile, ...], changes: Iterable[DatasetChange], api: PolicyApi
) -> tuple[list[PolicyBreach], list[Problem]]:
    """Return the violated policies, and why others that block cannot be assessed."""
    found: list[PolicyBreach] = []
    problems: list[Problem] = []
    for action in proposed_actions(changes):
        source = action.change.source
        try:
            some = api.breaches(files, action)
        except HeadwaterError as error:
            parts = [part.rstrip(".") for part in (error.message, error.hint) if part]
            problems.append(Problem("", f"policies: {'. '.join(parts)}"))
            return found, problems
        found += some
        for one in some:
            if one.unknown and one.enforce == BLOCK:
                message = f"{source.table}: policy {one.policy}: {one.unknown}"
                problems.append(Problem(source.file, message, source.line))
    return found, problems
