"""Queries about all datasets and jobs, on one small graph, with hand-worked figures.

raw (captured) -> load -> a -> build (of ann) -> b, certified and cited; cold, which no job reads
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event
from tests.graphql.conftest import Ask
from tests.run_builders import answer, at, ds, job, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("estate")]

# All events are older than a day, so this window holds all of them and a day holds none.
EVER = 3_650
ASSERTIONS = {
    "assertions": [
        {"assertion": "not_null", "column": "id", "success": False, "expected": "0", "actual": "2"},
        {"assertion": "unique", "column": "id", "success": True},
    ]
}
MEASURED = {
    "rowCount": 3_000_000_000,
    "columnMetrics": {"id": {"nullCount": 2, "min": 1, "quantiles": {"0.5": 4}}},
}


@pytest.fixture(scope="module")
def estate(database: Database) -> Iterator[Database]:
    empty(database)
    checked = dataset(
        "a",
        usage={"dataQualityAssertions": ASSERTIONS, "dataQualityMetrics": MEASURED},
        side="input",
    )
    owned = {"ownership": {"owners": [{"name": "ann"}]}}
    tags = {"tags": {"tags": [{"key": "certified", "value": "true"}]}}
    write_events(
        database,
        [native.source_event("raw", namespace="db", captured_at=at(0))],
        [
            run_event("load-1", "START", 10, job="load", inputs=["raw"]),
            run_event(
                "load-1", "COMPLETE", 12, job="load", outputs=["a", sized("cold", 5_000_000_000)]
            ),
            run_event("build-1", "START", 20, job="build", inputs=[checked], job_facets=owned),
            run_event("build-1", "COMPLETE", 23, job="build", outputs=["b"]),
            dataset_event("b", 24, {**tags, **owned}),
        ],
        answer("report", "b", minute=25),
    )
    yield database
    empty(database)


def sized(name: str, size: int) -> dict[str, Any]:
    return dataset(name, usage={"outputStatistics": {"size": size}})


def test_freshness(data: Ask) -> None:
    query = """query ($urn: ID!, $within: Int!) { freshness(urn: $urn) {
      newestAt newestUrn ageSeconds effectiveAt effectiveAgeSeconds exact incompleteReason sources
      { urn newestAt exact }
      verdict(maxAgeSeconds: $within) { state explanation causes { urn newestAt exact } } } }"""
    found = data(query, urn=ds("b"), within=2_000_000_000)["freshness"]
    raw = {"urn": ds("raw"), "newestAt": "2026-01-01T00:00:00Z", "exact": True}
    ages = found.pop("ageSeconds"), found.pop("effectiveAgeSeconds")
    assert ages[1] - ages[0] == pytest.approx(23 * 60)
    assert found == {
        "newestAt": "2026-01-01T00:23:00Z",
        "newestUrn": version("b", "build-1"),
        "effectiveAt": "2026-01-01T00:00:00Z",
        "exact": True,
        "incompleteReason": None,
        "sources": [raw],
        "verdict": {"state": "FRESH", "explanation": "all upstream data is fresh", "causes": []},
    }
    stale = data(query, urn=ds("b"), within=60)["freshness"]["verdict"]
    assert (stale["state"], stale["causes"]) == ("STALE", [raw])


def test_freshness_and_quality_of_many_cost_no_statement_per_row(
    estate: Database, data: Ask
) -> None:
    query = """query ($urn: ID!) {
      job(urn: $urn) { outputs { name freshness { exact sources { urn } } quality { failed } } }
      }"""
    statements: list[str] = []
    estate._on_query = lambda name, _: statements.append(name)
    try:
        found = data(query, urn=job("load"))["job"]["outputs"]
    finally:
        estate._on_query = lambda *_: None
    assert found == [
        {
            "name": "a",
            "freshness": {"exact": True, "sources": [{"urn": ds("raw")}]},
            "quality": {"failed": 1},
        },
        {
            "name": "cold",
            "freshness": {"exact": True, "sources": [{"urn": ds("raw")}]},
            "quality": {"failed": 0},
        },
    ]
    assert (
        statements.count("read/estate/newest_data")
        == statements.count("read/estate/dataset_quality")
        == 1
    )


def test_quality(data: Ask) -> None:
    query = """query ($urn: ID!) { quality(urn: $urn) { failed
      assertions { name column success expected actual reportedAt runUrn versionUrn }
      metrics(first: 5) { rowCount bytes reportedAt
        columns { column nullCount distinctCount min quantiles { q value } } } } }"""
    found = data(query, urn=ds("a"))["quality"]
    assert found["failed"] == 1
    assert found["assertions"][0] == {
        "name": "not_null",
        "column": "id",
        "success": False,
        "expected": "0",
        "actual": "2",
        "reportedAt": "2026-01-01T00:23:00Z",
        "runUrn": run_of("build-1"),
        "versionUrn": version("a", "load-1"),
    }
    assert [one["name"] for one in found["assertions"]] == ["not_null", "unique"]
    columns = [
        {
            "column": "id",
            "nullCount": 2,
            "distinctCount": None,
            "min": 1.0,
            "quantiles": [{"q": "0.5", "value": 4.0}],
        }
    ]
    assert found["metrics"] == [
        {
            "rowCount": 3_000_000_000,
            "bytes": None,
            "reportedAt": "2026-01-01T00:23:00Z",
            "columns": columns,
        }
    ]
    assert data(query, urn=version("a", "load-1"))["quality"] == found
    of_version = data(
        "query ($urn: ID!) { dataset(urn: $urn) { versions { nodes { quality { failed } } } } }",
        urn=ds("a"),
    )
    assert of_version["dataset"]["versions"]["nodes"] == [{"quality": {"failed": 1}}]


def test_unused(data: Ask) -> None:
    query = """query ($days: Int!, $after: String) { unusedDatasets(days: $days, first: 2, after:
    $after) {
      totalCount bytes unknownSizeCount edges { cursor node { bytes lastReadAt dataset { name
      produces: producedBy { name } } } }
      pageInfo { hasNextPage hasPreviousPage endCursor } } }"""
    found = data(query, days=1)["unusedDatasets"]
    assert (found["totalCount"], found["bytes"], found["unknownSizeCount"]) == (4, 5_000_000_000, 3)
    assert [edge["node"] for edge in found["edges"]] == [
        {
            "bytes": 5_000_000_000,
            "lastReadAt": None,
            "dataset": {"name": "cold", "produces": [{"name": "load"}]},
        },
        {
            "bytes": None,
            "lastReadAt": "2026-01-01T00:20:00Z",
            "dataset": {"name": "a", "produces": [{"name": "load"}]},
        },
    ]
    assert found["pageInfo"]["hasNextPage"]
    rest = data(query, days=1, after=found["pageInfo"]["endCursor"])["unusedDatasets"]
    assert [edge["node"]["dataset"]["name"] for edge in rest["edges"]] == ["b", "raw"]
    assert (rest["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasPreviousPage"]) == (False, True)
    assert data(query, days=EVER)["unusedDatasets"]["totalCount"] == 0


def test_usage(data: Ask) -> None:
    query = """query ($urn: ID!) { usage(urn: $urn, days: 3650) { runs seconds truncated
      consumers { edges { node { runs seconds rows bytes lastReadAt owners job { name } } }
      pageInfo { hasNextPage } }
      chargeback { owner jobs seconds } answers { answerId } } }"""
    assert data(query, urn=ds("a"))["usage"] == {
        "runs": 1,
        "seconds": 180.0,
        "truncated": False,
        "consumers": {
            "edges": [
                {
                    "node": {
                        "runs": 1,
                        "seconds": 180.0,
                        "rows": None,
                        "bytes": None,
                        "lastReadAt": "2026-01-01T00:20:00Z",
                        "owners": ["ann"],
                        "job": {"name": "build"},
                    }
                }
            ],
            "pageInfo": {"hasNextPage": False},
        },
        "chargeback": [{"owner": "ann", "jobs": 1, "seconds": 180.0}],
        "answers": [],
    }
    assert data(query, urn=ds("b"))["usage"]["answers"] == [{"answerId": "report"}]


def test_owners(data: Ask) -> None:
    query = """{ owners { totalCount unownedDatasets unownedJobs edges { node { name datasets jobs
    } } }
      ann: ownedBy(owner: "ann") { edges { node { urn kind } } }
      nobody: ownedBy(owner: "", first: 2) { edges { cursor node { name } } pageInfo { hasNextPage
      } } }"""
    found = data(query)
    assert found["owners"]["edges"] == [{"node": {"name": "ann", "datasets": 1, "jobs": 1}}]
    assert (
        found["owners"]["totalCount"],
        found["owners"]["unownedDatasets"],
        found["owners"]["unownedJobs"],
    ) == (1, 3, 1)
    assert [edge["node"]["urn"] for edge in found["ann"]["edges"]] == [ds("b"), job("build")]
    assert [edge["node"]["name"] for edge in found["nobody"]["edges"]] == ["a", "cold"]
    assert found["nobody"]["pageInfo"] == {"hasNextPage": True}


def test_coverage(data: Ask) -> None:
    query = """{ coverage(days: 3650) {
      total { datasets connected produced unknownDownstreams jobs withInputsAndOutputs runs ended
      shares { lineage ended owned } }
      namespaces(first: 1) { edges { node { namespace counts { datasets jobs } } } pageInfo {
      hasNextPage } }
      blastRadius { median largest largestDataset { name } datasets sampleSize truncated }
      certifiedPaths { integrity datasets sampleSize broken { urn ends } } } }"""
    found = data(query)["coverage"]
    assert found["total"] == {
        "datasets": 4,
        "connected": 4,
        "produced": 3,
        "unknownDownstreams": 1,
        "jobs": 2,
        "withInputsAndOutputs": 2,
        "runs": 2,
        "ended": 2,
        "shares": {"lineage": 1.0, "ended": 1.0, "owned": 2 / 6},
    }
    [edge] = found["namespaces"]["edges"]
    assert edge["node"] == {"namespace": "db", "counts": {"datasets": 4, "jobs": 0}}
    assert found["namespaces"]["pageInfo"] == {"hasNextPage": True}
    # Downstream of raw: load, a, cold, build, b; of a: build, b; of b and cold nothing.
    assert found["blastRadius"] == {
        "median": 1.0,
        "largest": 5,
        "largestDataset": {"name": "raw"},
        "datasets": 4,
        "sampleSize": 4,
        "truncated": False,
    }
    assert found["certifiedPaths"] == {
        "integrity": 1.0,
        "datasets": 1,
        "sampleSize": 1,
        "broken": [],
    }


def test_search(data: Ask) -> None:
    query = """query ($text: String!, $kind: NodeKind, $after: String) {
      search(text: $text, kind: $kind, first: 2, after: $after) {
        totalCount truncated edges { cursor score node { urn kind namespace name } }
        kinds { value count } namespaces { value count } tags { value count } pageInfo {
        hasNextPage endCursor } } }"""
    found = data(query, text="build")["search"]
    [edge] = found["edges"]
    assert edge["node"] == {"urn": job("build"), "kind": "JOB", "namespace": "etl", "name": "build"}
    assert edge["score"] > 0
    assert found["kinds"] == [{"value": "JOB", "count": 1}]
    owned = data(query, text="ann")["search"]
    assert {edge["node"]["urn"] for edge in owned["edges"]} == {ds("b"), job("build")}
    assert owned["tags"] == [{"value": "certified", "count": 1}]
    assert [
        edge["node"]["kind"] for edge in data(query, text="ann", kind="DATASET")["search"]["edges"]
    ] == ["DATASET"]
    assert data(query, text='*)\\"~{[')["search"]["edges"] == []
    assert [edge["node"]["kind"] for edge in data(query, text="report")["search"]["edges"]] == [
        "ANSWER"
    ]
    assert [edge["node"]["kind"] for edge in data(query, text="build-1")["search"]["edges"]] == [
        "PIPELINE_RUN"
    ]
    first = data(query, text="db")["search"]
    assert (first["totalCount"], first["pageInfo"]["hasNextPage"]) == (4, True)
    second = data(query, text="db", after=first["pageInfo"]["endCursor"])["search"]
    names = [edge["node"]["name"] for edge in first["edges"] + second["edges"]]
    assert sorted(names) == ["a", "b", "cold", "raw"]


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ('{ freshness(urn: "dataset:db:unknown") { exact } }', "NOT_FOUND", "there is no dataset"),
        ('{ freshness(urn: "job:etl:load") { exact } }', "BAD_REQUEST", "urn"),
        (
            '{ freshness(urn: "dataset:db:b") { verdict(maxAgeSeconds: 0) { state } } }',
            "BAD_REQUEST",
            "maxAgeSeconds",
        ),
        ('{ quality(urn: "job:etl:load") { failed } }', "BAD_REQUEST", "urn"),
        (
            '{ quality(urn: "dataset:db:a") { metrics(first: 201) { rowCount } } }',
            "BAD_REQUEST",
            "first",
        ),
        ('{ usage(urn: "dataset:db:unknown") { runs } }', "NOT_FOUND", "there is no dataset"),
        ('{ usage(urn: "dataset:db:a", days: 0) { runs } }', "BAD_REQUEST", "days"),
        (
            '{ usage(urn: "dataset:db:a") { consumers(after: "x") { edges { cursor } } } }',
            "BAD_REQUEST",
            "after",
        ),
        ('{ usage(urn: "dataset:db:a") { answers(first: -1) { urn } } }', "BAD_REQUEST", "first"),
        ("{ unusedDatasets(days: 99999) { totalCount } }", "BAD_REQUEST", "days"),
        ('{ unusedDatasets(after: "x") { totalCount } }', "BAD_REQUEST", "after"),
        ("{ owners(first: -1) { totalCount } }", "BAD_REQUEST", "first"),
        ('{ ownedBy(owner: "ann", after: "x") { edges { cursor } } }', "BAD_REQUEST", "after"),
        ("{ coverage(days: -1) { since } }", "BAD_REQUEST", "days"),
        ('{ search(text: "x", after: "y") { totalCount } }', "BAD_REQUEST", "after"),
    ],
)
def test_bad_arguments_are_named(refused: Ask, query: str, code: str, words: str) -> None:
    error = refused(query)
    assert error["extensions"]["code"] == code
    assert words in error["message"]
