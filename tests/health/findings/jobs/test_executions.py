"""Which runs of a job are one execution."""

from __future__ import annotations

import pytest

from headwater.health.findings.jobs.executions import group_executions, without_backfills
from headwater.health.findings.jobs.history import RunFact
from tests.health.findings.jobs.builders import DAY, moment, run


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([run("a", 0), run("b", 1)], ["a", "b"]),
        # A loop in one application.
        ([run("a", 0, execution="run:app"), run("b", 1, execution="run:app")], ["ab"]),
        # The tries of a slot, and the instances of a mapped task.
        ([run("a", 0, nominal=0), run("b", 9, nominal=0)], ["ab"]),
        ([run("a", 0, nominal=0, index=0), run("b", 0, nominal=0, index=1)], ["ab"]),
        # The slot counts more than the parent.
        (
            [
                run("a", 0, nominal=0, execution="run:1"),
                run("b", 9, nominal=DAY, execution="run:1"),
            ],
            ["a", "b"],
        ),
        # A service runs for weeks.
        ([run("a", 0, execution="run:app"), run("b", DAY, execution="run:app")], ["a", "b"]),
    ],
)
def test_executions(runs: list[RunFact], expected: list[str]) -> None:
    found = group_executions(reversed(runs))
    assert ["".join(one.urn[4:] for one in each.runs) for each in found] == expected


def test_an_execution_has_the_times_of_its_first_run() -> None:
    [found] = group_executions([run("a", 5, "FAIL", nominal=0), run("b", 9, nominal=0)])
    assert (found.started, found.nominal) == (moment(5), moment(0))
    assert [one.urn for one in found.complete_runs] == ["run:b"]


def test_executions_for_earlier_periods_are_backfills() -> None:
    runs = [
        run("d2", 0, nominal=2 * DAY),
        run("d1", 60, nominal=DAY),
        run("d3", DAY, nominal=3 * DAY),
    ]
    found = without_backfills(group_executions([*runs, run("by-hand", 2 * DAY)]))
    assert [one.runs[0].urn for one in found] == ["run:d2", "run:d3", "run:by-hand"]
