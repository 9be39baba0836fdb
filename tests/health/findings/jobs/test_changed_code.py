"""Histories of code, with the episodes that follow: each run has a hash and perhaps a version."""

from __future__ import annotations

import pytest

from headwater.health.findings.jobs.changed_code import detect_changed_code
from headwater.health.findings.jobs.history import JobHistory, ParentFact, RunFact
from tests.health.findings.jobs.builders import DAY, Row, job, moment, rows, run


def running(*codes: str) -> list[RunFact]:
    """Return one complete run a day: `a1` has the hash a and the version 1; `a` has no version."""
    return [
        run(
            f"d{day}",
            day * DAY,
            code_hash=code[:1] or None,
            code_version=code[1:] or None,
        )
        for day, code in enumerate(codes)
    ]


def episodes(history: JobHistory) -> list[Row]:
    return rows(detect_changed_code(history))


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        # No version is declared, or the same one.
        (running("a", "a", "a", "b"), [("run:d3", 3 * DAY + 5, None, None)]),
        (running("a1", "a1", "a1", "b1"), [("run:d3", 3 * DAY + 5, None, None)]),
        (
            running("a1", "a1", "a1", "b1", "a1"),
            [("run:d3", 3 * DAY + 5, 4 * DAY + 5, "run:d4")],
        ),
        (
            running("a", "a", "a", "b", "b", "b", "b"),
            [("run:d3", 3 * DAY + 5, 5 * DAY + 5, "run:d5")],
        ),
        # A run without a hash is passed over.
        (running("a", "a", "", "a", "b"), [("run:d4", 4 * DAY + 5, None, None)]),
    ],
)
def test_changed_code(runs: list[RunFact], expected: list[Row]) -> None:
    assert episodes(job(runs)) == expected


@pytest.mark.parametrize(
    "runs",
    [
        running("a1", "a1", "a1", "a1"),
        # A release: the version says so.
        running("a1", "a1", "a1", "b2"),
        running("a", "a", "a", "b1"),
        # SQL with the date in it.
        running(*"abcdefgh"),
        running("a", "a", "b"),
        # MERGE and UPDATE of one table are runs of one job.
        [
            run(f"{day}{code}", day * DAY, code_hash=code, execution=f"run:{day}")
            for day in range(5)
            for code in "ab"
        ],
        # A query within a task that reports its code itself.
        [
            run(f"d{day}", day * DAY, code_hash=code, parent=ParentFact("COMPLETE", code_hash="x"))
            for day, code in enumerate("aaab")
        ],
    ],
)
def test_no_changed_code(runs: list[RunFact]) -> None:
    assert episodes(job(runs)) == []


def test_the_evidence() -> None:
    [found] = detect_changed_code(job(running("a1", "a1", "a1", "b1")))
    assert found.last_seen == moment(3 * DAY + 5)
    assert found.evidence == {
        "run": "run:d3",
        "previousRun": "run:d2",
        "before": ["a"],
        "after": ["b"],
        "version": "1",
    }
