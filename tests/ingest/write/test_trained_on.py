"""Labels of datasets by type, and the data that models were trained on, in any order of events."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import load_queries
from tests.canonical import canonical, edges, empty
from tests.event_builders import (
    dataset,
    dataset_event,
    job_event,
    run_event,
    symlinks,
    write_batch,
    write_in_any_order,
)
from tests.run_builders import Event, ds

pytestmark = pytest.mark.neo4j

MODEL: Event = {"datasetType": {"datasetType": "MODEL"}}
TABLE: Event = {"datasetType": {"datasetType": "TABLE"}}
LABELS = "MATCH (d:Dataset) RETURN d.name AS name, [l IN labels(d) WHERE l <> 'Dataset'] AS labels"


def labels(database: Database) -> dict[str, list[str]]:
    return {row["name"]: row["labels"] for row in database.ask(LABELS, {})}


def trained_on(database: Database) -> set[tuple[str, str]]:
    return {(source, target) for source, _, target in edges(database, "TRAINED_ON")}


def test_the_newest_type_is_the_label(database: Database) -> None:
    write_in_any_order(
        database,
        dataset_event("a", 1, TABLE),
        dataset_event("a", 2, {"datasetType": {"datasetType": "VIEW"}}),
        dataset_event("b", 1, MODEL),
        dataset_event("b", 2, {"datasetType": {"_deleted": True}}),
        dataset_event("c", 1),
        dataset_event("/x/c.csv", 1, namespace="file"),
    )
    assert labels(database) == {"a": ["View"], "b": [], "c": [], "/x/c.csv": ["File"]}


def test_a_model_is_trained_on_the_inputs_of_its_newest_run(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r1", minute=1, inputs=["old"], outputs=[dataset("m", MODEL), "report"]),
        run_event("r2", minute=2, inputs=["new", "m"], outputs=["m", "report"]),
        run_event("r3", "FAIL", minute=3, inputs=["other"], outputs=["m"]),
        run_event("r4", minute=4, job="score", inputs=["m", "new"], outputs=["scores"]),
    )
    assert trained_on(database) == {(ds("m"), ds("new"))}


def test_named_origins_and_declarations_count(database: Database) -> None:
    origins = {
        "columnLineage": {
            "fields": {"x": {"inputFields": [{"namespace": "db", "name": "a", "field": "x"}]}}
        }
    }
    write_in_any_order(
        database,
        run_event("r1", minute=1, inputs=["a", "b"], outputs=[dataset("m", {**MODEL, **origins})]),
        job_event("declared", 1, inputs=["c"], outputs=[dataset("n")]),
        dataset_event("n", 3, MODEL),
    )
    assert trained_on(database) == {(ds("m"), ds("a")), (ds("n"), ds("c"))}


def test_a_dataset_that_is_no_model_any_longer_was_trained_on_nothing(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r1", minute=1, inputs=["a"], outputs=[dataset("m", MODEL)]),
        dataset_event("m", 3, TABLE),
    )
    assert trained_on(database) == set()
    assert labels(database)["m"] == ["Table"]


def test_names_that_are_joined_later_keep_label_and_training_data(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r1", minute=1, inputs=["a"], outputs=[dataset("m2", MODEL)]),
        run_event("r2", minute=2, job="k", inputs=["b"], outputs=["m"]),
        dataset_event("m", 3, symlinks("m2")),
        dataset_event("a", 3, symlinks("a2")),
    )
    (model,) = [name for name, found in labels(database).items() if found == ["Model"]]
    found = trained_on(database)
    assert {source for source, _ in found} == {ds(model)}
    assert len(found) == 2


def test_a_new_job_of_a_known_model_in_a_later_batch(database: Database) -> None:
    empty(database)
    write_batch(database, [run_event("r1", minute=1, inputs=["a"], outputs=[dataset("m", MODEL)])])
    write_batch(database, [run_event("r2", minute=2, job="k", inputs=["b"], outputs=["m"])])
    assert trained_on(database) == {(ds("m"), ds("a")), (ds("m"), ds("b"))}
    text = (
        "MATCH (m:Model {name: 'm'})-[:TRAINED_ON]->(d:Dataset) RETURN d.name AS name ORDER BY name"
    )
    assert [row["name"] for row in database.ask(text, {})] == ["a", "b"]


def test_the_migration_gives_an_older_graph_what_the_worker_writes(database: Database) -> None:
    types = ["MODEL", "dbt-model", "feature group", "VIEW", "PATH", "STREAM", "ANSWER", ""]
    places = ["file", "s3://b", "kafka://k:9092", "postgres://p:5432", "bigquery", "files", "hive:"]
    events = [
        dataset_event(f"t{number}", 1, {"datasetType": {"datasetType": type}})
        for number, type in enumerate(types)
    ]
    events += [dataset_event("p", 1, namespace=place) for place in places]
    events.append(
        dataset_event("i", 1, {"storage": {"storageLayer": "iceberg"}}, namespace="s3://b")
    )
    events.append(run_event("r1", minute=2, inputs=["a", "t0"], outputs=["t0", "b"]))
    empty(database)
    write_batch(database, events)
    expected = canonical(database)
    database.run_batches("MATCH (d:Dataset) REMOVE d:Feature:File:Model:Table:Topic:View")
    database.run_batches("MATCH ()-[e:TRAINED_ON]->() DELETE e")
    assert canonical(database) != expected
    text = load_queries()["migrations/0032_labels_by_type"].text
    body = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    for statement in body.split(";\n"):
        if "IN TRANSACTIONS" in statement:
            database.run_batches(statement.strip().rstrip(";"))
    assert canonical(database) == expected
    assert any('"TRAINED_ON"' in line for line in expected[1])
