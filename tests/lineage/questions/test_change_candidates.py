"""Column measures from every place that a run may report them, and within whatever bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.root_cause import root_cause
from headwater.lineage.view import GraphView
from headwater.schema.urns import source_urn
from tests.canonical import empty
from tests.event_builders import dataset, run_event, write_in_any_order
from tests.run_builders import Event, run_of, version

pytestmark = pytest.mark.neo4j

MEANS = (10.0, 10.2, 9.8, 12.0)


def metrics(mean: float) -> Event:
    column = {"sum": 100 * mean, "count": 100}
    return {"dataQualityMetrics": {"rowCount": 100, "columnMetrics": {"age": column}}}


def runs(job: str, place: str) -> list[Event]:
    """Return four runs of a job that report a mean at one place of their events."""
    events = []
    for number, mean in enumerate(MEANS):
        details: dict[str, Any] = {"job": job, "inputs": [f"{job}-raw"], "outputs": [job]}
        if place == "output facet":
            details["outputs"] = [dataset(job, usage=metrics(mean))]
        elif place == "dataset facet":
            details["outputs"] = [dataset(job, metrics(mean))]
        elif place == "input facet":
            details["inputs"] = [dataset(f"{job}-raw", usage=metrics(mean), side="input")]
        events.append(run_event(f"{job}-{number}", "COMPLETE", 10 * number, **details))
        if place == "reader":
            checked = dataset(job, usage=metrics(mean), side="input")
            check: dict[str, Any] = {"job": f"{job}-check", "inputs": [checked]}
            events.append(run_event(f"{job}-c-{number}", "COMPLETE", 10 * number + 5, **check))
    return events


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    write_in_any_order(
        database,
        *runs("written", "output facet"),
        *runs("described", "dataset facet"),
        *runs("checked", "reader"),
        *runs("read", "input facet"),
    )
    yield view
    empty(database)


@pytest.mark.parametrize("job", ["written", "described", "checked"])
def test_a_measured_version(history: GraphView, job: str) -> None:
    """The baseline has mean 10 and deviation 0.2: 12 is 20 % and 10 deviations away."""
    (found,) = root_cause(history, version(job, f"{job}-3")).candidates
    assert (found.kind, found.urn) == ("COLUMN_MEASURE_CHANGED", version(job, f"{job}-3"))
    assert (found.run, found.distance) == (run_of(f"{job}-3"), 1)
    assert found.reason == (
        f"in {job} the mean of age is 12, the baseline of 3 is 10 (+20.0%, 10.0 standard "
        "deviations)"
    )
    assert found.compared_with == tuple(version(job, f"{job}-{number}") for number in (2, 1, 0))


def test_a_measured_source(history: GraphView) -> None:
    (found,) = root_cause(history, version("read", "read-3")).candidates
    assert (found.kind, found.urn) == ("COLUMN_MEASURE_CHANGED", source_urn("db", "read-raw"))
    assert (found.run, found.distance) == (run_of("read-3"), 1)
    assert found.compared_with == tuple(run_of(f"read-{number}") for number in (2, 1, 0))


@pytest.mark.parametrize("job", ["written", "described", "checked", "read"])
@pytest.mark.parametrize("number", range(3))
def test_noise_and_first_versions(history: GraphView, job: str, number: int) -> None:
    assert root_cause(history, version(job, f"{job}-{number}")).candidates == []
