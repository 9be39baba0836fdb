"""The findings and alerts of the thirty days, worked out by hand from the definitions of the rules.

docs/explanation/findings.md has the definitions. The findings that one problem caused are a group,
and the first of a group is its root.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tests.health.findings.thirty_days.plan import at
from tests.run_builders import ds, job


@dataclass(frozen=True)
class Expected:
    """A finding, when it began and ended, and how urgent it is."""

    rule: str
    subject: str
    first_seen: datetime
    resolved_at: datetime | None
    tier: str


@dataclass(frozen=True)
class Group:
    """The findings of one problem, the root first.

    alerted_at: when an alert is due: the root has lasted for the wait of its rule, and something
      is known to be missing only after its grace. None if it ended too soon to disturb anybody.
    """

    problem: str
    alerted_at: datetime | None
    findings: tuple[Expected, ...]

    @property
    def root(self) -> Expected:
        return self.findings[0]

    @property
    def tier(self) -> str:
        """Return the most urgent tier."""
        return min(one.tier for one in self.findings)

    @property
    def resolved_at(self) -> datetime | None:
        """Return when the last finding ended; None if one is open."""
        ends = [one.resolved_at for one in self.findings]
        return None if None in ends else max(end for end in ends if end is not None)


def answer(name: str) -> str:
    return f"answer:{name}"


GROUPS = (
    # The run fails at 02:31:00, and a new one ends 25 seconds later: less than the wait of a minute.
    Group(
        "quick_retry",
        None,
        (Expected("failed-run", job("load_returns"), at(6, "02:31"), at(6, "02:31:25"), "P1"),),
    ),
    # The orders reach the critical revenue and its report. The revenue of 03:35 is made from old
    # orders, so the report is stale until the next revenue, on day 10.
    Group(
        "late_retry",
        at(9, "02:02"),
        (
            Expected("failed-run", job("load_orders"), at(9, "02:01"), at(9, "04:05"), "P1"),
            Expected(
                "stale-answer", answer("revenue-report"), at(9, "02:01"), at(10, "03:35"), "P1"
            ),
        ),
    ),
    # All of it reaches the dashboard, which is stale from the failure on. Each is due a day after
    # the one before: the run at 03:15, the versions at 02:45 and 03:20. They come a day later.
    Group(
        "failed_load",
        at(11, "02:42"),
        (
            Expected("failed-run", job("load_stock"), at(11, "02:41"), at(12, "02:45"), "P1"),
            Expected("stale-dataset", ds("stock"), at(11, "02:45"), at(12, "02:45"), "P1"),
            Expected("missing-run", job("report_stock"), at(11, "03:15"), at(12, "03:15"), "P1"),
            Expected("stale-dataset", ds("stock_report"), at(11, "03:20"), at(12, "03:20"), "P1"),
            Expected(
                "stale-answer", answer("stock-dashboard"), at(11, "02:41"), at(12, "03:20"), "P1"
            ),
        ),
    ),
    # discount is lost with the version of 03:05 and back with that of 09:05.
    Group(
        "dropped_column",
        at(12, "03:06"),
        (
            Expected("schema-drift", ds("order_lines"), at(12, "03:05"), at(12, "09:05"), "P1"),
            Expected("failed-run", job("build_revenue"), at(12, "03:31"), at(12, "09:35"), "P1"),
            Expected(
                "stale-answer", answer("revenue-report"), at(12, "03:31"), at(12, "09:35"), "P1"
            ),
        ),
    ),
    # The run is due at 02:20, with half a day of grace. The model is downstream.
    Group(
        "missing_run",
        at(14, "14:20"),
        (
            Expected("missing-run", job("load_customers"), at(14, "02:20"), at(15, "02:20"), "P1"),
            Expected("stale-dataset", ds("customers"), at(14, "02:25"), at(15, "02:25"), "P1"),
        ),
    ),
    # The source is over when audit_returns, its last reader, succeeds at 05:35. The string reaches
    # returns at 02:35; build_revenue, its only reader, succeeds at 03:35.
    Group(
        "retyped_source",
        at(15, "01:21"),
        (
            Expected("schema-drift", ds("raw.returns"), at(15, "01:20"), at(15, "05:35"), "P1"),
            Expected("schema-drift", ds("returns"), at(15, "02:35"), at(15, "03:35"), "P1"),
        ),
    ),
    # The delivery is due at 01:10, with half a day of grace; the next one comes on day 19. The
    # revenue of 03:35 is made from old prices, until that of day 19.
    Group(
        "stale_source",
        at(17, "13:10"),
        (
            Expected("stale-source", ds("raw.prices"), at(17, "01:10"), at(19, "01:10"), "P1"),
            Expected("missing-run", job("load_prices"), at(17, "02:10"), at(19, "02:10"), "P1"),
            Expected("stale-dataset", ds("prices"), at(17, "02:15"), at(19, "02:15"), "P1"),
            Expected(
                "stale-answer", answer("revenue-report"), at(17, "03:35"), at(19, "03:35"), "P1"
            ),
        ),
    ),
    # A drift is a ticket, also if it reaches the report.
    Group(
        "lost_rows",
        at(19, "02:06"),
        (
            Expected("row-count", ds("orders"), at(19, "02:05"), at(20, "02:05"), "P2"),
            Expected("row-count", ds("order_lines"), at(19, "03:05"), at(20, "03:05"), "P2"),
        ),
    ),
    # The first read after the deprecation starts at 02:40; nobody stops it.
    Group(
        "deprecated_source",
        at(21, "02:40"),
        (Expected("deprecated-source", ds("raw.legacy_stock"), at(21, "02:40"), None, "P3"),),
    ),
    # The run that checks the revenue reports at its end.
    Group(
        "failed_check",
        at(21, "03:51"),
        (Expected("failed-check", ds("revenue"), at(21, "03:50"), at(22, "03:50"), "P1"),),
    ),
    # Seen at the end of the first run with the new code, and usual after the third.
    Group(
        "changed_code",
        at(22, "03:21"),
        (Expected("changed-code", job("report_stock"), at(22, "03:20"), at(24, "03:20"), "P2"),),
    ),
    # The features end at 04:10 on a day that is no Monday.
    Group(
        "moved_mean",
        at(23, "04:11"),
        (Expected("mean", ds("churn_features"), at(23, "04:10"), at(24, "04:10"), "P2"),),
    ),
    # The e-mails that are missing come from the other file.
    Group(
        "changed_input",
        at(25, "02:26"),
        (
            Expected(
                "changed-input", job("load_customers"), at(25, "02:25"), at(26, "02:25"), "P2"
            ),
            Expected("null-share", ds("customers"), at(25, "02:25"), at(26, "02:25"), "P2"),
        ),
    ),
)
