"""Histories of inputs, with the episodes that follow. Each letter of a day is a dataset."""

from __future__ import annotations

import pytest

from headwater.health.findings.jobs.changed_input import detect_changed_inputs
from headwater.health.findings.jobs.history import JobHistory, ParentFact, RunFact
from tests.health.findings.jobs.builders import DAY, Row, job, moment, rows, run


def reading(*inputs: str) -> list[RunFact]:
    """Return one complete run a day: `ab` reads a and b; `!ab` fails."""
    return [
        run(f"d{day}", day * DAY, "FAIL" if one[:1] == "!" else "COMPLETE", reads=one.strip("!"))
        for day, one in enumerate(inputs)
    ]


def named(*names: str) -> list[RunFact]:
    """Return one complete run a day, each reading one dataset of this name."""
    return [run(f"d{day}", day * DAY, reads=[name]) for day, name in enumerate(names)]


def episodes(history: JobHistory) -> list[Row]:
    return rows(detect_changed_inputs(history))


END = 5


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (reading("a", "a", "a", "b"), [("run:d3", 3 * DAY + END, None, None)]),
        (reading("ax", "ax", "ax", "bx"), [("run:d3", 3 * DAY + END, None, None)]),
        # The earlier input is back.
        (
            reading("a", "a", "a", "b", "a"),
            [("run:d3", 3 * DAY + END, 4 * DAY + END, "run:d4")],
        ),
        # The third run with the new input shows that it is meant.
        (
            reading("a", "a", "a", "b", "b", "b"),
            [("run:d3", 3 * DAY + END, 5 * DAY + END, "run:d5")],
        ),
        (reading("a", "a", "a", "b", "b"), [("run:d3", 3 * DAY + END, None, None)]),
        # A failed run between shows nothing.
        (reading("a", "a", "a", "!c", "b"), [("run:d4", 4 * DAY + END, None, None)]),
        # A further change belongs to the first.
        (
            reading("a", "a", "a", "b", "c", "c"),
            [("run:d3", 3 * DAY + END, 5 * DAY + END, "run:d5")],
        ),
        # The extract of another year, as in seed 3, L525.
        (
            named(*["customers_2024"] * 3, "customers_2023"),
            [("run:d3", 3 * DAY + END, None, None)],
        ),
        # It changed for good, and later again.
        (
            reading(*"aaabbb", *"bbc"),
            [
                ("run:d3", 3 * DAY + END, 5 * DAY + END, "run:d5"),
                ("run:d8", 8 * DAY + END, None, None),
            ],
        ),
        # Two runs of one execution read a and b; then one of them reads c.
        (
            [
                run(f"{day}{name}", day * DAY, reads=[name], execution=f"run:{day}")
                for day, names in enumerate(("ab", "ab", "ab", "ac"))
                for name in names
            ],
            [("run:3c", 3 * DAY + END, None, None)],
        ),
    ],
)
def test_changed_inputs(runs: list[RunFact], expected: list[Row]) -> None:
    assert episodes(job(runs)) == expected


@pytest.mark.parametrize(
    "runs",
    [
        reading("a", "a", "a", "a"),
        # One more, or one fewer.
        reading("a", "a", "a", "ab"),
        reading("ab", "ab", "ab", "b"),
        # Never steady.
        reading("a", "a", "b"),
        reading(*"ababababab"),
        named("orders_0301", "orders_0302", "orders_0303", "orders_0304"),
        # A run that reports no inputs.
        reading("a", "a", "a", "", "a"),
        # The newest execution is not over: it has read c, and not yet b.
        [
            run(f"{day}{name}", day * DAY + number, reads=[name], execution=f"run:{day}")
            for day, names in enumerate(("ab", "ab", "ab", "c"))
            for number, name in enumerate(names)
        ],
        # A backfill of last year reads the file of last year.
        [
            *[run(f"d{day}", day * DAY, reads=["y2"], nominal=day * DAY) for day in range(4)],
            run("backfill", 3 * DAY + 60, reads=["y1"], nominal=-300 * DAY),
        ],
        # A query within a task that reads the same dataset.
        [
            run(
                f"d{day}",
                day * DAY,
                reads=[one],
                parent=ParentFact("COMPLETE", reads=(f"dataset:db:{one}",)),
            )
            for day, one in enumerate("aaab")
        ],
    ],
)
def test_no_changed_inputs(runs: list[RunFact]) -> None:
    assert episodes(job(runs)) == []


def test_names_of_periods_are_learned() -> None:
    """A table for each week: the first new week is unusual, the later ones are not."""
    weeks = [f"orders_w{week}" for week in (10, 11, 12, 13) for _ in range(4)]
    assert episodes(job(named(*weeks))) == [
        ("run:d4", 4 * DAY + END, 6 * DAY + END, "run:d6"),
    ]


def test_the_evidence() -> None:
    [found] = detect_changed_inputs(job(reading("ax", "ax", "ax", "bx", "bx")))
    assert found.last_seen == moment(4 * DAY + END)
    assert found.evidence == {
        "run": "run:d3",
        "previousRun": "run:d2",
        "vanished": ["dataset:db:a"],
        "appeared": ["dataset:db:b"],
        "executionsBefore": 3,
    }
