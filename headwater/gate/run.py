"""The gate from end to end: git, files, datasets, the API, a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from headwater.errors import HeadwaterError
from headwater.gate.branch_fixes import BranchFixes
from headwater.gate.changes import ENDINGS, Problem, find_changes
from headwater.gate.repository import Repository
from headwater.gate.resolve_datasets import DatasetChange, DatasetResolver, Graph, ResolutionOptions
from headwater.gate.verdict import Affected, AssessedChange, Report

CHANGES_MAX = 500


class GateClient(Graph, Protocol):
    """Whoever can also be asked what a change affects."""

    def impact(self, asked: DatasetChange) -> tuple[tuple[Affected, ...], list[str]]: ...


@dataclass(frozen=True)
class GateRequest:
    """What to judge: the branch that the working tree is on against `base`."""

    folder: Path
    base: str
    dialect: str = ""
    names: ResolutionOptions = field(default_factory=ResolutionOptions)
    downstream_max: int = 5
    allowed: str = ""


def run_gate(
    question: GateRequest, api: GateClient, *, told: Callable[[str], None] = lambda _: None
) -> Report:
    """The report. What goes wrong is part of it, as a problem that blocks; `told` hears how far it is."""
    report = Report(question.base, downstream_max=question.downstream_max, allowed=question.allowed)
    try:
        return _judged(question, api, report, told)
    except HeadwaterError as error:
        return replace(report, problems=(_problem(error),))


def _judged(
    question: GateRequest, api: GateClient, report: Report, told: Callable[[str], None]
) -> Report:
    repository = Repository(question.folder)
    changes = repository.changes(repository.fork_point(question.base), ENDINGS)
    told(f"files changed that may tell of tables: {len(changes)}")
    found = find_changes(changes, question.dialect)
    report = replace(report, files=tuple(found.files), problems=tuple(found.problems))
    if not found.deltas:
        return report
    told(f"changes to look up: {len(found.deltas)}")
    try:
        asked, problems, new = DatasetResolver(api, question.names).changes(found.deltas)
        report = replace(report, problems=(*report.problems, *problems), new=tuple(new))
        if len(asked) > CHANGES_MAX:
            problem = Problem(
                "",
                f"{len(asked)} changes are more than the {CHANGES_MAX} that are assessed at once",
            )
            return replace(report, problems=(*report.problems, problem))
        resolved = BranchFixes(asked, {change.after_path: change.after for change in changes})
        for number, one in enumerate(asked, 1):
            told(f"asking what it affects: {number} of {len(asked)}")
            report = _assessed(report, one, api, resolved)
    except HeadwaterError as error:
        report = replace(report, problems=(*report.problems, _problem(error)))
    return report


def _problem(error: HeadwaterError) -> Problem:
    return Problem("", ". ".join(part.rstrip(".") for part in (error.message, error.hint) if part))


def _assessed(report: Report, one: DatasetChange, api: GateClient, resolved: BranchFixes) -> Report:
    affected, untold = api.impact(one)
    affected = resolved.apply(one, affected)
    delta = one.delta
    problems = [Problem(delta.file, f"{delta.relation}: {why}", delta.line) for why in untold]
    return replace(
        report,
        judged=(*report.judged, AssessedChange(one, affected)),
        problems=tuple(dict.fromkeys((*report.problems, *problems))),
    )
