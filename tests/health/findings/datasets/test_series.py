"""Series of numbers of a dataset: which values are compared with each other."""

from __future__ import annotations

from dataclasses import replace

from headwater.health.findings.datasets.series import column_series, row_count_series
from tests.health.findings.datasets.histories import daily, day, history, measured, version


def test_writes_are_apart_by_job_and_mode() -> None:
    versions = (
        version(0, row_count=10),
        version(1, row_count=1, write_mode="append"),
        version(2, row_count=11),
        version(3, row_count=7, job="job:etl:other"),
        version(4, row_count=5, complete=False),
    )
    series = row_count_series(history(versions=versions))
    found = [[point.urn[-1] for point in one.points] for one in series]
    assert found == [["1"], ["0", "2"], ["3"]]


def test_the_count_of_the_writer_comes_before_that_of_a_reader() -> None:
    versions = (version(0, row_count=10), version(1))
    reports = tuple(replace(measured(number, 1.0), row_count=99.0) for number in (0, 1))
    written, read = row_count_series(history(versions=versions, reports=reports))
    assert ([one.urn[-1] for one in read.points], read.job) == (["0"], "job:etl:load")
    assert ([one.urn[-1] for one in written.points], written.job) == (["1"], "job:etl:check")


def test_measures_of_versions_that_are_not_complete_do_not_count() -> None:
    versions = (*daily([1] * 2), version(2, complete=False))
    given = history(versions=versions, reports=tuple(measured(number, 1.0) for number in range(3)))
    [series] = column_series(given)
    assert [one.at for one in series.points] == [day(0), day(1)]
