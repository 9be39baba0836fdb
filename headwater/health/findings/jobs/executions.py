"""The executions of a job: its runs that belong together, such as the tries of one schedule slot or
the steps of one loop.

The runs of one slot are one execution, and so are the runs under one root or parent run
(docs/decisions/0018-executions.md). A run without either is an execution of its own. A run that
started more than 12 hours after the one before it begins another execution: a service has one root
run for months, and a slot may be run again days later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain

from headwater.health.findings.jobs.history import RunFact

# As for current edges in decision 0018.
PAUSE_MAX = timedelta(hours=12)


@dataclass(frozen=True)
class Execution:
    """The runs of one execution, by their start; it has at least one."""

    runs: tuple[RunFact, ...]

    @property
    def started(self) -> datetime:
        """Return the first start."""
        return self.runs[0].started

    @cached_property
    def nominal(self) -> datetime | None:
        """Return the nominal start; None if no run has one."""
        return min((run.nominal_start for run in self.runs if run.nominal_start), default=None)

    @cached_property
    def complete_runs(self) -> tuple[RunFact, ...]:
        """Return the runs that succeeded."""
        return tuple(run for run in self.runs if run.is_complete)


def group_executions(runs: Iterable[RunFact]) -> list[Execution]:
    """Return the executions of these runs, by their first start."""
    groups: dict[str, list[list[RunFact]]] = {}
    for run in sorted(runs, key=lambda run: (run.started, run.urn)):
        found = groups.setdefault(execution_key(run), [])
        if found and run.started - found[-1][-1].started <= PAUSE_MAX:
            found[-1].append(run)
        else:
            found.append([run])
    executions = [Execution(tuple(part)) for part in chain.from_iterable(groups.values())]
    return sorted(executions, key=lambda one: (one.started, one.runs[0].urn))


def execution_key(run: RunFact) -> str:
    """Return what the runs of one execution share."""
    if run.slot is not None:
        return run.slot.partition("#")[0]
    return run.execution or run.urn


def without_backfills(executions: Iterable[Execution]) -> list[Execution]:
    """Return the executions without those for an earlier period than one that started before."""
    found: list[Execution] = []
    newest: datetime | None = None
    for one in executions:
        nominal = one.nominal
        if nominal is not None and newest is not None and nominal <= newest:
            continue
        newest = nominal or newest
        found.append(one)
    return found
