"""The gate on a real git repository, with a catalog in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headwater.errors import UnavailableError
from headwater.gate import run as module
from headwater.gate.policies import PolicyBreach, ProposedAction
from headwater.gate.resolve_datasets import DatasetChange, DatasetInfo, SearchHit
from headwater.gate.run import GateRequest, run_gate
from headwater.gate.verdict import BREAKING, Affected, Report
from headwater.governance.policies.files import PolicyFile
from headwater.schema.urns import dataset_urn
from tests.gate.repositories import GitRepository

URN = dataset_urn("db", "shop.m")
FILES = (PolicyFile("p.yaml", "name: kept"),)


class MemoryApi:
    """One dataset `shop.m`, whose column b a job reads."""

    def __init__(self, *gaps: str, error: str = "") -> None:
        self.gaps = list(gaps)
        self.error = error
        self.actions: list[tuple[str, str, tuple[str, ...]]] = []
        self.found: tuple[PolicyBreach, ...] = ()

    def search_datasets(self, text: str) -> tuple[list[SearchHit], bool]:
        return [SearchHit(URN, "db", "shop.m")] if text == "m" else [], False

    def dataset_info(self, urn: str) -> DatasetInfo:
        assert urn == URN
        return DatasetInfo(("a", "b"))

    def impact(self, change: DatasetChange) -> tuple[tuple[Affected, ...], list[str]]:
        if self.error:
            raise UnavailableError(self.error, hint="Start it.")
        reader = Affected("job:etl:board", "JOB", "board", BREAKING, ("b",))
        return ((reader,) if change.change.get("column") == "b" else ()), self.gaps

    def breaches(
        self, files: tuple[PolicyFile, ...], action: ProposedAction
    ) -> tuple[PolicyBreach, ...]:
        assert files == FILES
        self.actions.append((action.urn, action.action, action.columns))
        return self.found


def gate(folder: Path, files: dict[str, str | bytes], api: MemoryApi, **more: Any) -> Report:
    repository = GitRepository(folder / "r", {"models/m.sql": "select a, b from t"})
    repository.branch(files)
    return run_gate(GateRequest(repository.folder, "main", **more), api)


def test_a_dropped_column_that_is_read_fails(tmp_path: Path) -> None:
    report = gate(tmp_path, {"models/m.sql": "select a from t"}, MemoryApi())
    assert (report.verdict, report.exit_code) == ("failed", 1)
    assert [one.name for one in report.affected] == ["board"]
    assert report.files == ("models/m.sql",)


def test_a_branch_without_table_changes_passes(tmp_path: Path) -> None:
    report = gate(tmp_path, {"README.md": "new"}, MemoryApi())
    assert (report.verdict, report.assessed, report.files) == ("passed", (), ())


def test_a_gap_in_the_impact_blocks(tmp_path: Path) -> None:
    report = gate(tmp_path, {"models/m.sql": "select b from t"}, MemoryApi("time was up"))
    assert report.verdict == "blocked"
    assert [one.message for one in report.problems] == ["m: time was up"]


def test_an_error_of_the_api_blocks_with_its_hint(tmp_path: Path) -> None:
    api = MemoryApi(error="nobody answers")
    report = gate(tmp_path, {"models/m.sql": "select b from t"}, api)
    assert (report.verdict, report.problems[0].message) == ("blocked", "nobody answers. Start it")


def test_a_new_table_passes(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"ddl/n.sql": "drop table n; create table n (a int);"}
    report = gate(tmp_path, files, MemoryApi())
    assert (report.verdict, report.new_tables) == ("passed", ("n",))


def test_too_many_changes_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHANGES_MAX", 1)
    report = gate(tmp_path, {"models/m.sql": "select c from t"}, MemoryApi())
    assert report.problems[0].message == "the branch has 3 changes, more than 1"


def test_a_folder_without_a_repository_blocks(tmp_path: Path) -> None:
    report = run_gate(GateRequest(tmp_path, "main"), MemoryApi())
    assert (report.verdict, len(report.problems)) == ("blocked", 1)


def test_a_violated_policy_that_blocks_fails_the_branch(tmp_path: Path) -> None:
    api = MemoryApi()
    api.found = (PolicyBreach("kept", URN, "P1", "block", "m is frozen"),)
    report = gate(tmp_path, {"models/m.sql": "select b from t"}, api, policies=FILES)
    assert api.actions == [(URN, "change", ("a",))]
    assert (report.reasons, report.exit_code) == (["violated policies: kept"], 1)
    assert report.approvals_needed == [(URN, "kept")]


def test_policies_are_asked_only_with_files_and_changes(tmp_path: Path) -> None:
    api = MemoryApi()
    api.found = (PolicyBreach("kept", URN, "P1", "block", "m is frozen"),)
    assert gate(tmp_path, {"models/m.sql": "select b from t"}, api).exit_code == 0
    assert gate(tmp_path / "x", {"README.md": "new"}, api, policies=FILES).exit_code == 0
    assert api.actions == []


def test_a_policy_that_cannot_be_assessed_blocks(tmp_path: Path) -> None:
    api = MemoryApi()
    api.found = (PolicyBreach("kept", URN, "P1", "block", "", unknown="its age is unknown"),)
    report = gate(tmp_path, {"models/m.sql": "select b from t"}, api, policies=FILES)
    assert (report.verdict, report.exit_code) == ("blocked", 2)
    assert [one.message for one in report.problems] == ["m: policy kept: its age is unknown"]
