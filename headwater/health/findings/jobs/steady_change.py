"""A value of a job that was steady over several executions, and then changed.

The value was steady if the three successful executions before the change had the same one. The
change ends when the earlier value is back, or with the third successful execution since the change,
which counts as the new normal. A change meanwhile belongs to the same change.

An execution that is not over is not compared: the newest one, while fewer of its runs succeeded
than of the one before. Executions for an earlier period than one before are backfills, and are left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headwater.health.findings.jobs.executions import (
    Execution,
    group_executions,
    without_backfills,
)
from headwater.health.findings.jobs.history import JobHistory, RunFact

# Successful executions that make a value steady.
STEADY = 3

Value = frozenset[str]


@dataclass(frozen=True)
class State:
    """The value of one execution, and its runs that succeeded."""

    value: Value
    runs: tuple[RunFact, ...]

    @property
    def newest(self) -> RunFact:
        """Return the successful run that ended last."""
        return max(self.runs, key=lambda run: (run.ended or run.started, run.urn))


@dataclass(frozen=True)
class Change:
    """The last state with the steady value, the states since the change, and the one that ended
    it.

    earlier: the states before the change, oldest first.
    """

    earlier: tuple[State, ...]
    since: tuple[State, ...]
    end: State | None

    @property
    def before(self) -> Value:
        """Return the steady value."""
        return self.earlier[-1].value

    @property
    def after(self) -> Value:
        """Return the value of the first execution with another one."""
        return self.since[0].value


def find_states(history: JobHistory, value_of: Callable[[RunFact], Value]) -> list[State]:
    """Return the states of the successful executions that have a value, oldest first."""
    executions = without_backfills(group_executions(history.runs))
    complete = [one for one in executions if one.complete_runs]
    if len(complete) > 1 and _is_unfinished(complete[-1], complete[-2]):
        complete.pop()
    states = []
    for one in complete:
        value: Value = frozenset().union(*map(value_of, one.complete_runs))
        if value:
            states.append(State(value, one.complete_runs))
    return states


def _is_unfinished(newest: Execution, before: Execution) -> bool:
    return len(newest.complete_runs) < len(before.complete_runs)


def find_changes(states: Sequence[State]) -> list[Change]:
    """Return the changes of a steady value, oldest first."""
    changes: list[Change] = []
    number = STEADY
    while number < len(states):
        steady = states[number - STEADY : number]
        if len({state.value for state in steady}) > 1 or states[number].value == steady[-1].value:
            number += 1
            continue
        change = _change(states, number)
        changes.append(change)
        number += len(change.since)
    return changes


def _change(states: Sequence[State], number: int) -> Change:
    earlier = tuple(states[:number])
    since: list[State] = []
    for state in states[number:]:
        if state.value == earlier[-1].value:
            return Change(earlier, tuple(since), state)
        since.append(state)
        if len(since) == STEADY:
            return Change(earlier, tuple(since), state)
    return Change(earlier, tuple(since), None)
