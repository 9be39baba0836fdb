"""Jobs of which nothing reports the lineage, and jobs that need none."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.health.findings.jobs.history import JobHistory
from headwater.health.findings.jobs.uninstrumented import detect_uninstrumented
from tests.health.findings.jobs.builders import DAY, JOB, daily, moment, run

SILENT: dict[str, Any] = {"reads": (), "writes": ()}


def found(day: float, count: int = 7, **more: Any) -> list[tuple[str, float]]:
    """Return the findings on a day, each with the day on which it began."""
    content: dict[str, Any] = {
        "runs": tuple(daily(count, **SILENT)),
        "first_seen": moment(0),
        **more,
    }
    history = JobHistory(JOB, "etl", "load", **content)
    episodes = detect_uninstrumented(history, moment(day * DAY))
    return [(one.key, (one.first_seen - moment(0)).total_seconds() / 86400) for one in episodes]


def test_a_job_that_names_no_dataset_for_a_week() -> None:
    assert found(6.9) == []
    assert found(7) == [("lineage", 7)]
    late = (*daily(2, **SILENT), run("late", 9 * DAY, **SILENT))
    assert found(10, runs=late) == [("lineage", 9 + 5 / DAY)]


@pytest.mark.parametrize(
    "more",
    [
        {"count": 2},
        {"inputs": ("dataset:db:raw",)},
        {"is_container": True},
        {"is_covered": True},
        {"is_streaming": True},
        {"type": "RDD_JOB"},
        {"deprecated_at": moment(DAY)},
        {"runs": tuple(daily(7, reads=()))},
    ],
)
def test_no_finding(more: dict[str, Any]) -> None:
    assert found(30, **more) == []
