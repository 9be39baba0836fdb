"""Large lineages over REST: the lineage as columns, in JSON and in Arrow."""

from __future__ import annotations

import builtins
from typing import Any

import pyarrow
import pytest
from pyarrow import ipc
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.rest.lineage_table import ARROW
from tests.canonical import empty
from tests.lineage_requests import lineage
from tests.run_builders import ds, job, run, write_events

pytestmark = pytest.mark.neo4j
PATH = "/api/v1/lineage-table"


@pytest.fixture(scope="module", autouse=True)
def history(database: Database) -> None:
    """Write a -> first -> b -> second -> c, and beside it b -> third -> d."""
    empty(database)
    write_events(
        database,
        run("r1", "first", ["a"], ["b"]),
        run("r2", "second", ["b"], ["c"], minute=5),
        run("r3", "third", ["b"], ["d"], minute=9),
    )


def get_table(client: TestClient, **question: Any) -> dict[str, Any]:
    response = client.get(PATH, params=question)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_columns(client: TestClient) -> None:
    found = get_table(client, urn=ds("a"), direction="downstream", depth=1)
    assert {
        key: found[key] for key in ("starts", "nodes", "edges", "truncated", "omitted_count")
    } == {
        "starts": [ds("a")],
        "nodes": {
            "urn": [ds("a"), ds("b"), job("first")],
            "kind": ["DATASET", "DATASET", "JOB"],
            "namespace": ["db", "db", "etl"],
            "name": ["a", "b", "first"],
            "distance": [0, 1, 1],
        },
        # The edges by their ends: from a to the job, from the job to b.
        "edges": {"source": [0, 2], "target": [2, 1], "type": ["FEEDS", "PRODUCED"]},
        "truncated": "depth",
        "omitted_count": 2,
    }
    assert (found["continuations"]["urn"], found["continuations"]["omitted_count"]) == (
        [ds("b")],
        [2],
    )


def test_the_table_continues_from_a_cursor(client: TestClient) -> None:
    question: dict[str, Any] = {"urn": ds("a"), "direction": "downstream", "depth": 1}
    (cursor,) = get_table(client, **question)["continuations"]["cursor"]
    found = get_table(client, **question, after=cursor)
    assert found["nodes"]["urn"] == [ds("b"), ds("c"), ds("d"), job("second"), job("third")]
    assert found["truncated"] is None


def test_hidden_nodes_are_stubs(client: TestClient) -> None:
    found = client.get(PATH, params={"urn": ds("a")}, headers={"x-visibility": "db"}).json()
    assert "etl" not in str(found)
    assert set(found["nodes"]["kind"]) == {"DATASET", "HIDDEN"}
    assert len(found["nodes"]["urn"]) == len(found["nodes"]["namespace"])


def test_the_table_equals_the_lineage(client: TestClient, view: GraphView) -> None:
    for direction in ("upstream", "downstream", "both"):
        found = get_table(client, urn=ds("b"), direction=direction, fresh=True)
        expected = lineage(view, ds("b"), direction=direction.upper())
        nodes, edges = found["nodes"], found["edges"]
        assert nodes["urn"] == [node.urn for node in expected.nodes]
        pairs = zip(edges["source"], edges["target"], edges["type"], strict=True)
        named = {
            (nodes["urn"][source], nodes["urn"][target], type) for source, target, type in pairs
        }
        assert named == {tuple(edge) for edge in expected.edges}


def test_arrow(client: TestClient) -> None:
    question: dict[str, Any] = {"urn": ds("a"), "direction": "downstream", "depth": 1}
    response = client.get(PATH, params=question, headers={"Accept": f"{ARROW}, */*;q=0.1"})
    assert response.headers["content-type"] == ARROW
    source = pyarrow.BufferReader(response.content)
    nodes, edges = (ipc.open_stream(source).read_all() for _ in range(2))
    plain = get_table(client, **question)
    assert (nodes.to_pydict(), edges.to_pydict()) == (plain["nodes"], plain["edges"])
    assert b'"truncated":"depth"' in nodes.schema.metadata[b"headwater"]


def test_a_missing_arrow_package_is_reported(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    original_import = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "pyarrow":
            raise ImportError(name)
        return original_import(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    response = client.get(PATH, params={"urn": ds("a")}, headers={"Accept": ARROW})
    assert response.status_code == 406
    assert "application/json" in response.json()["error"]["hint"]


@pytest.mark.parametrize(
    ("question", "status", "message"),
    [
        ({}, 400, "urn"),
        ({"urn": "dataset:db:nowhere"}, 404, "there is no dataset"),
        ({"urn": "nothing"}, 400, "is not a urn"),
        ({"urn": "dataset:db:a", "depth": 51}, 400, "depth"),
        ({"urn": "dataset:db:a", "direction": "sideways"}, 400, "direction"),
        ({"urn": "dataset:db:a", "after": "x"}, 400, "cursor"),
    ],
)
def test_wrong_requests_are_reported(
    client: TestClient, question: dict[str, Any], status: int, message: str
) -> None:
    response = client.get(PATH, params=question)
    assert response.status_code == status
    assert message in response.text
