"""The lists of all nodes, and the node of an id, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.event_builders import dataset_event, facet, job_event
from tests.graphql.conftest import Ask
from tests.run_builders import answer, ds, run, version, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture
def history(database: Database) -> None:
    """Write three runs, one failed, with their jobs, three datasets and two answers."""
    empty(database)
    owned = {"ownership": facet(owners=[{"name": "ann"}])}
    write_events(
        database,
        run("r1", "load", ["raw"], ["clean"], minute=0),
        run("r2", "build", ["clean"], ["mart"], minute=10),
        run("r3", "build", ["clean"], ["mart"], minute=20, status="FAIL"),
        answer("a1", "mart", minute=30),
        answer("a2", "clean", minute=40),
        [job_event("load", 25, facets=owned), dataset_event("raw", 35, owned)],
    )


@pytest.mark.usefixtures("history")
def test_runs(data: Ask) -> None:
    query = """query ($status: RunStatus, $first: Int, $after: String, $last: Int,
        $before: String) {
      runs(status: $status, first: $first, after: $after, last: $last, before: $before,
           since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z", namespace: "etl") {
        edges { cursor node { id runId status } } totalCount
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
    page = data(query, first=2)["runs"]
    assert [edge["node"] for edge in page["edges"]] == [
        {"id": "run:r3", "runId": "r3", "status": "FAIL"},
        {"id": "run:r2", "runId": "r2", "status": "COMPLETE"},
    ]
    assert page["totalCount"] == 3
    assert page["pageInfo"] == {
        "hasNextPage": True,
        "hasPreviousPage": False,
        "startCursor": page["edges"][0]["cursor"],
        "endCursor": page["edges"][1]["cursor"],
    }
    rest = data(query, first=2, after=page["pageInfo"]["endCursor"])["runs"]
    assert [edge["node"]["runId"] for edge in rest["edges"]] == ["r1"]
    assert rest["pageInfo"]["hasNextPage"] is False
    assert rest["pageInfo"]["hasPreviousPage"] is True
    back = data(query, last=1, before=rest["pageInfo"]["startCursor"])["runs"]
    assert [edge["node"]["runId"] for edge in back["edges"]] == ["r2"]
    assert back["pageInfo"]["hasPreviousPage"] is True
    failed = data(query, status="FAIL")["runs"]
    assert (len(failed["edges"]), failed["totalCount"]) == (1, 1)
    assert failed["pageInfo"]["hasNextPage"] is failed["pageInfo"]["hasPreviousPage"] is False


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("jobs { nodes { id name } totalCount }", ["build", "load"]),
        ("jobs(order: NEWEST) { nodes { id name } totalCount }", ["load", "build"]),
        ('jobs(owner: "ann") { nodes { id name } totalCount }', ["load"]),
        ("jobs(status: FAIL) { nodes { id name } totalCount }", ["build"]),
        ("datasets { nodes { id name } totalCount }", ["clean", "mart", "raw"]),
        ('datasets(owner: "ann") { nodes { id name } totalCount }', ["raw"]),
        ('datasets(namespace: "nowhere") { nodes { id name } totalCount }', []),
        ("answers { nodes { id name: answerId } totalCount }", ["a2", "a1"]),
        ("answers(order: OLDEST) { nodes { id name: answerId } totalCount }", ["a1", "a2"]),
        ("namespaces { nodes { id name datasetCount jobCount } totalCount }", ["db", "etl"]),
        ("runs(order: OLDEST) { nodes { id name: runId } totalCount }", ["r1", "r2", "r3"]),
        ('runs(owner: "ann") { nodes { id name: runId } totalCount }', ["r1"]),
    ],
)
def test_lists(data: Ask, field: str, expected: list[str]) -> None:
    [found] = data(f"{{ {field} }}").values()
    assert [node["name"] for node in found["nodes"]] == expected
    assert found["totalCount"] == len(expected)


@pytest.mark.parametrize("field", ["runs", "jobs", "datasets", "answers", "namespaces"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("first: 0", "first 0 is not between 1 and 200"),
        ("first: -1", "first -1 is not between 1 and 200"),
        ("first: 201", "first 201 is not between 1 and 200"),
        ("last: 0", "last 0 is not between 1 and 200"),
        ("first: 1, last: 1", "first and last exclude each other"),
        ('before: "x"', "before needs last"),
        ('after: "x"', "after 'x' is not a cursor of this list"),
        ('last: 1, before: "x"', "before 'x' is not a cursor of this list"),
    ],
)
def test_bad_arguments_of_a_page(ask: Ask, field: str, arguments: str, message: str) -> None:
    answer = ask(f"{{ {field}({arguments}) {{ totalCount }} owners {{ totalCount }} }}")
    [error] = answer["errors"]
    assert error["message"] == message
    assert error["extensions"]["code"] == "BAD_REQUEST"
    assert error["extensions"]["hint"]
    assert answer["data"][field] is None
    assert answer["data"]["owners"] is not None


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("id", "typename"),
    [
        (ds("raw"), "Dataset"),
        ("job:etl:load", "Job"),
        ("run:r3", "PipelineRun"),
        (version("mart", "r2"), "Artifact"),
        ("answer:a1", "Answer"),
        ("namespace:db", "Namespace"),
    ],
)
def test_node_returns_the_object_of_an_id(data: Ask, id: str, typename: str) -> None:
    query = "query ($id: ID!) { node(id: $id) { __typename id } }"
    assert data(query, id=id) == {"node": {"__typename": typename, "id": id}}


@pytest.mark.usefixtures("history")
def test_every_id_of_an_answer_can_be_fetched_again(data: Ask) -> None:
    """Relay and Apollo keep objects by `__typename` and `id`, so both must agree with `node`."""
    fields = "nodes { __typename id }"
    lists = data(f"""{{ runs {{ nodes {{ __typename id artifacts {{ __typename id }}
        readSources {{ __typename id }} job {{ __typename id }} }} }}
      jobs {{ {fields} }} datasets {{ {fields} }} answers {{ {fields} }} }}""")
    ids = set[tuple[str, str]]()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            if "id" in value:
                ids.add((value["id"], value["__typename"]))
            value = list(value.values())
        for one in value if isinstance(value, list) else ():
            collect(one)

    collect(lists)
    assert len(ids) == len({id for id, _ in ids})
    assert len(ids) >= 12
    for id, typename in ids:
        assert data("query ($id: ID!) { node(id: $id) { __typename id } }", id=id)["node"] == {
            "__typename": typename,
            "id": id,
        }


@pytest.mark.usefixtures("history")
def test_a_missing_node_leaves_its_siblings(ask: Ask, missing: Callable[[str], None]) -> None:
    missing('{ node(id: "dataset:db:none") { id } }')
    missing('{ node(id: "namespace:none") { id } }')
    answer = ask(
        """{ trace(answerId: "none") { answer { id } } node(id: "run:none") { id }
        runs { totalCount } schemaDiff(before: "schema:x", after: "schema:y") }"""
    )
    assert answer["data"] == {
        "trace": None,
        "node": None,
        "runs": {"totalCount": 3},
        "schemaDiff": None,
    }
    codes = {error["path"][0]: error["extensions"]["code"] for error in answer["errors"]}
    assert codes == {"trace": "NOT_FOUND", "node": "NOT_FOUND", "schemaDiff": "NOT_FOUND"}


def test_an_id_that_is_none(refused: Ask) -> None:
    assert refused('{ node(id: "x") { id } }')["extensions"]["code"] == "BAD_REQUEST"


def test_an_id_of_no_kind_names_all_kinds(ask: Ask) -> None:
    (error,) = ask('{ node(id: "nonsense") { id } }')["errors"]
    assert error["message"].endswith(", namespace")
    assert "dataset, job" in error["message"]


def test_a_missing_start_names_a_question(ask: Ask) -> None:
    (error,) = ask('{ trace(answerId: "none") { truncated } }')["errors"]
    assert error["extensions"]["code"] == "NOT_FOUND"
    assert "`search`" in error["extensions"]["hint"]
