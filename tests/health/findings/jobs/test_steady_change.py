"""Values of executions, a letter each, with the changes of a steady value that follow."""

from __future__ import annotations

import itertools

import pytest

from headwater.health.findings.jobs.history import RunFact
from headwater.health.findings.jobs.steady_change import (
    STEADY,
    Change,
    State,
    Value,
    find_changes,
    find_states,
)
from tests.health.findings.jobs.builders import daily, job, run

# A change: the positions of the last steady state, of the first and the newest one since, and of
# the one that ended it.
Row = tuple[int, int, int, int | None]


def states(text: str) -> list[State]:
    """Return one execution for each letter, its value; its run is named after its position."""
    return [State(frozenset(one), (run(f"{n}", n * 60),)) for n, one in enumerate(text)]


def rows(changes: list[Change]) -> list[Row]:
    return [
        (
            _position(one.earlier[-1]),
            _position(one.since[0]),
            _position(one.since[-1]),
            None if one.end is None else _position(one.end),
        )
        for one in changes
    ]


def _position(state: State) -> int:
    return int(state.newest.urn.removeprefix("run:"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("aaaa", []),
        # Two executions make nothing steady.
        ("aab", []),
        ("abababab", []),
        ("aaab", [(2, 3, 3, None)]),
        # The earlier value is back.
        ("aaaba", [(2, 3, 3, 4)]),
        ("aaabbaa", [(2, 3, 4, 5)]),
        # The third execution makes the new value normal.
        ("aaabb", [(2, 3, 4, None)]),
        ("aaabbb", [(2, 3, 5, 5)]),
        # A change meanwhile belongs to the same change.
        ("aaabcd", [(2, 3, 5, 5)]),
        ("aaabca", [(2, 3, 4, 5)]),
        # The new normal changes again.
        ("aaabbbc", [(2, 3, 5, 5), (5, 6, 6, None)]),
        ("aaabaaab", [(2, 3, 3, 4), (6, 7, 7, None)]),
        # Too soon after the return of the value: it is not steady yet.
        ("aaabab", [(2, 3, 3, 4)]),
    ],
)
def test_changes(text: str, expected: list[Row]) -> None:
    assert rows(find_changes(states(text))) == expected


def test_laws_of_changes() -> None:
    for letters in itertools.product("abc", repeat=7):
        found = find_changes(states("".join(letters)))
        for change in found:
            assert change.before != change.after
            assert {one.value for one in change.earlier[-STEADY:]} == {change.before}
            assert 1 <= len(change.since) <= STEADY
            assert change.before not in [one.value for one in change.since]
        # Only the newest change may be open.
        assert all(change.end is not None for change in found[:-1])


def test_later_executions_do_not_move_the_beginning() -> None:
    for letters in itertools.product("ab", repeat=8):
        text = "".join(letters)
        begins = [[row[:2] for row in rows(find_changes(states(text[:n])))] for n in range(9)]
        for before, after in itertools.pairwise(begins):
            assert after[: len(before)] == before


def hash_of(one: RunFact) -> Value:
    return frozenset({one.code_hash}) if one.code_hash else frozenset()


def test_states_are_the_successful_executions_with_a_value() -> None:
    runs = [
        run("a", 0, code_hash="x"),
        run("b", 60, "FAIL", code_hash="y"),
        run("c", 120),
        run("d", 180, code_hash="z"),
    ]
    found = find_states(job(runs), hash_of)
    assert [(one.value, one.newest.urn) for one in found] == [
        (frozenset("x"), "run:a"),
        (frozenset("z"), "run:d"),
    ]


def test_the_values_of_the_runs_of_one_execution_are_joined() -> None:
    steps = [
        run("a", 0, execution="run:root", code_hash="x"),
        run("b", 5, minutes=60, execution="run:root", code_hash="y"),
        run("c", 10, execution="run:root", code_hash="x"),
    ]
    [found] = find_states(job(steps), hash_of)
    assert found.value == frozenset("xy")
    # It ended last, though another one started last.
    assert found.newest.urn == "run:b"


def test_an_execution_under_way_is_not_compared() -> None:
    first = [run(f"a{n}", n, execution="run:first", code_hash="xy"[n]) for n in range(2)]
    second = run("b0", 100, execution="run:second", code_hash="x")
    history = job([*first, second])
    assert [one.value for one in find_states(history, hash_of)] == [frozenset("xy")]
    done = run("b1", 101, execution="run:second", code_hash="y")
    history = job([*first, second, done])
    assert [one.value for one in find_states(history, hash_of)] == [frozenset("xy")] * 2


def test_a_backfill_is_not_compared() -> None:
    runs = [
        run("d2", 2 * 1440, nominal=2 * 1440, code_hash="x"),
        run("d1", 2 * 1440 + 60, nominal=1440, code_hash="y"),
        run("d3", 3 * 1440, nominal=3 * 1440, code_hash="x"),
    ]
    assert [one.newest.urn for one in find_states(job(runs), hash_of)] == ["run:d2", "run:d3"]
    assert len(find_states(job(daily(4, code_hash="x")), hash_of)) == 4
