"""Failed data quality checks of every dataset, newest first.

A check is an assertion that a run reported about a dataset that it read or wrote, a test of a run,
or an assertion in an event of the dataset itself. A test of a run counts for each dataset that the
run read, because it does not name one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.lineage.list_pages import EARLIEST, LATEST
from headwater.lineage.nodes import read_all_facets
from headwater.lineage.pagination import Page, PageRequest, cut_page
from headwater.lineage.questions.quality import Assertion, failed_assertions
from headwater.lineage.view import GraphView
from headwater.schema.facets.kinds import salvage
from headwater.schema.facets.run import Test, TestExecution
from headwater.schema.urns import parse_urn, run_urn

# The newest reports that are read; a report may hold several failed checks.
REPORTS_MAX = 2_000


@dataclass(frozen=True)
class FailedCheckFilter:
    """Conditions on failed checks; an empty one matches everything.

    `since` and `until` (exclusive) bound the report. `dataset` is a urn, `name` that of the check.
    """

    since: datetime | None = None
    until: datetime | None = None
    namespace: str = ""
    dataset: str = ""
    column: str = ""
    name: str = ""
    run_id: str = ""

    def matches(self, check: FailedCheck) -> bool:
        """Return True if the check meets every condition but those of time."""
        parts = parse_urn(check.dataset).parts if check.dataset else ()
        return (
            (not self.namespace or parts[:1] == (self.namespace,))
            and self.dataset in ("", check.dataset)
            and self.column in ("", check.assertion.column)
            and self.name in ("", check.assertion.name)
            and (not self.run_id or check.assertion.run == run_urn(self.run_id))
        )


@dataclass(frozen=True)
class FailedCheck:
    """A failed check; `dataset` is None for a test of a run that read none."""

    assertion: Assertion
    dataset: str | None


@dataclass(frozen=True)
class FailedChecks:
    """A page of failed checks, their number, and whether older reports were not read."""

    page: Page[FailedCheck]
    count: int
    truncated: bool


def failed_checks(view: GraphView, filter: FailedCheckFilter, page: PageRequest) -> FailedChecks:
    """Return a page of the failed checks that the caller may see.

    Raises QueryError for a malformed cursor.
    """
    rows = view.read(
        "read/estate/failed_checks",
        since=filter.since or EARLIEST,
        until=filter.until or LATEST,
        visible=view.visibility.regexes,
        limit=REPORTS_MAX + 1,
    )
    found = [check for check in _checks(view, rows[:REPORTS_MAX]) if filter.matches(check)]
    return FailedChecks(
        page=cut_page(found, _order, page, shape=(0.0, "", "", "", "")),
        count=len(found),
        truncated=len(rows) > REPORTS_MAX,
    )


def _order(check: FailedCheck) -> tuple[float, str, str, str, str]:
    one = check.assertion
    at = one.reported_at.timestamp() if one.reported_at else 0.0
    # A run has one report of each check of a dataset; its version adds nothing to the order.
    return -at, check.dataset or "", one.name, one.column or "", one.run or ""


def _checks(view: GraphView, rows: list[Row]) -> Iterator[FailedCheck]:
    """Yield each failed check of the reports, once for each dataset."""
    tested = [row["run"] for row in rows if row["tests"]]
    outside = [row["dataset"] for row in rows if row["run"] is None]
    facets = read_all_facets(view, dict.fromkeys([*tested, *outside]))
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        for assertion in _failed(row, facets):
            key = (row["dataset"], assertion.run, assertion.name, assertion.column)
            if key not in seen:
                seen.add(key)
                yield FailedCheck(assertion, row["dataset"])


def _failed(row: Row, facets: Mapping[str, Mapping[str, Any]]) -> Iterable[Assertion]:
    """Return the failed checks of one report."""
    if row["tests"]:
        return _failed_tests(row, _facet_text(facets, row["run"], "test"))
    reported = row["assertions"]
    if row["run"] is None:
        reported = _facet_text(facets, row["dataset"], "dataQualityAssertions")
    return failed_assertions(
        reported, reported_at=row["at"], run=row["run"], version=row["version"]
    )


def _facet_text(facets: Mapping[str, Mapping[str, Any]], urn: str, name: str) -> str | None:
    facet = facets.get(urn, {}).get(name)
    return None if facet is None else json.dumps(facet)


def _failed_tests(row: Row, facet: str | None) -> Iterator[Assertion]:
    """Yield the failed tests of a run; a failed assertion on an input is a report of its own."""
    tests = salvage(Test, facet) if facet else None
    failed = set(row["tests"])
    named: dict[str, TestExecution] = {test.name: test for test in (tests.tests if tests else ())}
    for name in sorted(failed & named.keys()):
        test = named[name]
        yield Assertion(
            name=name,
            column=None,
            success=False,
            severity=test.severity,
            expected=test.expected,
            actual=test.actual,
            reported_at=row["at"],
            run=row["run"],
            version=row["version"],
        )
