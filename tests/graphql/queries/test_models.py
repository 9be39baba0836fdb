"""Models in the schema, on a history of two trainings worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema.urns import artifact_urn, column_urn, dataset_urn
from tests.canonical import empty
from tests.event_builders import columns, dataset, dataset_event, run_event, schema
from tests.graphql.conftest import Ask
from tests.run_builders import Event, ds, write_events

pytestmark = pytest.mark.neo4j

MODEL: Event = {"datasetType": {"datasetType": "MODEL"}}
RAW, FEATURES, OLD = ds("raw"), ds("features"), ds("old")
CHURN = dataset_urn("mlflow", "churn")


def trained(version: str, **types: str) -> Event:
    """Return a version of the model; each feature comes from the column of that name."""
    origins = columns(**{name: [("features", name)] for name in types if name != "constant"})
    facets = {**MODEL, **schema(**types), **origins, "version": {"datasetVersion": version}}
    return dataset("churn", facets, namespace="mlflow")


def training(depth: str, auc: float, digest: str) -> Event:
    data = [{"namespace": "db", "name": "features", "digest": digest}]
    return {
        "executionParameters": {"parameters": [{"key": "depth", "name": "depth", "value": depth}]},
        "headwater_mlflow": {"metrics": {"auc": auc}, "data": data},
    }


@pytest.fixture(autouse=True)
def history(database: Database) -> None:
    empty(database)
    made = {**schema(tenure="long", plan="string"), **columns(tenure=[("raw", "since")])}
    write_events(
        database,
        [
            run_event("f", minute=0, job="build", inputs=["raw"], outputs=[dataset("features", made)]),
            run_event(
                "t1", minute=1, job="train", inputs=["features", "old"],
                outputs=[trained("1", tenure="long")], facets=training("3", 0.7, "aa"),
            ),
            run_event(
                "t2", minute=2, job="train", inputs=["features"],
                outputs=[trained("2", tenure="double", constant="long")],
                facets=training("5", 0.8, "bb"),
            ),
            run_event("s", minute=3, job="segment", inputs=["features"],
                outputs=[dataset("segments", MODEL)]),
            dataset_event("features", 4, {"tags": {"tags": [{"key": "deprecated", "value": "true"}]}}),
            dataset_event("today", 4, schema(tenure="integer", constant="long", more="string")),
            dataset_event("texts", 4, schema(tenure="string")),
        ],
    )  # fmt: skip


def test_models_with_training_data_and_newest_version(ask: Ask) -> None:
    found = ask(
        """{ models(deprecatedOnly: true) { totalCount nodes { urn dataset { name }
          trainedOn { urn } deprecatedInputs { urn }
          versions { version featureCompleteness features { name type sources } } } } }"""
    )["data"]["models"]
    assert found["totalCount"] == 2
    segments, churn = found["nodes"]
    assert (churn["urn"], churn["dataset"]) == (CHURN, {"name": "churn"})
    assert churn["trainedOn"] == churn["deprecatedInputs"] == [{"urn": FEATURES}]
    assert churn["versions"] == [
        {
            "version": "2",
            "featureCompleteness": 0.5,
            "features": [
                {"name": "tenure", "type": "double", "sources": [RAW]},
                {"name": "constant", "type": "long", "sources": []},
            ],
        }
    ]
    assert segments["versions"][0]["featureCompleteness"] is None


def test_versions_have_what_the_training_reported(ask: Ask) -> None:
    found = ask(
        "query ($urn: ID!) { models(urn: $urn) { totalCount nodes { versions(first: 9) { urn version"
        " runUrn parameters { name value } metrics { name value }"
        " trainingData { datasetUrn digest } } } } }",
        urn=CHURN,
    )["data"]["models"]
    assert found["totalCount"] == 1
    found = found["nodes"][0]["versions"]
    assert [one["version"] for one in found] == ["2", "1"]
    assert found[0]["urn"] == artifact_urn("mlflow", "churn", "t2")
    assert found[0]["runUrn"] == "run:t2"
    assert found[0]["parameters"] == [{"name": "depth", "value": "5"}]
    assert found[0]["metrics"] == [{"name": "auc", "value": "0.8"}]
    assert found[0]["trainingData"] == [{"datasetUrn": FEATURES, "digest": "bb"}]


def test_what_changed_between_two_versions(ask: Ask) -> None:
    query = """query ($urn: ID!, $before: String, $after: String) {
      models(urn: $urn) { nodes {
        changes(before: $before, after: $after) { part name before after } } } }"""
    expected: list[dict[str, Any]] = [
        {"part": "PARAMETER", "name": "depth", "before": "3", "after": "5"},
        {"part": "METRIC", "name": "auc", "before": "0.7", "after": "0.8"},
        {"part": "DATA", "name": FEATURES, "before": "aa", "after": "bb"},
        {"part": "DATA", "name": OLD, "before": "source:db:old", "after": None},
        {"part": "FEATURE", "name": "constant", "before": None, "after": "long"},
        {"part": "FEATURE", "name": "tenure", "before": "long", "after": "double"},
    ]
    assert ask(query, urn=CHURN)["data"]["models"]["nodes"][0]["changes"] == expected
    named = {"before": "1", "after": artifact_urn("mlflow", "churn", "t2")}
    assert ask(query, urn=CHURN, **named)["data"]["models"]["nodes"][0]["changes"] == expected
    [error] = ask(query, urn=CHURN, before="9")["errors"]
    assert error["extensions"]["code"] == "NOT_FOUND"


def test_models_that_use_a_column(ask: Ask) -> None:
    query = "query ($urn: ID!) { modelsUsing(urn: $urn) { evidence model { urn } } }"
    since = column_urn("db", "raw", "since")
    segments = {"model": {"urn": ds("segments")}, "evidence": "DATASETS"}
    assert ask(query, urn=since)["data"]["modelsUsing"] == [
        segments,
        {"model": {"urn": CHURN}, "evidence": "COLUMNS"},
    ]
    plan = column_urn("db", "features", "plan")
    assert ask(query, urn=plan)["data"]["modelsUsing"] == [segments]
    assert [one["model"]["urn"] for one in ask(query, urn=RAW)["data"]["modelsUsing"]] == [
        ds("segments"),
        CHURN,
    ]
    for urn, code in [("job:etl:train", "BAD_REQUEST"), (ds("none"), "NOT_FOUND")]:
        [error] = ask(query, urn=urn)["errors"]
        assert error["extensions"]["code"] in (code, "INVALID")


def test_an_input_is_checked_against_the_features(ask: Ask) -> None:
    query = """query ($urn: ID!, $input: ID!) { models(urn: $urn) { nodes {
      inputCheck(input: $input) { fits reason problems { feature expected actual } } } } }"""
    fits = ask(query, urn=CHURN, input=ds("today"))["data"]["models"]["nodes"][0]["inputCheck"]
    assert fits == {"fits": True, "reason": "", "problems": []}
    broken = ask(query, urn=CHURN, input=ds("texts"))["data"]["models"]["nodes"][0]["inputCheck"]
    assert broken["fits"] is False
    assert broken["problems"] == [
        {"feature": "tenure", "expected": "double", "actual": "string"},
        {"feature": "constant", "expected": "long", "actual": None},
    ]
    unknown = ask(query, urn=CHURN, input=RAW)["data"]["models"]["nodes"][0]["inputCheck"]
    assert unknown == {"fits": None, "reason": "the dataset has no schema", "problems": []}
    no_features = ask(query, urn=ds("segments"), input=RAW)["data"]["models"]["nodes"][0][
        "inputCheck"
    ]
    assert no_features["fits"] is None
    [error] = ask(query, urn=FEATURES, input=RAW)["errors"]
    assert error["extensions"]["code"] == "NOT_FOUND"
