"""Failed checks, and what ends them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headwater.health.findings.datasets.failed_check import detect_failed_check
from headwater.health.findings.datasets.history import Check, Report
from headwater.health.findings.models import Episode
from tests.health.findings.datasets.histories import (
    ORDERS,
    checked,
    daily,
    day,
    history,
    reader,
)

BAD = Check("not_null", "mail", False, expected="0", actual="7")
GOOD = Check("not_null", "mail", True)
OTHER = Check("unique", "id", False)
MORE = Check("fresh", "", True)


def failed(*reports: Report, **more: Any) -> list[Episode]:
    given = history(versions=daily([1] * 8), reports=reports, **more)
    return list(detect_failed_check(given, day(100)))


def test_a_check_fails_until_it_passes() -> None:
    [found] = failed(checked(1, GOOD), checked(2, BAD), checked(3, BAD), checked(4, GOOD))
    assert (found.rule, found.subject, found.key) == ("failed-check", ORDERS, "run:check-2")
    assert (found.first_seen, found.last_seen) == (day(2), day(3))
    assert (found.resolved_at, found.resolved_by) == (day(4), "run:check-4")
    [check] = found.evidence["checks"]
    assert (check["check"], check["column"], check["actual"]) == ("not_null", "mail", "7")


def test_checks_that_began_to_fail_together_are_one_finding() -> None:
    [first, second] = failed(
        checked(1, BAD, OTHER), checked(2, GOOD, OTHER, replace(MORE, success=False))
    )
    assert (first.key, first.evidence["count"], first.resolved_at) == ("run:check-1", 2, None)
    assert (second.key, second.evidence["count"]) == ("run:check-2", 1)


def test_other_checks_of_a_newer_version_end_it_if_none_failed() -> None:
    [found] = failed(checked(2, BAD), checked(3, MORE))
    assert found.resolved_by == "run:check-3"
    [found] = failed(checked(2, BAD), checked(3, MORE, of=2))
    assert found.resolved_at is None


def test_who_reads_the_bad_data() -> None:
    gone = reader("gone", is_current=False)
    [found] = failed(checked(2, BAD), readers=(reader("letters", 0), gone))
    assert (found.evidence["readers"], found.evidence["readerCount"]) == (["job:etl:letters"], 1)


def test_warnings_and_successes_are_no_findings() -> None:
    assert failed(checked(2, replace(BAD, severity="warn")), checked(3, GOOD)) == []


def test_an_event_of_the_dataset_itself_reports_checks() -> None:
    [found] = failed(Report(day(2), checks=(BAD,)))
    assert found.key == f"{ORDERS}@{day(2).isoformat()}"
