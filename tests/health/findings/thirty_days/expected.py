"""The findings and alerts of the thirty days, worked out by hand from the definitions of the rules.

docs/explanation/findings.md has the definitions. A finding is listed below the problem that caused
it. `root` is the number of the finding in the same group; 0 is the root itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tests.health.findings.thirty_days.plan import at
from tests.run_builders import job


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
    """The findings of one problem, the root first. `is_alerted` is False if it ended too soon."""

    problem: str
    findings: tuple[Expected, ...]
    is_alerted: bool = True

    @property
    def root(self) -> Expected:
        return self.findings[0]

    @property
    def resolved_at(self) -> datetime | None:
        """Return when the last finding ended; None if one is open."""
        ends = [one.resolved_at for one in self.findings]
        return None if None in ends else max(end for end in ends if end is not None)


def answer(name: str) -> str:
    return f"answer:{name}"


GROUPS = (
    # Day 6: the run fails at 02:31:00, and a new one ends 25 seconds later.
    Group(
        "quick_retry",
        (
            Expected(
                "failed-run",
                job("load_returns"),
                at(6, "02:31"),
                at(6, "02:31:25"),
                "P1",
            ),
        ),
        is_alerted=False,
    ),
    # The orders reach the critical revenue and its report.
    Group(
        "late_retry",
        (Expected("failed-run", job("load_orders"), at(9, "02:01"), at(9, "04:05"), "P1"),),
    ),
)
