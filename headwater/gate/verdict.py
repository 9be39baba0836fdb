"""The verdict of the gate: affected assets, reasons to fail, and problems that block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.gate.changes import Problem
from headwater.gate.policies import BLOCK, WARN, PolicyBreach
from headwater.gate.resolve_datasets import DatasetChange, GateApproval

PASSED, FAILED, BLOCKED = "passed", "failed", "blocked"
_EXIT_CODES = {PASSED: 0, FAILED: 1, BLOCKED: 2}
BREAKING, UNKNOWN, WARNING = "breaking", "unknown", "warning"
# What a steward approves for a changed dataset: the rules of the findings that fail.
BREAKING_CHANGE, TOO_MANY = "breaking-change", "too-many-downstream"
CERTIFIED_AFFECTED = "certified-affected"
POLICY_VIOLATED = "policy-violated"
APPROVABLE = (BREAKING_CHANGE, TOO_MANY, CERTIFIED_AFFECTED)
_SEVERITY_ORDER = (BREAKING, UNKNOWN, WARNING)


@dataclass(frozen=True)
class Affected:
    """An asset downstream that a change affects, with its evidence.

    `outputs` are the datasets it makes, by urn."""

    urn: str
    kind: str
    name: str
    severity: str
    references: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    is_certified: bool = False
    owners: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class AssessedChange:
    """A change and everything it affects."""

    change: DatasetChange
    affected: tuple[Affected, ...] = ()

    @property
    def description(self) -> str:
        """Return the change as a sentence."""
        return describe(self.change.change)

    def is_approved(self, policy: str) -> bool:
        """Return True if a person approved changes of this dataset under a policy."""
        return any(one.policy == policy for one in self.change.approvals)

    def names(self, *severities: str) -> list[str]:
        """Return the names of the assets that the change affects with one of these severities."""
        return [asset.name for asset in self.affected if asset.severity in severities]


@dataclass(frozen=True)
class Finding:
    """One line of the report, in the terms of code scanning. `level`: error, warning or note."""

    level: str
    rule: str
    message: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Report:
    """The result of the gate.

    new_tables: tables that the branch creates, which nothing reads.
    downstream_max: the number of affected assets from which the gate does not fail yet.
    allow_reason: the reason why the branch passes in spite of the verdict.
    allows_unknown: True if an asset whose code is not known does not block.
    breaches: the policies that the changes violate, or that cannot be assessed."""

    base: str
    files: tuple[str, ...] = ()
    assessed: tuple[AssessedChange, ...] = ()
    problems: tuple[Problem, ...] = ()
    new_tables: tuple[str, ...] = ()
    downstream_max: int = 5
    allow_reason: str = ""
    allows_unknown: bool = False
    breaches: tuple[PolicyBreach, ...] = ()

    @property
    def affected(self) -> list[Affected]:
        """Return each affected asset once, at its worst severity, breaking ones first."""
        return _worst(self.assessed)

    @property
    def unassessed(self) -> list[str]:
        """Return the names of the assets that block because their code is not known."""
        if self.allows_unknown:
            return []
        return [asset.name for asset in self.affected if asset.severity == UNKNOWN]

    @property
    def certified_assets(self) -> list[str]:
        """Return certified assets that are affected, or that change by more than a new column."""
        return _certified(self.assessed)

    @property
    def reasons(self) -> list[str]:
        """Return the reasons why the gate fails, without those that people approved."""
        unapproved = _worst(self._without(BREAKING_CHANGE))
        breaking_count = sum(asset.severity == BREAKING for asset in unapproved)
        reasons = []
        if breaking_count:
            reasons.append(f"{_count(breaking_count, 'asset')} downstream would break")
        if self._excess:
            reasons.append(self._excess)
        if certified := _certified(self._without(CERTIFIED_AFFECTED)):
            reasons.append(f"certified: {', '.join(certified)}")
        if refused := sorted({one.policy for one in self.breaches if one.is_refusal}):
            reasons.append(f"violated policies: {', '.join(refused)}")
        return reasons

    def _without(self, policy: str) -> list[AssessedChange]:
        """Return the changes that nobody approved under a policy."""
        return [one for one in self.assessed if not one.is_approved(policy)]

    @property
    def approvals(self) -> list[tuple[str, GateApproval]]:
        """Return the approvals of the changed datasets, each with the urn of its dataset."""
        found: set[tuple[str, GateApproval]] = set()
        for one in self.assessed:
            for approval in one.change.approvals:
                if approval.policy in APPROVABLE:
                    found.add((one.change.urn, approval))
        return sorted(found, key=lambda pair: (pair[0], pair[1].policy))

    @property
    def approvals_needed(self) -> list[tuple[str, str]]:
        """Return the datasets and the policies whose approvals would let the branch pass."""
        needed = [
            (one.change.urn, BREAKING_CHANGE)
            for one in self._without(BREAKING_CHANGE)
            if one.names(BREAKING)
        ]
        if self._excess:
            needed += [
                (one.change.urn, TOO_MANY) for one in self._without(TOO_MANY) if one.affected
            ]
        needed += [
            (one.change.urn, CERTIFIED_AFFECTED)
            for one in self._without(CERTIFIED_AFFECTED)
            if _certified([one])
        ]
        needed += [(one.urn, one.policy) for one in self.breaches if one.is_refusal]
        return sorted(set(needed))

    @property
    def _excess(self) -> str:
        """Return the reason to fail for too many affected assets, or ""."""
        count = len(_worst(self._without(TOO_MANY)))
        if count <= self.downstream_max:
            return ""
        return f"{_count(count, 'asset')} downstream are affected, more than {self.downstream_max}"

    @property
    def verdict(self) -> str:
        """Return passed, failed or blocked, before `allow_reason` is considered."""
        if self.reasons:
            return FAILED
        return BLOCKED if self.problems or self.unassessed else PASSED

    @property
    def exit_code(self) -> int:
        return 0 if self.allow_reason else _EXIT_CODES[self.verdict]

    @property
    def title(self) -> str:
        """Return the verdict and its reason on one line."""
        if self.verdict == FAILED:
            reason = "; ".join(self.reasons)
        elif self.verdict == BLOCKED:
            reason = self._block_reason
        elif self.assessed:
            reason = "nothing downstream is shown to break"
            if all(one.severity != UNKNOWN for one in self.affected):
                reason = "nothing downstream breaks"
            if any(asset.severity == BREAKING for asset in self.affected):
                reason = "what breaks downstream is approved"
        else:
            reason = "no table in the lineage changes"
        allowed = f" (allowed: {self.allow_reason})" if self.allow_reason else ""
        return f"{self.verdict}: {reason}{allowed}"

    @property
    def _block_reason(self) -> str:
        general = next((problem.message for problem in self.problems if not problem.file), "")
        if general:
            return f"it cannot be assessed: {general}"
        if not self.problems:
            return f"the effect on {_join_names(self.unassessed)} is unknown"
        return f"{_count(len(self.problems), 'place')} cannot be assessed"

    @property
    def findings(self) -> list[Finding]:
        """Return the findings, each at its place in the code."""
        findings = [
            _finding_of(assessed, allows_unknown=self.allows_unknown) for assessed in self.assessed
        ]
        findings += [
            Finding("error", "not-assessed", problem.message, problem.file, problem.line)
            for problem in self.problems
        ]
        file, line = "", 0
        if self.assessed:
            first = self.assessed[0].change.source
            file, line = first.file, first.line
        if self._excess:
            findings.append(Finding("error", TOO_MANY, self._excess, file, line))
        if certified := _certified(self._without(CERTIFIED_AFFECTED)):
            message = f"certified: {', '.join(certified)}"
            findings.append(Finding("error", CERTIFIED_AFFECTED, message, file, line))
        findings += [_finding_of_breach(breach) for breach in self.breaches]
        findings += [
            Finding("note", "approved", describe_approval(urn, approval))
            for urn, approval in self.approvals
        ]
        return findings


def describe_approval(urn: str, approval: GateApproval) -> str:
    """Return an approval as a sentence: what, by whom, when, and why."""
    until = f", until {approval.until}" if approval.until else ""
    who = approval.by or "an unnamed key"
    return (
        f"{approval.policy} on {urn} is approved by {who} at {approval.at}{until}: "
        f"{approval.reason}"
    )


def _worst(some: Iterable[AssessedChange]) -> list[Affected]:
    """Return each affected asset once, at its worst severity, breaking ones first."""
    worst: dict[str, Affected] = {}
    for assessed in some:
        for asset in assessed.affected:
            previous = worst.get(asset.urn)
            if previous is None or _order(asset) < _order(previous):
                worst[asset.urn] = asset
    return sorted(
        worst.values(), key=lambda asset: (_order(asset), asset.kind, asset.name, asset.urn)
    )


def _certified(some: Iterable[AssessedChange]) -> list[str]:
    """Return certified assets that are affected, or that change by more than a new column."""
    names = set()
    for assessed in some:
        names |= {asset.name for asset in assessed.affected if asset.is_certified}
        change = assessed.change
        if change.is_certified and change.change["type"] != "column_add":
            names.add(change.source.table)
    return sorted(names)


def _finding_of(assessed: AssessedChange, *, allows_unknown: bool) -> Finding:
    source = assessed.change.source
    broken, unknown = assessed.names(BREAKING), assessed.names(UNKNOWN)
    read = assessed.names(WARNING)
    effects = [f"breaks {_join_names(broken)}"] if broken else []
    effects += [f"has an unknown effect on {_join_names(unknown)}"] if unknown else []
    effects += [f"may affect {_join_names(read)}"] if read else []
    message = f"{source.table}: {assessed.description}"
    message += f": {', '.join(effects)}" if effects else ", nothing downstream reads it"
    level, rule = "note", "change"
    if broken:
        is_approved = assessed.is_approved(BREAKING_CHANGE)
        level, rule = "warning" if is_approved else "error", BREAKING_CHANGE
    elif unknown and not allows_unknown:
        level, rule = "error", "not-assessed"
    elif unknown or read:
        level, rule = "warning", "affected"
    return Finding(level, rule, message, source.file, source.line)


def _finding_of_breach(breach: PolicyBreach) -> Finding:
    """Return a violated policy as an error if it blocks; the reason of an unknown one is in it."""
    level = {BLOCK: "error", WARN: "warning"}.get(breach.enforce, "note")
    reason = f"cannot be assessed: {breach.unknown}" if breach.unknown else breach.message
    message = f"policy {breach.policy}: {reason}"
    return Finding(level, POLICY_VIOLATED, message, breach.file, breach.line)


def _order(one: Affected) -> int:
    """Return the place of an asset by its severity, the worst first."""
    return _SEVERITY_ORDER.index(one.severity)


def _join_names(names: Sequence[str], limit: int = 5) -> str:
    unique = sorted(set(names))
    more = len(unique) - limit
    return ", ".join(unique[:limit]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")


def describe(change: Mapping[str, Any]) -> str:
    """Return a change as a sentence."""
    kind, column, to = change["type"], change.get("column"), change.get("to")
    before = f" from {change['from']}" if change.get("from") else ""
    reason = f" ({change['description']})" if change.get("description") else ""
    not_null = "" if change.get("nullable", True) else ", never null"
    subject = f"column {column} has" if column else "its rows have"
    return {
        "column_drop": f"column {column} is dropped",
        "column_rename": f"column {change.get('from')} is renamed to {to}",
        "column_type_change": f"column {column} changes its type{before} to {to}",
        "column_add": f"column {column} is added{not_null}",
        "table_drop": "it is dropped",
        "table_rename": f"it is renamed to {to}",
        "job_delete": "the job that makes it is deleted",
        "semantics_change": f"{subject} another meaning{reason}",
    }[kind]


def report_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON."""
    return {
        "verdict": report.verdict,
        "exitCode": report.exit_code,
        "reasons": report.reasons,
        "allowReason": report.allow_reason or None,
        "base": report.base,
        "files": list(report.files),
        "newTables": list(report.new_tables),
        "changes": [_change_json(assessed) for assessed in report.assessed],
        "problems": [
            {"file": problem.file, "line": problem.line or None, "message": problem.message}
            for problem in report.problems
        ],
        "affected": [_affected_json(asset) for asset in report.affected],
        "certifiedAssets": report.certified_assets,
        "maxDownstream": report.downstream_max,
        "unassessedAssets": report.unassessed,
        "approvals": [
            {
                "urn": urn,
                "policy": one.policy,
                "reason": one.reason,
                "by": one.by or None,
                "at": one.at or None,
                "until": one.until or None,
            }
            for urn, one in report.approvals
        ],
        "approvalsNeeded": [
            {"urn": urn, "policy": policy} for urn, policy in report.approvals_needed
        ],
        "policyViolations": [_breach_json(one) for one in report.breaches],
    }


def _change_json(assessed: AssessedChange) -> dict[str, Any]:
    source = assessed.change.source
    return {
        "file": source.file,
        "line": source.line,
        "table": source.table,
        "dataset": assessed.change.urn,
        "change": dict(assessed.change.change),
        "affected": _severities(assessed.affected),
    }


def _severities(affected: Iterable[Affected]) -> list[dict[str, str]]:
    return [{"urn": asset.urn, "severity": asset.severity} for asset in affected]


def _affected_json(asset: Affected) -> dict[str, Any]:
    return {
        "urn": asset.urn,
        "kind": asset.kind,
        "name": asset.name,
        "severity": asset.severity,
        "references": list(asset.references),
        "evidence": list(asset.evidence),
        "certified": asset.is_certified,
        "owners": list(asset.owners),
    }


def _breach_json(breach: PolicyBreach) -> dict[str, Any]:
    return {
        "policy": breach.policy,
        "urn": breach.urn,
        "severity": breach.severity,
        "enforce": breach.enforce,
        "message": breach.message,
        "unknown": breach.unknown or None,
        "owners": list(breach.owners),
        "file": breach.file or None,
        "line": breach.line or None,
    }
