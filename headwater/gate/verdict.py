"""The verdict of the gate: what is affected, why it fails, what it could not assess."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.gate.changes import Problem
from headwater.gate.resolve_datasets import DatasetChange

PASSED, FAILED, BLOCKED = "passed", "failed", "blocked"
_EXIT_CODES = {PASSED: 0, FAILED: 1, BLOCKED: 2}
BREAKING, WARNING = "breaking", "warning"


@dataclass(frozen=True)
class Affected:
    """Something downstream that a change affects, with what shows it."""

    urn: str
    kind: str
    name: str
    severity: str
    references: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    is_certified: bool = False
    owners: tuple[str, ...] = ()
    # The datasets it makes, by urn.
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class AssessedChange:
    """A change and all that it affects."""

    asked: DatasetChange
    affected: tuple[Affected, ...] = ()

    @property
    def is_breaking(self) -> bool:
        return any(one.severity == BREAKING for one in self.affected)

    @property
    def words(self) -> str:
        return in_words(self.asked.change)


@dataclass(frozen=True)
class Finding:
    """One line of the report in the terms that tools for code share. `level`: error, warning or note."""

    level: str
    rule: str
    message: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Report:
    """All that the gate found. `allowed` is the reason for which it is let through all the same."""

    base: str
    files: tuple[str, ...] = ()
    judged: tuple[AssessedChange, ...] = ()
    problems: tuple[Problem, ...] = ()
    new: tuple[str, ...] = ()
    downstream_max: int = 5
    allowed: str = ""
    url: str = field(default="", compare=False)

    @property
    def affected(self) -> list[Affected]:
        """Everything affected once, at its worst, breaking first."""
        worst: dict[str, Affected] = {}
        for one in (one for judged in self.judged for one in judged.affected):
            known = worst.get(one.urn)
            if known is None or (known.severity != BREAKING and one.severity == BREAKING):
                worst[one.urn] = one
        return sorted(
            worst.values(), key=lambda one: (one.severity != BREAKING, one.kind, one.name, one.urn)
        )

    @property
    def certified(self) -> list[str]:
        """Certified assets that are affected, or that change themselves by more than a column they gain."""
        changed = {
            j.asked.urn: j.asked.delta.relation
            for j in self.judged
            if j.asked.is_certified and not _adds(j)
        }
        return sorted({*(one.name for one in self.affected if one.is_certified), *changed.values()})

    @property
    def reasons(self) -> list[str]:
        """Why it fails."""
        broken = [one for one in self.affected if one.severity == BREAKING]
        found = []
        if broken:
            found.append(f"{_count(len(broken), 'asset')} downstream would break")
        if len(self.affected) > self.downstream_max:
            affected = _count(len(self.affected), "asset")
            found.append(
                f"{affected} downstream are affected, more than the {self.downstream_max} that may be"
            )
        if self.certified:
            found.append(f"certified: {', '.join(self.certified)}")
        return found

    @property
    def judgement(self) -> str:
        """What it comes to, before anything is allowed."""
        return FAILED if self.reasons else BLOCKED if self.problems else PASSED

    @property
    def exit_code(self) -> int:
        return 0 if self.allowed else _EXIT_CODES[self.judgement]

    @property
    def title(self) -> str:
        said = {
            PASSED: "nothing downstream breaks"
            if self.judged
            else "nothing that lineage knows changes",
            FAILED: "; ".join(self.reasons),
            BLOCKED: self._untold,
        }[self.judgement]
        return f"{self.judgement}: {said}" + (f" (allowed: {self.allowed})" if self.allowed else "")

    @property
    def _untold(self) -> str:
        whole = next((one.message for one in self.problems if not one.file), "")
        return (
            f"it cannot be assessed: {whole}"
            if whole
            else f"{_count(len(self.problems), 'place')} cannot be assessed"
        )

    @property
    def findings(self) -> list[Finding]:
        """What is wrong or worth knowing, where it stands in the code."""
        found = [_of_change(judged) for judged in self.judged]
        found += [
            Finding("error", "not-assessed", one.message, one.file, one.line)
            for one in self.problems
        ]
        first = next((judged.asked.delta for judged in self.judged), None)
        where = (first.file, first.line) if first else ("", 0)
        if len(self.affected) > self.downstream_max:
            found.append(
                Finding(
                    "error",
                    "too-many-downstream",
                    self.reasons[-2 if self.certified else -1],
                    *where,
                )
            )
        if self.certified:
            found.append(
                Finding(
                    "error", "certified-affected", f"certified: {', '.join(self.certified)}", *where
                )
            )
        return found


def _adds(judged: AssessedChange) -> bool:
    return bool(judged.asked.change["type"] == "column_add")


def _of_change(judged: AssessedChange) -> Finding:
    delta = judged.asked.delta
    broken = [one.name for one in judged.affected if one.severity == BREAKING]
    read = [one.name for one in judged.affected if one.severity != BREAKING]
    said = [f"breaks {_listed(broken)}"] if broken else []
    said += [f"may affect {_listed(read)}"] if read else []
    message = f"{delta.relation}: {judged.words}" + (
        f": {', '.join(said)}" if said else ", nothing downstream reads it"
    )
    level, rule = (
        ("error", "breaking-change")
        if broken
        else ("warning", "affected")
        if read
        else ("note", "change")
    )
    return Finding(level, rule, message, delta.file, delta.line)


def _listed(names: Sequence[str], most: int = 5) -> str:
    unique = sorted(set(names))
    rest = len(unique) - most
    return ", ".join(unique[:most]) + (f" and {rest} more" if rest > 0 else "")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")


def in_words(change: Any) -> str:
    """A change as people say it."""
    kind, column, to = change["type"], change.get("column"), change.get("to")
    why = f" ({change['description']})" if change.get("description") else ""
    return {
        "column_drop": f"column {column} is dropped",
        "column_rename": f"column {change.get('from')} is renamed to {to}",
        "column_type_change": f"column {column} changes its type"
        + (f" from {change['from']}" if change.get("from") else "")
        + f" to {to}",
        "column_add": f"column {column} is added"
        + ("" if change.get("nullable", True) else ", never null"),
        "table_drop": "it is dropped",
        "table_rename": f"it is renamed to {to}",
        "job_delete": "what makes it is deleted",
        "semantics_change": (
            f"column {column} means something else" if column else "its rows mean something else"
        )
        + why,
    }[kind]


def report_json(report: Report) -> dict[str, Any]:
    """The report for programs."""
    return {
        "verdict": report.judgement,
        "exitCode": report.exit_code,
        "reasons": report.reasons,
        "allowed": report.allowed or None,
        "base": report.base,
        "files": list(report.files),
        "new": list(report.new),
        "changes": [_change_json(judged) for judged in report.judged],
        "problems": [
            {"file": one.file, "line": one.line or None, "message": one.message}
            for one in report.problems
        ],
        "affected": [_affected_json(one) for one in report.affected],
        "certified": report.certified,
        "maxDownstream": report.downstream_max,
    }


def _change_json(judged: AssessedChange) -> dict[str, Any]:
    delta = judged.asked.delta
    return {
        "file": delta.file,
        "line": delta.line,
        "table": delta.relation,
        "dataset": judged.asked.urn,
        "change": dict(judged.asked.change),
        "affected": _by_severity(judged.affected),
    }


def _by_severity(affected: Iterable[Affected]) -> list[dict[str, str]]:
    return [{"urn": one.urn, "severity": one.severity} for one in affected]


def _affected_json(one: Affected) -> dict[str, Any]:
    return {
        "urn": one.urn,
        "kind": one.kind,
        "name": one.name,
        "severity": one.severity,
        "references": list(one.references),
        "evidence": list(one.evidence),
        "certified": one.is_certified,
        "owners": list(one.owners),
    }
