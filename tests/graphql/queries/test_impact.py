"""impact(changes) over GraphQL, on the real Neo4j."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from tests.event_builders import dataset, run_event, schema, write_batch
from tests.graphql.conftest import Ask
from tests.run_builders import ds

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

QUERY = """query ($changes: [ChangeInput!]!) { impact(changes: $changes) {
  riskLevel affectedCount breakingCount warningCount certifiedCount owners hiddenAffected
  truncated truncatedBy notes
  affected { urn kind namespace name assetType severity references distance owners certified outputs
    evidence { kind path file line text unknown } } } }"""


def test_a_report(database: Database, data: Ask) -> None:
    facets = {
        "sql": {"query": "create table mart as\nselect sum(total) as t from orders"},
        "ownership": {"owners": [{"name": "team:finance"}]},
        "jobType": {"processingType": "BATCH", "integration": "DBT", "jobType": "MODEL"},
    }
    orders = dataset("orders", schema(total="int", note="string"))
    write_batch(
        database,
        [run_event("r1", inputs=[orders], outputs=["mart"], job="mart", job_facets=facets)],
    )
    change = {"type": "column_rename", "urn": ds("orders"), "from": "total", "to": "amount"}
    add = {
        "type": "column_add",
        "urn": ds("orders"),
        "column": "note",
        "data_type": "string",
        "nullable": True,
    }
    found = data(QUERY, changes=[change, add])["impact"]
    assert found == {
        "riskLevel": "high",
        "affectedCount": 1,
        "breakingCount": 1,
        "warningCount": 0,
        "certifiedCount": 0,
        "owners": ["team:finance"],
        "hiddenAffected": False,
        "truncated": False,
        "truncatedBy": None,
        "notes": ["orders already has a column 'note'"],
        "affected": [
            {
                "urn": "job:etl:mart",
                "kind": "JOB",
                "namespace": "etl",
                "name": "mart",
                "assetType": "dbt_model",
                "severity": "breaking",
                "references": ["total"],
                "distance": 1,
                "owners": ["team:finance"],
                "certified": False,
                "outputs": [ds("mart")],
                "evidence": [
                    {
                        "kind": "SQL_LINE",
                        "path": ["column:db:orders:total"],
                        "file": "",
                        "line": 2,
                        "text": "select sum(total) as t from orders",
                        "unknown": [],
                    }
                ],
            }
        ],
    }


def test_errors_name_the_fault(refused: Ask) -> None:
    error = refused(
        QUERY, changes=[{"type": "column_rename", "urn": ds("orders"), "from": "total"}]
    )
    assert error["message"] == "changes[0]: column_rename: 'to' is missing"
    assert "order_total" in str(error["extensions"])
    assert "at least one change" in refused(QUERY, changes=[])["message"]


def test_stale_readers_are_counted_when_asked_for(database: Database, data: Ask) -> None:
    write_batch(
        database,
        [
            run_event("r1", inputs=["old"], outputs=["mart"], job="load"),
            run_event("r2", inputs=["new"], outputs=["mart"], job="load", minute=5),
        ],
    )
    query = """query ($changes: [ChangeInput!]!, $all: Boolean!) {
      impact(changes: $changes, includeStale: $all) { affectedCount } }"""
    change = {"type": "table_drop", "urn": ds("old")}
    counts = [
        data(query, changes=[change], all=stale)["impact"]["affectedCount"]
        for stale in (False, True)
    ]
    assert counts == [0, 1]


def test_missing_nodes(refused: Ask) -> None:
    error = refused(QUERY, changes=[{"type": "table_drop", "urn": ds("nowhere")}])
    assert error["extensions"]["code"] == "NOT_FOUND"
