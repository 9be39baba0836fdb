"""The violations of runs, versions and checks, each worked out by hand."""

from __future__ import annotations

from typing import Any

from headwater.evidence.violations import find_violations


def check(**properties: Any) -> dict[str, Any]:
    defaults = {"urn": "d", "name": "unique", "column": None, "success": False, "reportedAt": 5}
    return {**defaults, "expected": None, "actual": None, **properties}


def test_successful_nodes_violate_nothing() -> None:
    assert (
        find_violations(
            [{"urn": "r", "status": "COMPLETE"}],
            [{"urn": "v", "complete": True, "drift": []}],
            [check(success=True)],
        )
        == []
    )


def test_failed_and_aborted_runs_give_their_error() -> None:
    runs = [
        {"urn": "r2", "status": "ABORT", "startedAt": 1},
        {"urn": "r1", "status": "FAIL", "failedAt": 3, "startedAt": 1, "error": "disk full"},
    ]
    assert find_violations(runs, [], []) == [
        {"kind": "ABORTED_RUN", "urn": "r2", "at": 1, "detail": "no reason was sent"},
        {"kind": "FAILED_RUN", "urn": "r1", "at": 3, "detail": "disk full"},
    ]


def test_failed_tests_are_named_or_counted() -> None:
    runs = [
        {"urn": "r1", "status": "COMPLETE", "finishedAt": 2, "failedTests": ["a", "b"]},
        {"urn": "r2", "status": "COMPLETE", "finishedAt": 2, "testsFailed": 4},
    ]
    assert [entry["detail"] for entry in find_violations(runs, [], [])] == ["a, b", "4 tests"]


def test_drift_and_incomplete_versions() -> None:
    row = {"urn": "v", "createdAt": 7, "drift": ["+a", "-b"], "complete": False, "status": "FAIL"}
    assert find_violations([], [row], []) == [
        {"kind": "PARTIAL_VERSION", "urn": "v", "at": 7, "detail": "its run is FAIL"},
        {"kind": "SCHEMA_DRIFT", "urn": "v", "at": 7, "detail": "+a; -b"},
    ]


def test_failed_check_names_the_column_and_the_values() -> None:
    checks = [check(), check(column="id", actual="3", expected="0")]
    assert [entry["detail"] for entry in find_violations([], [], checks)] == [
        "unique",
        "unique of id: 3, not 0",
    ]
