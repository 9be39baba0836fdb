"""Answers that rest on old data, and answers that do not."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from headwater.health.findings.answers.history import AnswerHistory, UsedVersion
from headwater.health.findings.answers.stale_answer import detect_stale_answer
from headwater.health.findings.datasets.history import (
    DatasetHistory,
    FailedRun,
    Producer,
    Version,
)
from tests.health.findings.datasets.histories import day


def made(name: str, *days: float) -> tuple[Version, ...]:
    return tuple(
        Version(
            f"artifact:db:{name}:{number}", f"run:{name}-{number}", f"job:etl:{name}", day(number)
        )
        for number in days
    )


def dataset(name: str, *days: float, failed: tuple[float, ...] = (), **more: Any) -> DatasetHistory:
    """Return a dataset written on these days; its job failed on others."""
    job = f"job:etl:{name}"
    runs = tuple(FailedRun(f"run:{name}-{number}", job, day(number)) for number in failed)
    producers = (Producer(job, day(-9), failures=runs),)
    content: dict[str, Any] = {"versions": made(name, *days), "producers": producers, **more}
    return DatasetHistory(f"dataset:db:{name}", **content)


def stale(
    *datasets: DatasetHistory,
    now: float = 20,
    generated: tuple[float, ...] = (0.5,),
    used: float | None = None,
) -> list[tuple[str, datetime, datetime | None, str | None]]:
    """Return the findings of an answer that cites the first dataset and rests on the others."""
    versions = []
    for one in datasets:
        newest = [other for other in one.versions if used is None or other.created_at <= day(used)]
        is_cited = one is datasets[0]
        versions.append(UsedVersion(one.urn, newest[-1].urn, newest[-1].created_at, is_cited))
    times = tuple(day(number) for number in generated)
    history = AnswerHistory("answer:a", times[-1], times, (), tuple(versions), datasets)
    found = detect_stale_answer(history, day(now))
    return [(one.key, one.first_seen, one.resolved_at, one.resolved_by) for one in found]


def test_a_failed_refresh_until_the_next_version() -> None:
    found = stale(dataset("mart", 0, 2, failed=(1,)))
    assert found == [("2026-01-06T06:00:00Z", day(1), day(2), "artifact:db:mart:2")]
    [(_, first, end, _)] = stale(dataset("mart", 0, failed=(1,)))
    assert (first, end) == (day(1), None)


def test_a_quick_retry_and_a_first_failure_are_no_findings() -> None:
    assert stale(dataset("mart", 0, 1.04, failed=(1,))) == []
    assert stale(dataset("mart", 0, failed=(1,)), now=1.04) == []
    assert stale(dataset("mart", 2, failed=(1,)), generated=(3,)) == []


def test_the_key_does_not_depend_on_which_dataset_is_found_first() -> None:
    mart = dataset("mart", 0.2)
    raw, other = dataset("raw", 0, failed=(1,)), dataset("also_raw", 0, failed=(1,))
    assert (
        stale(mart, raw)
        == stale(mart, raw, other)
        == [("2026-01-06T06:00:00Z", day(1), None, None)]
    )


def test_late_data_of_a_cited_dataset() -> None:
    found = stale(dataset("mart", 0, 3, tags=("freshness=24h",)), now=3.5)
    assert found == [("2026-01-06T06:00:00Z", day(1), day(3), "artifact:db:mart:3")]


def test_old_data_from_upstream_until_the_mart_is_written_from_new_data() -> None:
    raw = dataset("raw", 0, 1.5, failed=(1,))
    found = stale(dataset("mart", 0.2, 1.2, 2.2), raw)
    assert found == [("2026-01-06T06:00:00Z", day(1), day(2.2), "artifact:db:mart:2.2")]
    # The mart was not written meanwhile: it never had old data.
    found = stale(dataset("mart", 0.2, 2.2), raw)
    assert found == [("2026-01-06T06:00:00Z", day(1), day(1.5), "artifact:db:raw:1.5")]


def test_late_data_upstream_counts_once_it_was_used() -> None:
    raw = dataset("raw", 0, 3, tags=("freshness=24h",))
    found = stale(dataset("mart", 0.2, 1.2, 3.2), raw)
    assert found == [("2026-01-06T10:48:00Z", day(1.2), day(3.2), "artifact:db:mart:3.2")]
    assert stale(dataset("mart", 0.2, 3.2), raw) == []


def test_overlapping_causes_are_one_finding() -> None:
    raw = dataset("raw", 0, 3, failed=(1,))
    [(key, first, end, _)] = stale(dataset("mart", 0.2, 1.2, 4, failed=(2,)), raw)
    assert (key, first, end) == ("2026-01-06T06:00:00Z", day(1), day(4))


def test_an_old_report_means_the_old_data() -> None:
    mart = dataset("mart", 0, 1, 4, failed=(3,))
    assert stale(mart, generated=(0.5,), used=0.5) == []
    # It rests on the version that was the newest at the failure.
    assert len(stale(mart, generated=(1.5,), used=1.5)) == 1
    # It was generated again later, and followed the data all the time.
    assert len(stale(mart, generated=(1.5, 9))) == 1
    # It did not exist yet.
    assert stale(mart, generated=(9,)) == []
