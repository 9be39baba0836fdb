"""The gate from end to end: git, files, datasets, the API, a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from headwater.code_analysis.definitions import ENDINGS
from headwater.errors import HeadwaterError
from headwater.gate.branch_fixes import BranchFixes
from headwater.gate.changes import Problem, find_changes
from headwater.gate.policies import PolicyApi, evaluate_policies
from headwater.gate.repository import FileChange, Repository
from headwater.gate.resolve_datasets import (
    DatasetCatalog,
    DatasetChange,
    DatasetResolver,
    ResolutionOptions,
)
from headwater.gate.verdict import Affected, AssessedChange, Report
from headwater.governance.policies.files import PolicyFile

CHANGES_MAX = 500


class ImpactApi(DatasetCatalog, PolicyApi, Protocol):
    """A catalog that can also assess the impact of a change, and policies on it."""

    def impact(self, change: DatasetChange) -> tuple[tuple[Affected, ...], list[str]]: ...


@dataclass(frozen=True)
class GateRequest:
    """The branch to assess, which is the working tree of `folder`, against `base`.

    policies: the files of the policies that the changes must keep; empty for none."""

    folder: Path
    base: str
    dialect: str = ""
    options: ResolutionOptions = field(default_factory=ResolutionOptions)
    downstream_max: int = 5
    allow_reason: str = ""
    allows_unknown: bool = False
    policies: tuple[PolicyFile, ...] = ()


def run_gate(
    request: GateRequest, api: ImpactApi, *, on_progress: Callable[[str], None] = lambda _: None
) -> Report:
    """Return the report on a branch.

    Errors are problems in it, which block. `on_progress` gets status lines."""
    report = Report(
        request.base,
        downstream_max=request.downstream_max,
        allow_reason=request.allow_reason,
        allows_unknown=request.allows_unknown,
    )
    try:
        repository = Repository(request.folder)
        files = repository.changes(repository.fork_point(request.base), ENDINGS)
        on_progress(f"changed files that may define tables: {len(files)}")
        table_changes = find_changes(files, request.dialect)
    except HeadwaterError as error:
        return _with_problems(report, [_problem_of(error)])
    report = replace(
        report, files=tuple(table_changes.files), problems=tuple(table_changes.problems)
    )
    if not table_changes.changes:
        return report
    on_progress(f"table changes to look up: {len(table_changes.changes)}")
    try:
        resolved = DatasetResolver(api, request.options).resolve(table_changes.changes)
        report = replace(report, new_tables=tuple(resolved.new_tables))
        report = _with_problems(report, resolved.problems)
    except HeadwaterError as error:
        return _with_problems(report, [_problem_of(error)])
    if len(resolved.changes) > CHANGES_MAX:
        message = f"the branch has {len(resolved.changes)} changes, more than {CHANGES_MAX}"
        return _with_problems(report, [Problem("", message)])
    report = _assess_changes(report, resolved.changes, files, api, on_progress)
    if request.policies:
        on_progress(f"files of policies to evaluate: {len(request.policies)}")
        breaches, problems = evaluate_policies(request.policies, resolved.changes, api)
        report = replace(report, breaches=tuple(breaches))
        report = _with_problems(report, problems)
    return report


def _assess_changes(
    report: Report,
    changes: Sequence[DatasetChange],
    files: Sequence[FileChange],
    api: ImpactApi,
    on_progress: Callable[[str], None],
) -> Report:
    """Add the impact of each change. The first error of the API ends the assessment."""
    fixes = BranchFixes(changes, {file.after_path: file.after for file in files})
    for number, change in enumerate(changes, 1):
        on_progress(f"assessing change {number} of {len(changes)}")
        try:
            affected, gaps = api.impact(change)
        except HeadwaterError as error:
            return _with_problems(report, [_problem_of(error)])
        assessed = AssessedChange(change, fixes.apply(change, affected))
        report = replace(report, assessed=(*report.assessed, assessed))
        source = change.source
        problems = [Problem(source.file, f"{source.table}: {gap}", source.line) for gap in gaps]
        report = _with_problems(report, problems)
    return report


def _with_problems(report: Report, problems: Sequence[Problem]) -> Report:
    """Return the report with more problems, each once."""
    return replace(report, problems=tuple(dict.fromkeys((*report.problems, *problems))))


def _problem_of(error: HeadwaterError) -> Problem:
    parts = [part.rstrip(".") for part in (error.message, error.hint) if part]
    return Problem("", ". ".join(parts))
