"""Numbers against their baselines, each worked out by hand: histories that provoke a finding, and
histories that must not.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from headwater.health.findings.datasets.history import DatasetHistory, Producer, Version
from headwater.health.findings.datasets.measures import detect_column_measures, detect_row_count
from headwater.health.findings.models import Episode
from tests.health.findings.datasets.histories import (
    ORDERS,
    daily,
    day,
    history,
    measured,
    version,
)

FLAT = [1000, 1010, 990, 1000, 1005, 995]
# A shop that is closed at weekends, from Monday on.
WEEK = [1000, 1010, 990, 1000, 1005, 200, 210]


def row_counts(*versions: Version) -> list[Episode]:
    return list(detect_row_count(history(versions=versions), day(100)))


def measures(given: DatasetHistory) -> list[tuple[str, str, bool]]:
    found = detect_column_measures(given, day(100))
    return [(one.rule, one.key, one.resolved_at is None) for one in found]


def test_a_drop_of_rows_is_found_and_ends_with_the_next_good_version() -> None:
    # The mean of the six is 1000, their deviation sqrt(250 / 5) = 7.07.
    [found] = row_counts(*daily([*FLAT, 100, 1000]))
    assert (found.rule, found.subject, found.key) == ("row-count", ORDERS, "artifact:db:orders:6")
    assert (found.first_seen, found.last_seen) == (day(6), day(6))
    assert (found.resolved_at, found.resolved_by) == (day(7), "artifact:db:orders:7")
    [count] = found.evidence["counts"]
    assert count["value"] == 100
    assert count["mean"] == 1000
    assert count["deviation"] == pytest.approx(7.071068)
    assert count["share"] == -0.9
    assert (count["compared"], count["run"]) == (6, "run:6")


def test_it_stays_open_while_versions_are_outside() -> None:
    # On Monday the baseline has mean 871.4 and deviation 340.2: 100 is 2.3 deviations away.
    [found] = row_counts(*daily([*FLAT, 100, 100]))
    assert (found.first_seen, found.last_seen, found.resolved_at) == (day(6), day(7), None)


@pytest.mark.parametrize(
    "rows",
    [
        [1000, 1000, 1000, 1000, 100],  # four earlier values are too few
        [*FLAT, 1049],  # far by deviations, but less than 5 %
        [900, 1100, 950, 1050, 1000, 1000, 1130],  # 13 %, but within two deviations of 71
        [round(1000 * 1.01**number) for number in range(40)],  # growth of 1 % a day
        [100 * number for number in range(1, 30)],  # linear growth
        [0, 0, 0, 0, 0, 0, 7],  # nothing was usual: no number is too large
        WEEK * 6,
        [2000, 1000, 1000, 1000, 1000, 1000, 1000] * 5,  # a heavy Monday
        [1000, 1000, 1000, 1000, 1000, 200],  # the first Saturday
    ],
)
def test_usual_numbers_of_rows(rows: Sequence[int]) -> None:
    assert row_counts(*daily(rows)) == []


def test_weekdays_are_compared_with_themselves() -> None:
    # After four weeks 1000 rows are usual on a Friday and far too many on a Saturday.
    [found] = row_counts(*daily([*WEEK * 4, *WEEK[:5], 1000]))
    [count] = found.evidence["counts"]
    assert found.key == "artifact:db:orders:33"
    assert (count["mean"], count["compared"], count["sameWeekday"]) == (200, 4, True)


def test_an_append_is_compared_with_appends_and_a_job_with_itself() -> None:
    mixed = [
        *daily(FLAT),
        *daily([10, 11, 9, 10, 11, 10], write_mode="append"),
        *daily([50, 51, 49, 50, 51, 50], job="job:etl:backfill"),
    ]
    numbered = [
        version(number, row_count=one.row_count, write_mode=one.write_mode, job=one.job)
        for number, one in enumerate(sorted(mixed, key=lambda one: one.created_at))
    ]
    assert row_counts(*numbered) == []
    [found] = row_counts(*numbered, version(18, row_count=1000, write_mode="append"))
    assert found.key == "artifact:db:orders:18"


def test_failed_writes_and_streams_do_not_count() -> None:
    partial = version(6, row_count=1, complete=False)
    assert row_counts(*daily(FLAT), partial) == []
    stream = Producer("job:etl:load", day(0), is_streaming=True)
    given = history(versions=daily([*FLAT, 1]), producers=(stream,))
    assert list(detect_row_count(given, day(100))) == []


def test_a_mean_that_moved() -> None:
    versions = daily([1] * 8)
    usual = [measured(number, 24.3 + number % 2 / 10) for number in range(6)]
    moved = [measured(6, 18.7), measured(7, 24.3)]
    given = history(versions=versions, reports=(*usual, *moved))
    assert measures(given) == [("mean", "artifact:db:orders:6", False)]
    assert measures(history(versions=versions, reports=(*usual, measured(6, 24.9)))) == []


@pytest.mark.parametrize(
    ("rule", "measure", "usual", "moved", "within"),
    [
        ("null-share", "null share", 0.01, 0.34, 0.05),
        ("distinct-count", "distinct count", 50.0, 30.0, 51.0),
        ("quantile", "quantile 0.5", 10.0, 12.0, 10.4),
        ("quantile", "quantile 0.99", 90.0, 12.0, 92.0),
    ],
)
def test_other_measures(rule: str, measure: str, usual: float, moved: float, within: float) -> None:
    versions = daily([1] * 8)
    earlier = [measured(number, usual, measure=measure) for number in range(5)]
    # Friday is the fifth day, so the next working day is the eighth.
    last = measured(7, moved, measure=measure)
    given = history(versions=versions, reports=(*earlier, last))
    assert measures(given) == [(rule, "artifact:db:orders:7", True)]
    innocent = measured(7, within, measure=measure)
    assert measures(history(versions=versions, reports=(*earlier, innocent))) == []


def test_a_source_is_compared_by_the_runs_that_measured_it() -> None:
    source = "source:db:orders"
    earlier = [measured(number, 24.3, of=source) for number in range(5)]
    given = history(reports=(*earlier, measured(7, 18.7, of=source)))
    assert measures(given) == [("mean", "run:check-7", True)]


def test_the_report_counts_from_when_it_was_sent() -> None:
    late = measured(7, 1.0)
    sent = day(7) + timedelta(hours=3)
    report = type(late)(sent, late.run, late.job, late.version, measures=late.measures)
    earlier = [measured(number, 24.3) for number in range(5)]
    given = history(versions=daily([1] * 8), reports=(*earlier, report))
    [found] = detect_column_measures(given, day(100))
    assert (found.key, found.first_seen) == ("artifact:db:orders:7", sent)


def test_a_dropped_dataset_has_no_findings() -> None:
    given = history(versions=daily([*FLAT, 1]), dropped_at=day(9))
    assert list(detect_row_count(given, day(100))) == []
