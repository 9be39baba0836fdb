"""Every figure of a history worked out by hand (story.py)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.figures.definitions import FIGURES
from headwater.health.figures.measures import MEASURES, Measure, weighted_median
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.event_builders import run_event
from tests.health.figures.story import NOW
from tests.run_builders import FACET, Event, ds, job, run, run_of, write_events

OF_ETL = Visibility(("etl",))


def measured(view: GraphView, name: str) -> Measure:
    return MEASURES[name](view, NOW)


def test_every_figure_has_a_measure() -> None:
    assert MEASURES.keys() == FIGURES.keys()


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("name", "measure"),
    [
        # raw, orders, mart, model, oracle, out and archive of 8 datasets; all jobs but guess.
        ("coverage", Measure(12 / 14, 12, 14, [ds("lone"), job("guess")])),
        ("unknown-downstreams",
         Measure(0.5, 4, 8, [ds("archive"), ds("model"), ds("oracle"), ds("out")])),
        # orders three times with 6 nodes downstream, mart with 4; archive, oracle and model twice
        # with none: 0 0 0 0 4 6 6 6.
        ("median-blast-radius",
         Measure(2.0, None, 8, [ds("orders"), ds("mart"), ds("archive"), ds("model"), ds("oracle")])),
        ("certified-path-integrity", Measure(1.0, 1, 1)),
        ("model-completeness", Measure(2 / 3, 2, 3, [ds("oracle")])),
        ("active-pipelines",
         Measure(5, 5, 6, [job("build"), job("guess"), job("load"), job("ship"), job("train")])),
        # load writes certified orders, ship has tier=1.
        ("critical-consumers", Measure(2, 2, 5, [job("load"), job("ship")])),
        # The check positive of orders failed; mart.customer has undeclared personal data.
        ("compliance-incidents", Measure(2, 2, 8, [ds("mart"), ds("orders")])),
        # mart.customer comes from the tagged column of orders; best cites mart, train reads it.
        ("exposed-artifacts", Measure(3, 3, 8, ["answer:best", ds("mart"), ds("model")])),
        ("correlated-traces", Measure(None, 0, 0)),
        ("open-actions", Measure(3, 3, 14, [job("ship"), ds("mart"), ds("orders")])),
        ("failing-runs", Measure(1 / 8, 1, 8, [run_of("bad")])),
    ],
)  # fmt: skip
def test_a_figure_is_as_worked_out(story: GraphView, name: str, measure: Measure) -> None:
    assert measured(story, name) == measure


@pytest.mark.neo4j
def test_a_trace_is_correlated_if_its_runs_are_of_two_namespaces(
    story: GraphView, database: Database
) -> None:
    def traced(name: str, namespace: str, minute: int, *traces: str) -> Event:
        facets = {f"span{n}": {**FACET, "traceId": one} for n, one in enumerate(traces)}
        event = run_event(name, minute=minute, job=name)
        event["job"]["namespace"] = namespace
        return event | {"run": {"runId": name, "facets": facets}}

    one, two, three = ("a" * 32, "b" * 32, "c" * 32)
    write_events(
        database,
        [
            traced("checkout", "service://shop", 1, one, two),
            traced("charge", "service://bank", 2, one),
            traced("ship-it", "service://shop", 3, two, three),
        ],
    )
    # Of three traces, one reaches the shop and the bank.
    measure = MEASURES["correlated-traces"](story, NOW)
    assert (measure.value, measure.numerator, measure.denominator) == (1 / 3, 1, 3)
    assert measure.urns == [run_of("ship-it")]
    hidden = story.visible_to(Visibility(("service://shop",)))
    assert MEASURES["correlated-traces"](hidden, NOW).numerator == 0


@pytest.mark.neo4j
def test_the_time_to_impact_ends_when_the_failure_is_in_the_graph(
    story: GraphView, database: Database
) -> None:
    epoch = datetime(2026, 1, 1, tzinfo=UTC)
    failed_at = datetime.now(UTC) - timedelta(minutes=10)
    minute = int((failed_at - epoch).total_seconds() // 60)
    write_events(database, run("late", "ship", ["mart"], ["out"], minute=minute, status="FAIL"))
    now = datetime.now(UTC)
    measure = MEASURES["time-to-impact"](story, now)
    delay = (now - epoch).total_seconds() - 60 * (minute + 1)
    assert measure.denominator == 1
    assert measure.urns == [run_of("late")]
    assert measure.value is not None
    assert delay - 60 <= measure.value <= delay + 1


@pytest.mark.neo4j
def test_hidden_nodes_are_not_counted(story: GraphView) -> None:
    view = story.visible_to(OF_ETL)
    assert MEASURES["unknown-downstreams"](view, NOW) == Measure(None, 0, 0)
    assert MEASURES["compliance-incidents"](view, NOW) == Measure(0, 0, 0)
    assert MEASURES["exposed-artifacts"](view, NOW) == Measure(0, 0, 0)
    assert MEASURES["median-blast-radius"](view, NOW) == Measure(None, None, 0)
    # The tag of load is that of its output, which is hidden.
    assert MEASURES["critical-consumers"](view, NOW).urns == [job("ship")]


@pytest.mark.parametrize(
    ("weighted", "median"),
    [
        ({}, None),
        ({"a": (3, 1)}, 3),
        ({"a": (3, 1), "b": (5, 1)}, 4),
        ({"a": (3, 1), "b": (5, 2)}, 5),
        ({"a": (0, 4), "b": (4, 1), "c": (6, 3)}, 2),
        ({"a": (0, 5), "b": (4, 1), "c": (6, 3)}, 0),
    ],
)
def test_the_median_counts_each_value_as_often_as_it_occurs(
    weighted: dict[str, tuple[float, int]], median: float | None
) -> None:
    assert weighted_median(weighted) == median
