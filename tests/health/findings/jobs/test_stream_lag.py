"""Reports of lags, with the episodes that follow. The limit is 100 records."""

from __future__ import annotations

import pytest

from headwater.health.findings.jobs.history import JobHistory, LagFact, LagStart, RunFact
from headwater.health.findings.jobs.stream_lag import detect_stream_lags
from tests.health.findings.jobs.builders import Row, job, moment, rows, run

TOPIC, OTHER = "dataset:kafka://broker:9092:orders", "dataset:kafka://broker:9092:carts"
# The first 8 digits of the SHA-256 of TOPIC, by sha256sum.
MARK = "4c92d797"


def batch(minute: float, lag: int, topic: str = TOPIC) -> RunFact:
    lags = (LagFact(topic, moment(minute), lag),)
    return run(f"b{minute:g}", minute, minutes=1, lags=lags)


def history(*runs: RunFact) -> JobHistory:
    return job(runs, lag_limit=100)


def episodes(found: JobHistory) -> list[Row]:
    return rows(detect_stream_lags(found))


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([batch(0, 100)], []),
        ([batch(0, 101)], [(f"run:b0#{MARK}", 0, None, None)]),
        (
            [batch(0, 5), batch(1, 200), batch(2, 900), batch(3, 100), batch(4, 0)],
            [(f"run:b1#{MARK}", 1, 3, "run:b3")],
        ),
        (
            [batch(1, 200), batch(2, 0), batch(3, 300)],
            [(f"run:b1#{MARK}", 1, 2, "run:b2"), (f"run:b3#{MARK}", 3, None, None)],
        ),
        # A run without reports proves nothing.
        ([batch(1, 200), run("b2", 2)], [(f"run:b1#{MARK}", 1, None, None)]),
    ],
)
def test_a_topic_lags_until_a_report_within_the_limit(
    runs: list[RunFact], expected: list[Row]
) -> None:
    assert episodes(history(*runs)) == expected


def test_one_run_that_goes_on_reports_again_and_again() -> None:
    lags = [LagFact(TOPIC, moment(minute), lag) for minute, lag in ((1, 5), (2, 500), (3, 7))]
    long = run("long", 0, "RUNNING", lags=tuple(lags))
    assert episodes(history(long)) == [(f"run:long#{MARK}", 2, 3, "run:long")]


def test_topics_are_apart_and_the_evidence_names_them() -> None:
    found = list(detect_stream_lags(history(batch(1, 200), batch(2, 50, OTHER), batch(3, 900))))
    assert [one.evidence for one in found] == [
        {"dataset": TOPIC, "run": "run:b3", "lag": 900, "greatestLag": 900, "limit": 100}
    ]
    # The id has no name that its reader may not see.
    assert "orders" not in found[0].id


def test_the_beginning_does_not_move_with_the_window() -> None:
    start = {TOPIC: LagStart("run:old", moment(-50))}
    late = job([batch(1, 200), batch(2, 9), batch(3, 300)], lag_limit=100, lagging_since=start)
    assert episodes(late) == [
        (f"run:old#{MARK}", -50, 2, "run:b2"),
        (f"run:b3#{MARK}", 3, None, None),
    ]
