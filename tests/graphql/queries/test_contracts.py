"""Data contracts in the schema: kept, broken and healed, for keys that see a part of the graph."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.contracts.compile import compile_contract, contract_event
from headwater.governance.contracts.names import NamedDataset
from headwater.governance.contracts.standard import read_document
from headwater.health.findings.datasets.reader import read_dataset_histories
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.event_builders import dataset, run_event, schema
from tests.graphql.conftest import Ask
from tests.run_builders import at, ds, write_events

pytestmark = pytest.mark.neo4j

CONTRACT = {
    "apiVersion": "v3.1.0",
    "kind": "DataContract",
    "id": "orders",
    "version": "1.0.0",
    "status": "active",
    "contractCreatedTs": at(0),
    "servers": [
        {
            "server": "prod",
            "type": "custom",
            "customProperties": [{"property": "openlineageNamespace", "value": "db"}],
        }
    ],
    "schema": [
        {
            "name": "orders",
            "properties": [
                {"name": "id", "logicalType": "integer"},
                {"name": "mail", "logicalType": "string", "classification": "restricted"},
            ],
        }
    ],
}
TABLE = NamedDataset("db", "orders", "orders")
FULL = schema(id="int", mail="string")
QUERY = """query ($open: Boolean, $after: String) {
  contracts { totalCount nodes { contractId version state isBinding dataset { urn }
    versions { version } clauses { clause column kept actual } } }
  contractViolations(open: $open, first: 1, after: $after) {
    totalCount
    nodes { clause column actual since until endedBy run { runId } job { urn } consumers { urn } }
    pageInfo { hasNextPage endCursor }
  } }"""


def written(name: str, minute: int, facets: dict[str, Any]) -> list[dict[str, Any]]:
    outputs = [dataset("orders", facets)]
    return [run_event(name, "COMPLETE", minute, job="load", inputs=["raw"], outputs=outputs)]


def contract(**more: Any) -> dict[str, Any]:
    document = read_document(json.dumps({**CONTRACT, **more}))
    return contract_event(TABLE, compile_contract(document, "orders"), at(1))


@pytest.fixture
def history(database: Database, view: GraphView) -> None:
    empty(database)
    write_events(
        database,
        [contract()],
        written("r1", 2, FULL),
        written("r2", 10, schema(id="string")),
        [run_event("r3", "COMPLETE", 20, job="report", inputs=["orders"], outputs=["sums"])],
    )
    # Neo4j plans each statement once, which takes seconds on a busy machine.
    read_dataset_histories(view, [ds("orders")], datetime.now(UTC))


@pytest.mark.usefixtures("history")
def test_who_broke_which_clause(ask: Ask) -> None:
    answer = ask(QUERY)
    assert "errors" not in answer, answer
    found = answer["data"]
    [one] = found["contracts"]["nodes"]
    assert (one["contractId"], one["state"], one["isBinding"]) == ("orders", "VIOLATED", True)
    assert one["dataset"] == {"urn": ds("orders")}
    assert one["clauses"] == [
        {"clause": "column", "column": "id", "kept": True, "actual": "present"},
        {"clause": "type", "column": "id", "kept": False, "actual": "string"},
        {"clause": "column", "column": "mail", "kept": False, "actual": "missing"},
        {"clause": "type", "column": "mail", "kept": True, "actual": "string"},
    ]
    assert found["contractViolations"]["totalCount"] == 2
    [broken] = found["contractViolations"]["nodes"]
    assert (broken["clause"], broken["column"], broken["until"]) == ("column", "mail", None)
    assert broken["run"] == {"runId": "r2"}
    assert [job["urn"].rpartition(":")[2] for job in (broken["job"], *broken["consumers"])] == [
        "load",
        "report",
    ]
    page = found["contractViolations"]["pageInfo"]
    after = ask(QUERY, after=page["endCursor"])["data"]["contractViolations"]
    assert ([each["clause"] for each in after["nodes"]], after["pageInfo"]["hasNextPage"]) == (
        ["type"],
        False,
    )


@pytest.mark.usefixtures("history")
def test_a_later_version_heals_it(ask: Ask, database: Database) -> None:
    write_events(database, written("r4", 30, FULL))
    found = ask(QUERY, open=False)["data"]
    assert found["contracts"]["nodes"][0]["state"] == "KEPT"
    assert found["contractViolations"]["totalCount"] == 2
    assert found["contractViolations"]["nodes"][0]["until"] is not None
    none = ask(QUERY, open=True)["data"]["contractViolations"]
    assert (none["totalCount"], none["nodes"]) == (0, [])


@pytest.mark.usefixtures("history")
def test_wrong_questions(ask: Ask) -> None:
    bad = ask(QUERY, after="x")
    assert "cursor" in bad["errors"][0]["message"]
    check = 'query ($c: JSON!) { contractCheck(namespace: "db", name: "orders", contract: $c) { state } }'
    wrong: list[Any] = [{}, [], {"contractId": 7, "version": "1"}, "x"]
    for content in wrong:
        assert ask(check, c=content)["errors"]
    kept = {"contractId": "a", "version": "1", "columns": [{"name": "id"}, None, {"name": 7}]}
    assert ask(check, c=kept)["data"]["contractCheck"]["state"] == "KEPT"


@pytest.mark.usefixtures("history")
def test_what_a_version_changed(ask: Ask, database: Database) -> None:
    fields = [{"name": "id", "logicalType": "string"}, {"name": "day", "logicalType": "date"}]
    newer = {"version": "2.0.0", "contractCreatedTs": at(40)}
    write_events(database, [contract(**newer, schema=[{"name": "orders", "properties": fields}])])
    found = ask(
        """{ contracts { nodes { versions { version changes {
          change clause column before after breaking } } } } }"""
    )["data"]["contracts"]["nodes"][0]["versions"]
    assert [(one["version"], one["changes"] is None) for one in found] == [
        ("1.0.0", True),
        ("2.0.0", False),
    ]
    assert [tuple(change.values()) for change in found[1]["changes"]] == [
        ("added", "column", "day", None, "present", False),
        ("removed", "column", "mail", "present", None, True),
        ("added", "type", "day", None, "date", False),
        ("changed", "type", "id", "integer", "string", True),
        ("removed", "type", "mail", "string", None, True),
    ]
