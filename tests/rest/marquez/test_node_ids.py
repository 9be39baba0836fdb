"""Marquez' node ids: every possible split is tried, and the longest namespace wins."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.lineage.view import GraphView
from headwater.rest.marquez.node_ids import node_id, urn_of
from headwater.rest.operations import ArgumentError
from headwater.schema.urns import column_urn, dataset_urn, job_urn, run_urn
from tests.rest.marquez.run_history import BUCKET, FIRST

ASSETS = ("dataset", "job")


def test_ids_of_nodes() -> None:
    assert node_id(dataset_urn(BUCKET, "raw/orders")) == "dataset:s3://lake:raw/orders"
    assert node_id(column_urn("db", "orders", "id")) == "datasetField:db:orders:id"
    assert node_id(job_urn("etl", "load")) == "job:etl:load"
    assert node_id(run_urn(FIRST)) == f"run:{FIRST}"


@pytest.mark.neo4j
@pytest.mark.usefixtures("folded")
@pytest.mark.parametrize(
    ("text", "urn"),
    [
        ("dataset:s3://lake:raw/orders", dataset_urn(BUCKET, "raw/orders")),
        ("dataset:colons:here:a:b", dataset_urn("colons:here", "a:b")),
        ("job:etl:load", job_urn("etl", "load")),
        ("job:etl:load#00000000-0000-4000-8000-000000000001", job_urn("etl", "load")),
    ],
)
def test_an_id_finds_its_node(database: Database, text: str, urn: str) -> None:
    assert urn_of(GraphView(database), text, kinds=ASSETS) == urn


@pytest.mark.neo4j
@pytest.mark.usefixtures("folded")
def test_other_ids_are_refused(database: Database) -> None:
    view = GraphView(database)
    for text in ("table:x:y", f"run:{FIRST}", "dataset:", f"dataset:{':' * 30}"):
        with pytest.raises(ArgumentError) as caught:
            urn_of(view, text, kinds=ASSETS)
        assert caught.value.field == "nodeId"
    with pytest.raises(NotFoundError, match="node 'dataset:x' not found"):
        urn_of(view, "dataset:x", kinds=ASSETS)
