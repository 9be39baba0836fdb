"""Personal data in the schema: the answers of `personalData` on an estate worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import approval_event
from headwater.schema.urns import column_urn
from tests.canonical import empty
from tests.governance.personal_data.histories import estate
from tests.graphql.conftest import Ask
from tests.run_builders import answer, at, ds, write_events

pytestmark = pytest.mark.neo4j


def col(dataset: str, name: str = "mail") -> str:
    return column_urn("db", dataset, name)


@pytest.fixture(autouse=True)
def history(database: Database) -> None:
    empty(database)
    write_events(database, estate(), answer("kpi", "features", minute=5))


def urns(found: dict[str, Any], name: str = "personalData") -> list[str]:
    assert "errors" not in found, found
    return [edge["node"]["urn"] for edge in found["data"][name]["edges"]]


def test_unmasked_personal_data_with_its_paths(ask: Ask) -> None:
    found = ask(
        "{ personalData(unmaskedOnly: true) { edges { node { urn classification path } } } }"
    )
    paths = {
        edge["node"]["urn"]: edge["node"]["path"] for edge in found["data"]["personalData"]["edges"]
    }
    assert paths == {
        "answer:kpi": [col("raw"), col("features"), "answer:kpi"],
        col("features"): [col("raw"), col("features")],
        col("export", "m"): [col("raw"), col("features"), col("export", "m")],
        ds("churn"): [col("raw"), col("features"), ds("churn")],
        ds("export"): [col("raw"), col("features"), col("export", "m"), ds("export")],
        ds("features"): [col("raw"), col("features"), ds("features")],
    }


def test_states_kinds_and_counts(ask: Ask) -> None:
    found = ask(
        """{ personalData(first: 100) { totalCount exposedCount unknownCount nodes {
          urn kind state masked unknown influence suggested
          steps { source target job transformations state } } } }"""
    )["data"]["personalData"]
    assert (found["totalCount"], found["exposedCount"], found["unknownCount"]) == (13, 4, 1)
    nodes = {node["urn"]: node for node in found["nodes"]}
    assert nodes[col("raw")]["steps"] == []
    assert {urn: node["kind"] for urn, node in nodes.items() if node["kind"] != "COLUMN"} == {
        "answer:kpi": "ANSWER",
        ds("churn"): "MODEL",
        ds("counts"): "DATASET",
        ds("export"): "EXPORT",
        ds("features"): "DATASET",
        ds("opaque"): "DATASET",
        ds("safe"): "DATASET",
        ds("safe-churn"): "MODEL",
    }
    assert nodes[ds("safe-churn")]["masked"] is True
    assert nodes[ds("opaque")]["unknown"] is True
    assert nodes[col("counts", "n")]["influence"] is True
    assert nodes[col("counts", "n")]["steps"] == [
        {
            "source": col("raw"),
            "target": col("counts", "n"),
            "job": "job:etl:count",
            "transformations": ["INDIRECT:FILTER"],
            "state": "INFLUENCED",
        }
    ]


def test_filters_and_pages(ask: Ask) -> None:
    only = ask("{ personalData(kind: [MODEL], unmaskedOnly: true) { edges { node { urn } } } }")
    assert urns(only) == [ds("churn")]
    found = ask(
        """{ none: personalData(classification: "phone") { totalCount exposedCount }
          all: personalData(classification: "pii") { totalCount }
          mail: personalData(classification: "E-Mail", namespace: "db") { totalCount }
          null: personalData(unmaskedOnly: null, kind: null, classification: null) { totalCount } }"""
    )["data"]
    assert found["none"] == {"totalCount": 0, "exposedCount": 0}
    assert [found[name]["totalCount"] for name in ("all", "mail", "null")] == [13, 12, 13]
    first = ask(
        "{ personalData(first: 5) { pageInfo { endCursor hasNextPage } edges { node { urn } } } }"
    )
    cursor = first["data"]["personalData"]["pageInfo"]["endCursor"]
    rest = ask(
        "query ($after: String) { personalData(first: 100, after: $after) { edges { node { urn } } } }",
        after=cursor,
    )
    everything = ask("{ personalData(first: 100) { edges { node { urn } } } }")
    assert urns(first) + urns(rest) == urns(everything)


def test_one_dataset_with_its_columns(ask: Ask) -> None:
    document = (
        "query ($urn: ID) { personalData(urn: $urn) { exposedCount edges { node { urn } } } }"
    )
    found = ask(document, urn=ds("features"))
    assert urns(found) == [col("features"), ds("features")]
    assert found["data"]["personalData"]["exposedCount"] == 1
    assert urns(ask(document, urn=col("raw"))) == [col("raw")]
    assert urns(ask(document, urn="answer:kpi")) == ["answer:kpi"]
    assert urns(ask(document, urn=ds("nothing"))) == []
    assert len(urns(ask(document, urn=None))) == 13


def test_marks_in_a_picture_of_the_lineage(ask: Ask) -> None:
    document = """query ($urn: ID!, $asOf: DateTime) { lineage(urn: $urn, direction: DOWNSTREAM, asOf: $asOf) {
      nodes { urn overview { personalData personalDataClasses } } } }"""
    found = ask(document, urn=ds("raw"))["data"]["lineage"]["nodes"]
    marks = {node["urn"]: node["overview"] for node in found}
    assert {urn: mark["personalData"] for urn, mark in marks.items() if mark["personalData"]} == {
        ds("raw"): "EXPOSED",
        ds("features"): "EXPOSED",
        ds("churn"): "EXPOSED",
        ds("export"): "EXPOSED",
        ds("safe"): "MASKED",
        ds("safe-churn"): "MASKED",
        ds("counts"): "INFLUENCED",
        ds("opaque"): "UNKNOWN",
    }
    assert marks[ds("safe")]["personalDataClasses"] == ["email"]
    past = ask(document, urn=ds("raw"), asOf=at(59))["data"]["lineage"]["nodes"]
    assert {node["overview"]["personalData"] for node in past} == {None}


@pytest.mark.parametrize(
    "arguments", ["first: -1", "first: 201", 'after: "x"', "kind: [TABLE]", 'unmaskedOnly: "yes"']
)
def test_malformed_arguments_are_errors(ask: Ask, arguments: str) -> None:
    found = ask(f"{{ personalData({arguments}) {{ totalCount }} }}")
    assert found["errors"][0]["extensions"]["code"] == "BAD_REQUEST"


def test_a_declassified_column_exposes_nothing(ask: Ask, database: Database) -> None:
    policy = "declassification:email:mail"
    event = approval_event(
        "db", "features", policy=policy, reason="Hashed.", by="ann", event_time=at(9)
    )
    write_events(database, [event])
    query = "{ personalData(unmaskedOnly: true) { edges { node { urn } } } }"
    assert urns(ask(query)) == []
    state = ask('{ personalData(classification: "email") { nodes { urn state } } }')["data"]
    nodes = {node["urn"]: node["state"] for node in state["personalData"]["nodes"]}
    assert nodes[col("features")] == "DECLASSIFIED"
    withdrawn = approval_event("db", "features", policy=policy, reason=None, event_time=at(10))
    write_events(database, [withdrawn])
    assert ds("churn") in urns(ask(query))
    expired = approval_event(
        "db", "features", policy=policy, reason="A while.", until="2020-01-01", event_time=at(11)
    )
    write_events(database, [expired])
    assert ds("churn") in urns(ask(query))


def test_the_audit_names_the_same_artifacts(view: GraphView) -> None:
    rows = view.read("audit/personal_data", tag="pii", limit=100)
    assert [(row["kind"], row["urn"], row["column"], row["steps"]) for row in rows] == [
        ("ANSWER", "answer:kpi", "mail", 1),
        ("EXPORT", ds("export"), "mail", 2),
        ("MODEL", ds("churn"), "mail", 1),
    ]
