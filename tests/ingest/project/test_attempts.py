"""The attempt rule: a table computed by hand, and laws for random events."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.project.attempts import Attempts, attempts

State = tuple[int, str]

# (case, events, status, attempts, started, finished, failed)
TABLE: list[tuple[str, list[State], Attempts]] = [
    ("nothing yet", [], Attempts("RUNNING", 1, None, None, None)),
    ("a start", [(1, "START")], Attempts("RUNNING", 1, 1, None, None)),
    ("two starts", [(1, "START"), (2, "START")], Attempts("RUNNING", 1, 1, None, None)),
    ("start, end", [(1, "START"), (5, "COMPLETE")], Attempts("COMPLETE", 1, 1, 5, None)),
    ("an end without a start", [(5, "COMPLETE")], Attempts("COMPLETE", 1, None, 5, None)),
    ("a failure without a start", [(5, "FAIL")], Attempts("FAIL", 1, None, 5, 5)),
    ("all in one instant", [(1, "START"), (1, "COMPLETE")], Attempts("COMPLETE", 1, 1, 1, None)),
    (
        "FAIL, then COMPLETE",
        [(1, "START"), (5, "FAIL"), (6, "COMPLETE")],
        Attempts("FAIL", 1, 1, 5, 5),
    ),
    (
        "COMPLETE, then FAIL",
        [(1, "START"), (5, "COMPLETE"), (6, "FAIL")],
        Attempts("FAIL", 1, 1, 6, 6),
    ),
    ("FAIL twice", [(1, "START"), (5, "FAIL"), (7, "FAIL")], Attempts("FAIL", 1, 1, 7, 7)),
    ("two failures without a start", [(5, "FAIL"), (7, "FAIL")], Attempts("FAIL", 1, None, 7, 7)),
    (
        "a rerun without a start fails again after its COMPLETE",
        [(1, "START"), (5, "FAIL"), (6, "COMPLETE"), (9, "FAIL"), (10, "COMPLETE")],
        Attempts("FAIL", 1, 1, 9, 9),
    ),
    (
        "a rerun without a start completes",
        [(1, "START"), (5, "FAIL"), (6, "FAIL"), (9, "COMPLETE")],
        Attempts("FAIL", 1, 1, 6, 6),
    ),
    ("FAIL and ABORT", [(1, "START"), (5, "ABORT"), (6, "FAIL")], Attempts("FAIL", 1, 1, 6, 6)),
    (
        "ABORT, then COMPLETE",
        [(1, "START"), (5, "ABORT"), (6, "COMPLETE")],
        Attempts("ABORT", 1, 1, 5, None),
    ),
    (
        "COMPLETE twice",
        [(1, "START"), (5, "COMPLETE"), (6, "COMPLETE")],
        Attempts("COMPLETE", 1, 1, 6, None),
    ),
    (
        "failed, begun again",
        [(1, "START"), (2, "FAIL"), (3, "START")],
        Attempts("RUNNING", 2, 3, None, None),
    ),
    (
        "failed, then done",
        [(1, "START"), (2, "FAIL"), (3, "START"), (4, "COMPLETE")],
        Attempts("COMPLETE", 2, 3, 4, None),
    ),
    (
        "done, then failed",
        [(1, "START"), (2, "COMPLETE"), (3, "START"), (4, "FAIL")],
        Attempts("FAIL", 2, 3, 4, 4, ((1, 2),)),
    ),
    (
        "the listener's COMPLETE comes before the next attempt",
        [(1, "START"), (2, "FAIL"), (3, "COMPLETE"), (4, "START"), (5, "COMPLETE")],
        Attempts("COMPLETE", 2, 4, 5, None),
    ),
    (
        "three attempts",
        [(1, "START"), (2, "FAIL"), (3, "START"), (4, "ABORT"), (5, "START"), (6, "COMPLETE")],
        Attempts("COMPLETE", 3, 5, 6, None),
    ),
    ("an end, then a start", [(2, "FAIL"), (3, "START")], Attempts("RUNNING", 2, 3, None, None)),
    (
        "a start that comes late",
        [(0, "START"), (1, "START"), (5, "COMPLETE")],
        Attempts("COMPLETE", 1, 0, 5, None),
    ),
    (
        "START at the instant of the end",
        [(1, "START"), (5, "FAIL"), (5, "START")],
        Attempts("FAIL", 1, 1, 5, 5),
    ),
]


@pytest.mark.parametrize(
    ("states", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_the_table(states: list[State], expected: Attempts) -> None:
    assert attempts(states) == expected
    assert attempts(reversed(states)) == expected


histories = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from(["START", "START", "COMPLETE", "FAIL", "ABORT"])),
    max_size=10,
)


@given(histories, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_count(states: list[State], chance: random.Random) -> None:
    shuffled = states + chance.choices(states, k=3) if states else []
    chance.shuffle(shuffled)
    assert attempts(shuffled) == attempts(states)


@given(histories)
def test_the_last_attempt_follows_the_last_start_after_an_end(states: list[State]) -> None:
    """Compute the start of the last attempt backwards, unlike the code."""
    ends = {instant for instant, state in states if state != "START"}
    starts = sorted(instant for instant, state in states if state == "START")
    # A START opens an attempt if it is the first START after some end.
    since = -1
    for previous, start in pairwise([-1, *starts]):
        if any(previous <= end < start for end in ends):
            since = start
    last = [(instant, state) for instant, state in states if instant >= since and state != "START"]
    kinds = {state for _, state in last}
    expected = next((worst for worst in ("FAIL", "ABORT", "COMPLETE") if worst in kinds), "RUNNING")
    result = attempts(states)
    assert result.status == expected
    assert result.finished == max((i for i, state in last if state == expected), default=None)
    assert result.failed == (result.finished if expected == "FAIL" else None)


@given(histories, st.integers(0, 8))
def test_a_start_not_after_an_end_never_reopens(states: list[State], instant: int) -> None:
    first_end = min((i for i, state in states if state != "START"), default=None)
    if first_end is not None and instant <= first_end:
        before, after = attempts(states), attempts([*states, (instant, "START")])
        assert (after.status, after.finished, after.count) == (
            before.status,
            before.finished,
            before.count,
        )


@given(histories, st.integers(0, 8))
def test_a_failure_in_the_last_attempt_always_wins(states: list[State], instant: int) -> None:
    begun = attempts(states).started
    if begun is None or instant >= begun:
        assert (
            attempts([*states, (max(instant, *(i for i, _ in states), 0), "FAIL")]).status == "FAIL"
        )
