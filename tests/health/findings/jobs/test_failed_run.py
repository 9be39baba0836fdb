"""Histories of failures, with the episodes that follow."""

from __future__ import annotations

import pytest

from headwater.health.findings.jobs.failed_run import detect_failed_runs
from headwater.health.findings.jobs.history import JobHistory, OutputFact, ParentFact
from tests.health.findings.jobs.builders import OUT, Row, job, moment, rows, run

X, Y = (OutputFact(f"dataset:db:{name}", readers=("job:etl:report",)) for name in "xy")
UNUSED = OutputFact("dataset:db:out")


def episodes(history: JobHistory) -> list[Row]:
    return rows(detect_failed_runs(history))


FAILED = run("b", 10, "FAIL")
WITH = [
    ("the newest run failed", job([run("a", 0), FAILED]), [("run:b", 15, None, None)]),
    ("the first run failed", job([FAILED]), [("run:b", 15, None, None)]),
    (
        "a retry succeeded",
        job([run("a", 0), FAILED, run("c", 20)]),
        [("run:b", 15, 25, "run:c")],
    ),
    (
        "a failed retry belongs to the same episode",
        job([run("a", 0), FAILED, run("c", 20, "FAIL"), run("d", 30)]),
        [("run:b", 15, 35, "run:d")],
    ),
    (
        "two failures with a success between are two",
        job([FAILED, run("c", 20), run("d", 30, "FAIL"), run("e", 40)]),
        [("run:b", 15, 25, "run:c"), ("run:d", 35, 45, "run:e")],
    ),
    (
        "an aborted run ends nothing",
        job([FAILED, run("c", 20, "ABORT"), run("d", 30, "ABANDONED")]),
        [("run:b", 15, None, None)],
    ),
    (
        "a backfill of an earlier day ends nothing",
        job([run("b", 10, "FAIL", nominal=1440), run("c", 20, nominal=0)]),
        [("run:b", 15, None, None)],
    ),
    (
        "a later day ends it",
        job([run("b", 10, "FAIL", nominal=0), run("c", 20, nominal=1440)]),
        [("run:b", 15, 25, "run:c")],
    ),
    (
        "a task repeats one of its mapped instances, not another one",
        job(
            [
                run("b0", 10, "FAIL", nominal=0, index=0),
                run("b1", 11, nominal=0, index=1),
                run("b0-again", 20, nominal=0, index=0),
            ]
        ),
        [("run:b0", 15, 25, "run:b0-again")],
    ),
    (
        "a run that names no output should write what the job writes",
        job([run("b", 10, "FAIL", writes=())]),
        [("run:b", 15, None, None)],
    ),
    (
        "a loop stops at its second table and writes it in the next round",
        job(
            [
                run("a1", 0, writes=["x"], execution="run:1"),
                run("a2", 1, writes=["y"], execution="run:1"),
                run("b1", 10, writes=["x"], execution="run:2"),
                run("b2", 15, "FAIL", writes=["y"], execution="run:2"),
                run("c1", 20, writes=["x"], execution="run:3"),
                run("c2", 30, writes=["y"], execution="run:3"),
            ],
            outputs=(X, Y),
        ),
        [("run:b2", 20, 35, "run:c2")],
    ),
    (
        "a job that no longer writes a table has recovered after two executions",
        job(
            [
                run("a", 0, writes=["x", "y"]),
                run("b", 10, "FAIL", writes=["x"]),
                run("c", 20, writes=["x"]),
                run("d", 30, writes=["x"]),
            ],
            outputs=(X, Y),
        ),
        [("run:b", 15, 35, "run:d")],
    ),
    (
        "a job that writes its tables in separate runs has recovered with the table that failed",
        job(
            [
                run("x1", 0, writes=["x"]),
                run("y1", 10, writes=["y"]),
                run("x2", 20, "FAIL", writes=["x"]),
                run("y2", 30, writes=["y"]),
                run("y3", 40, writes=["y"]),
                run("x3", 50, writes=["x"]),
            ],
            outputs=(X, Y),
        ),
        [("run:x2", 25, 55, "run:x3")],
    ),
    (
        "a job that writes another table since has recovered after two executions",
        job(
            [
                run("a", 0, writes=["x"]),
                run("b", 10, "FAIL", writes=["x"]),
                run("c", 20, writes=["y"]),
                run("d", 30, writes=["y"]),
            ],
            outputs=(X, Y),
        ),
        [("run:b", 15, 35, "run:d")],
    ),
    (
        "an answer that cites it counts as its use",
        job([FAILED], outputs=(OutputFact("dataset:db:out", answers=("answer:a",)),)),
        [("run:b", 15, None, None)],
    ),
    (
        "a certified output counts as used",
        job([FAILED], outputs=(OutputFact("dataset:db:out", tags=("certified=true",)),)),
        [("run:b", 15, None, None)],
    ),
    (
        "a query within a task whose datasets are others",
        job([run("b", 10, "FAIL", parent=ParentFact("FAIL", writes=("dataset:db:z",)))]),
        [("run:b", 15, None, None)],
    ),
]
WITHOUT = [
    (
        "nobody uses the table of a failed run, but the one of the run before",
        job(
            [
                run("x1", 0, writes=["out"]),
                run("y1", 10, writes=["y"]),
                run("x2", 20, "FAIL", writes=["out"]),
            ],
            outputs=(UNUSED, Y),
        ),
    ),
    ("nobody uses the output", job([FAILED], outputs=(UNUSED,))),
    ("it succeeded", job([run("a", 0), run("b", 10)])),
    ("a run that was aborted", job([run("a", 0), run("b", 10, "ABORT")])),
    ("a run under way", job([run("a", 0), run("b", 10, "RUNNING")])),
    ("a container without datasets", job([run("b", 10, "FAIL", writes=())], outputs=())),
    (
        "what is used had been written before the failure",
        job(
            [
                run("a1", 0, writes=["out"], execution="run:1"),
                run("a2", 1, "FAIL", writes=["other"], execution="run:1"),
            ]
        ),
    ),
    (
        "a query within a task that names the same datasets",
        job([run("b", 10, "FAIL", parent=ParentFact("FAIL", writes=("dataset:db:out",)))]),
    ),
    (
        "a query that failed within a task that succeeded after all",
        job([run("b", 10, "FAIL", parent=ParentFact("COMPLETE", writes=("dataset:db:out",)))]),
    ),
]


@pytest.mark.parametrize(
    ("history", "expected"), [row[1:] for row in WITH], ids=[r[0] for r in WITH]
)
def test_failures_that_others_feel(history: JobHistory, expected: list[Row]) -> None:
    assert episodes(history) == expected


@pytest.mark.parametrize("history", [row[1] for row in WITHOUT], ids=[row[0] for row in WITHOUT])
def test_no_failures(history: JobHistory) -> None:
    assert episodes(history) == []


def test_a_cut_history_keeps_the_beginning_of_its_first_failure() -> None:
    began = {"failing_run": "run:first", "failing_since": moment(-600), "is_truncated": True}
    assert episodes(job([FAILED], **began)) == [("run:first", -600, None, None)]
    aborted = job([run("a", 0, "ABORT"), FAILED, run("c", 20)], **began)
    assert episodes(aborted) == [("run:first", -600, 25, "run:c")]
    since = job([run("a", 0), FAILED], is_truncated=True)
    assert episodes(since) == [("run:b", 15, None, None)]


def test_the_evidence() -> None:
    failures = [FAILED, run("c", 20, "FAIL", error="disk full", attempt=2)]
    [found] = detect_failed_runs(job(failures))
    assert found.id == "finding:failed-run:job:etl:load@run:b"
    assert found.last_seen == moment(25)
    assert found.evidence == {
        "run": "run:c",
        "error": "disk full",
        "attempt": 2,
        "failures": 2,
        "outputs": [OUT.urn],
        "consumers": ["job:etl:report"],
    }
