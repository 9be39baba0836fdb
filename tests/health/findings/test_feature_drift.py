"""Drift between the training of a model and its inference, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.feature_drift import (
    Inference,
    Trained,
    detect_feature_drift,
    feature_drift_episodes,
)
from headwater.lineage.questions.models import check_input
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.event_builders import dataset, run_event, schema
from tests.run_builders import Event, ds, write_events

START = datetime(2026, 1, 1, tzinfo=UTC)
CHURN = ds("churn")
BASELINE = {("tenure", "mean"): [24.3]}
FIRST = Trained("artifact:db:churn:1", START, BASELINE)
SECOND = Trained("artifact:db:churn:2", START + timedelta(days=3), {("tenure", "mean"): [18.7]})


def inference(day: int, value: float, version: Trained = FIRST) -> Inference:
    measures = {("tenure", "mean"): value}
    at = START + timedelta(days=day)
    return Inference(at, f"run:{day}", ds("today"), (version.urn,), measures)


def test_a_spell_begins_outside_and_ends_within() -> None:
    runs = [inference(1, 24.0), inference(2, 18.7), inference(3, 18.5), inference(5, 24.5)]
    (episode,) = detect_feature_drift(CHURN, [FIRST], runs[::-1])
    assert (episode.rule, episode.subject, episode.key) == ("feature-drift", CHURN, "run:2")
    assert episode.first_seen == START + timedelta(days=2)
    assert episode.last_seen == START + timedelta(days=3)
    assert (episode.resolved_at, episode.resolved_by) == (START + timedelta(days=5), "run:5")
    assert episode.evidence["features"] == [
        {
            "feature": "tenure",
            "measure": "mean",
            "value": 18.7,
            "training": 24.3,
            "deviation": None,
            "share": -0.230453,
            "compared": 1,
            "dataset": ds("today"),
            "model": FIRST.urn,
        }
    ]


def test_a_new_training_on_the_new_data_ends_it() -> None:
    runs = [inference(2, 18.7), inference(4, 18.7, SECOND)]
    (episode,) = detect_feature_drift(CHURN, [FIRST, SECOND], runs)
    assert episode.resolved_by == "run:4"


def test_without_a_measured_training_there_is_no_finding() -> None:
    bare = Trained(FIRST.urn, START, {})
    assert list(detect_feature_drift(CHURN, [bare], [inference(2, 18.7)])) == []
    assert list(detect_feature_drift(CHURN, [], [inference(2, 18.7)])) == []


def measured(name: str, mean: float, **more: Any) -> Event:
    metrics = {"rowCount": 10, "columnMetrics": {"tenure": {"sum": mean * 10, "count": 10}}}
    facets = {**schema(tenure="double"), "dataQualityMetrics": metrics, **more}
    return dataset(name, facets)


@pytest.fixture
def graph(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    model = dataset("churn", {"datasetType": {"datasetType": "MODEL"}, **schema(tenure="double")})
    events = [
        run_event("f", minute=0, job="build", inputs=["raw"], outputs=[measured("train", 24.3)]),
        run_event("t", minute=1, job="fit", inputs=["train"], outputs=[model]),
        run_event("b", minute=2, job="today", inputs=["raw"], outputs=[measured("today", 18.7)]),
        run_event(
            "p", minute=3, job="predict", inputs=["churn", measured("today", 18.7)],
            outputs=["scores"],
        ),
    ]  # fmt: skip
    write_events(database, events)
    yield view
    empty(database)


@pytest.mark.neo4j
def test_the_history_of_a_graph(graph: GraphView, database: Database) -> None:
    (episode,) = feature_drift_episodes(graph, [CHURN, ds("today"), ds("none")])[CHURN]
    assert episode.first_seen == START + timedelta(minutes=3)
    (feature,) = episode.evidence["features"]
    assert (feature["feature"], feature["value"], feature["training"]) == ("tenure", 18.7, 24.3)
    assert feature["dataset"] == ds("today")
    assert episode.resolved_at is None
    write_events(
        database,
        [run_event("p2", minute=9, job="predict", inputs=["churn", measured("today", 24.4)])],
    )
    (after,) = feature_drift_episodes(graph, [CHURN])[CHURN]
    assert after.id == episode.id
    assert after.resolved_at == START + timedelta(minutes=9)


@pytest.mark.neo4j
def test_the_check_before_inference_names_the_drift(graph: GraphView) -> None:
    found = check_input(graph, CHURN, ds("today"))
    assert found.fits is True
    (change,) = found.drift
    assert (change.column, change.measure, change.value, change.mean) == (
        "tenure",
        "mean",
        18.7,
        24.3,
    )
    assert check_input(graph, CHURN, ds("train")).drift == []
