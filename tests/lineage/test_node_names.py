"""Names of nodes by their urns and properties."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError
from headwater.lineage.node_names import NodeName, kind_of, node_name, node_names_of
from headwater.schema.urns import column_urn, dataset_urn, job_urn, run_urn


def test_urn_names_its_node() -> None:
    dataset = dataset_urn("db", "a.b")
    assert node_name(dataset, {}) == NodeName(dataset, "DATASET", "db", "a.b")
    column = column_urn("db", "a", "id")
    assert node_name(column, {}) == NodeName(column, "COLUMN", "db", "a.id")
    assert node_name("answer:x", {}) == NodeName("answer:x", "ANSWER", None, "x")
    assert node_name("hidden:1234", {}) == NodeName("hidden:1234", "HIDDEN", None, "hidden")


def test_run_bears_the_name_of_its_pipeline() -> None:
    run = run_urn("r1")
    row = {"runId": "r1", "namespace": "etl", "pipelineName": "load"}
    assert node_names_of([run], {run: row}) == [NodeName(run, "PIPELINE_RUN", "etl", "load")]
    assert node_name(run, {}).name == "r1"


def test_hashed_urn_takes_its_name_from_the_properties() -> None:
    urn = dataset_urn("db", "x" * 3_000)
    row = {"namespace": "db", "name": "x" * 3_000}
    assert node_name(urn, row).name == "x" * 3_000
    assert node_name(urn, {}).name == urn


def test_kind_is_the_label_in_capitals() -> None:
    assert [kind_of(urn) for urn in (job_urn("etl", "j"), run_urn("r"))] == ["JOB", "PIPELINE_RUN"]
    with pytest.raises(QueryError):
        kind_of("nothing of the kind")
