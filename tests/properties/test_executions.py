"""Current edges follow from the set of runs alone, by the rule of executions stated in Python."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.ingest.write.cache import WriteCache
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.event_builders import current, parent, run_event, write_batch
from tests.lineage_requests import lineage
from tests.run_builders import at, ds, job

HOUR = 60


class Run(NamedTuple):
    """A run of one job that ended; `execution` is the number of its application."""

    number: int
    minute: int
    state: str
    execution: int | None
    inputs: frozenset[str]


# Hours around the window of twelve hours, with ties.
runs = st.lists(
    st.builds(
        Run,
        number=st.integers(0, 7),
        minute=st.sampled_from([0, 1, 2, 3 * HOUR, 12 * HOUR + 1, 12 * HOUR + 2, 30 * HOUR]),
        state=st.sampled_from(["COMPLETE", "COMPLETE", "COMPLETE", "FAIL", "ABORT"]),
        execution=st.sampled_from([1, 1, 2, None]),
        inputs=st.frozensets(st.sampled_from("abcd"), min_size=1, max_size=2),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda run: run.number,
)


def used(runs: Sequence[Run], minute: int = 10_000) -> frozenset[str]:
    """Return the inputs of a job at a minute, by the rule of datasets_in_use."""
    ended = [run for run in runs if run.minute <= minute]
    successes = [run for run in ended if run.state == "COMPLETE"]
    failures = [run for run in ended if run.state != "COMPLETE" and run.execution is not None]
    if not successes:
        return frozenset().union(*(run.inputs for run in ended))

    def ends_well(run: Run) -> bool:
        later = [f for f in failures if f.execution == run.execution and f.minute >= run.minute]
        return run.execution is None or not later

    last = max((run.minute for run in successes if ends_well(run)), default=None)
    if last is None:
        return frozenset().union(*(run.inputs for run in successes))
    newest = max((run for run in successes if run.minute == last), key=lambda run: run.number)

    def belongs(run: Run) -> bool:
        return run.execution == newest.execution is not None and run.minute >= last - 12 * HOUR

    counted = [run for run in successes if run.minute > last or run == newest or belongs(run)]
    proven = frozenset().union(*(run.inputs for run in successes if run.minute <= last))
    failed = [run.inputs & proven for run in failures if run.minute <= last and belongs(run)]
    return frozenset().union(
        *(run.inputs for run in counted), *failed, returning(successes, newest)
    )


def returning(successes: Sequence[Run], newest: Run) -> frozenset[str]:
    """Return the inputs that two runs read, and a run between them in an execution without them."""

    def execution(run: Run) -> int:
        return run.execution if run.execution is not None else 100 + run.number

    found = set()
    for name in "abcd":
        uses = [run for run in successes if name in run.inputs]
        using = {execution(run) for run in uses}
        if not uses or execution(newest) in using:
            continue
        first, last = min(run.minute for run in uses), max(run.minute for run in uses)
        others = [run for run in successes if execution(run) not in using]
        if any(first < run.minute < last for run in others):
            found.add(name)
    return frozenset(found)


@pytest.mark.neo4j
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    runs=runs, order=st.randoms(use_true_random=False), minute=st.sampled_from([1, 2, 13 * HOUR])
)
def test_current_edges_are_those_of_the_rule(
    database: Database, view: GraphView, runs: list[Run], order: object, minute: int
) -> None:
    shuffled = [*runs, *order.choices(runs, k=2)]  # type: ignore[attr-defined]
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    note(f"written as {shuffled}")
    empty(database)
    cache = WriteCache()
    for run in shuffled:
        write_batch(database, [_event(run)], cache, defer=True)
    assert _inputs(database) == used(runs)
    as_of = datetime.fromisoformat(at(minute).replace("Z", "+00:00")) + timedelta(seconds=1)
    found = lineage(view, job("j"), direction="UPSTREAM", as_of=as_of)
    seen = {one.urn for one in found.nodes} - {job("j")}
    known = frozenset().union(*(run.inputs for run in runs if run.minute <= minute))
    assert seen == {ds(name) for name in used(runs, minute) & known}


def _event(run: Run) -> dict[str, object]:
    facets = None
    if run.execution is not None:
        application = f"app{run.execution}"
        facets = parent(application, "app", (application, "app"))
    return run_event(
        f"r{run.number}", run.state, run.minute, inputs=sorted(run.inputs), facets=facets
    )


def _inputs(database: Database) -> set[str]:
    return {source.removeprefix(ds("")) for source, _, _ in current(database)}
