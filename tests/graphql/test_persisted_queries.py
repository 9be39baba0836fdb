"""Persisted queries: by hash from Apollo's clients, by name from an operator's file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.errors import SettingsError
from headwater.graphql import persisted_queries as persisted
from headwater.graphql.persisted_queries import (
    PersistedQueries,
    PersistedQueryError,
    query_hash,
    read_trusted_queries,
)
from headwater.graphql.schema import create_schema
from headwater.graphql.transport.http import graphql_routes
from headwater.lineage.view import GraphView
from tests.graphql.conftest import Served

SMALL, OTHER = "{ __typename }", "query Other { t: __typename }"
UNKNOWN = "0" * 64


def by_hash(hash: str, query: str | None = None, version: int = 1) -> dict[str, Any]:
    draws = {"extensions": {"persistedQuery": {"version": version, "sha256Hash": hash}}}
    return draws if query is None else {**draws, "query": query}


def code_of(store: PersistedQueries, request: dict[str, Any]) -> str:
    with pytest.raises(PersistedQueryError) as refused:
        store.resolve(request, store=True)
    return refused.value.code


def test_a_query_is_stored_once_sent_with_its_hash() -> None:
    store, hash = PersistedQueries(), query_hash(SMALL)
    assert hash == "7f56e67dd21ab3f30d1ff8b7bed08893f0a0db86449836189b361dd1e56ddb4b"
    assert code_of(store, by_hash(hash)) == "PERSISTED_QUERY_NOT_FOUND"
    assert store.resolve({"query": SMALL}, store=True) == SMALL
    assert code_of(store, by_hash(hash)) == "PERSISTED_QUERY_NOT_FOUND"
    assert store.resolve(by_hash(hash, SMALL), store=False) == SMALL
    assert code_of(store, by_hash(hash)) == "PERSISTED_QUERY_NOT_FOUND"
    assert store.resolve(by_hash(hash, SMALL), store=True) == SMALL
    assert store.resolve(by_hash(hash), store=False) == SMALL


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({}, "BAD_REQUEST"),
        (by_hash(query_hash(OTHER), SMALL), "BAD_REQUEST"),
        (by_hash(query_hash(SMALL).upper(), SMALL), "BAD_REQUEST"),
        (by_hash("abc"), "BAD_REQUEST"),
        (by_hash(""), "BAD_REQUEST"),
        ({"extensions": {"persistedQuery": {"version": 1}}}, "BAD_REQUEST"),
        (
            {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": [UNKNOWN]}}},
            "BAD_REQUEST",
        ),
        (by_hash(UNKNOWN, version=2), "PERSISTED_QUERY_NOT_SUPPORTED"),
        ({"extensions": {"persistedQuery": "yes"}}, "PERSISTED_QUERY_NOT_SUPPORTED"),
        (by_hash(UNKNOWN), "PERSISTED_QUERY_NOT_FOUND"),
        ({"documentId": "nothing"}, "PERSISTED_QUERY_NOT_FOUND"),
    ],
)
def test_refused_requests(request_: dict[str, Any], code: str) -> None:
    assert code_of(PersistedQueries({"small": SMALL}), request_) == code


def test_a_wrong_hash_stores_nothing() -> None:
    store = PersistedQueries()
    assert code_of(store, by_hash(query_hash(OTHER), SMALL)) == "BAD_REQUEST"
    assert code_of(store, by_hash(query_hash(OTHER))) == "PERSISTED_QUERY_NOT_FOUND"


def test_the_longest_unused_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persisted, "STORED_MAX", 2)
    store, queries = PersistedQueries(), [f"{{ q{n} }}" for n in range(3)]
    for query in queries[:2]:
        store.resolve(by_hash(query_hash(query), query), store=True)
    store.resolve(by_hash(query_hash(queries[0])), store=True)
    store.resolve(by_hash(query_hash(queries[2]), queries[2]), store=True)
    assert code_of(store, by_hash(query_hash(queries[1]))) == "PERSISTED_QUERY_NOT_FOUND"
    assert [store.resolve(by_hash(query_hash(queries[n])), store=True) for n in (0, 2)] == [
        queries[0],
        queries[2],
    ]


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60))
@settings(max_examples=50, deadline=None)
def test_the_store_is_bounded_and_correct(draws: list[tuple[int, bool]]) -> None:
    """Check any order of requests: the store stays bounded, and each hash returns its own query."""
    limit = persisted.STORED_BYTES_MAX
    persisted.STORED_BYTES_MAX = 40
    store = PersistedQueries()
    try:
        for number, with_text in draws:
            query = "{ " + "é" * number + " }"
            request = by_hash(query_hash(query), query if with_text else None)
            if with_text or query_hash(query) in store._stored:
                assert store.resolve(request, store=True) == query
            else:
                assert code_of(store, request) == "PERSISTED_QUERY_NOT_FOUND"
            texts = list(store._stored.values())
            assert sum(len(text.encode()) for text in texts) == store._stored_bytes <= 40
    finally:
        persisted.STORED_BYTES_MAX = limit


def test_only_trusted_ones() -> None:
    store = PersistedQueries({"small": SMALL}, only=True)
    assert store.resolve({"documentId": "small"}, store=True) == SMALL
    assert store.resolve(by_hash(query_hash(SMALL)), store=True) == SMALL
    assert store.resolve({"query": SMALL}, store=True) == SMALL
    for request in (
        {"query": OTHER},
        by_hash(query_hash(OTHER), OTHER),
        by_hash(query_hash(OTHER)),
        {"query": SMALL + " "},
    ):
        assert code_of(store, request) == "PERSISTED_QUERY_ONLY", request


def test_trusted_documents_are_parsed_and_checked(tmp_path: Path) -> None:
    schema = create_schema()._schema
    file, folder = tmp_path / "queries.json", tmp_path / "queries"
    file.write_text(json.dumps({"small": SMALL, query_hash(OTHER): OTHER}), encoding="utf-8")
    folder.mkdir()
    (folder / "runs.graphql").write_text('{ run(runId: "x") { runId } }', encoding="utf-8")
    assert read_trusted_queries(None) == {}
    assert read_trusted_queries(file) == {"small": SMALL, query_hash(OTHER): OTHER}
    assert read_trusted_queries(folder) == {"runs": '{ run(runId: "x") { runId } }'}
    PersistedQueries(read_trusted_queries(folder)).validate(schema, 100)
    bad_files = ("nonsense", "[]", '{"a": 1}', json.dumps({UNKNOWN: SMALL}))
    for text in bad_files:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SettingsError, match="HEADWATER_PERSISTED_QUERIES"):
            read_trusted_queries(file)
    with pytest.raises(SettingsError):
        read_trusted_queries(tmp_path / "missing.json")
    for query, word in (
        ("{ nothing }", "nothing"),
        ("{ run", "cannot be parsed"),
        ("{ failedRuns { edges { cursor } } }", "values"),
    ):
        with pytest.raises(SettingsError, match=word):
            PersistedQueries({"bad": query}).validate(schema, 10)
    with pytest.raises(SettingsError, match="HEADWATER_PERSISTED_ONLY"):
        PersistedQueries({}, only=True).validate(schema, 10)


async def nothing(*_: object) -> None:
    raise AssertionError("nothing is submitted here")


@pytest.fixture
def nowhere() -> Iterator[GraphView]:
    """Return a view without a Neo4j, which these tests do not need."""
    database = Database("bolt://127.0.0.1:1", "neo4j", "x")
    yield GraphView(database)
    database.close()


def test_over_http(nowhere: GraphView, served: Served) -> None:
    with TestClient(
        served(graphql_routes(nowhere, nothing, persisted=PersistedQueries({"other": OTHER})))
    ) as client:

        def post_request(request: dict[str, Any]) -> tuple[int, Any]:
            answer = client.post("/graphql", json=request)
            found = answer.json()
            return answer.status_code, found.get("data") or found["errors"][0]

        status, error = post_request(by_hash(query_hash(SMALL)))
        assert (status, error) == (
            200,
            {
                "message": "PersistedQueryNotFound",
                "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"},
            },
        )
        assert post_request(by_hash(query_hash(SMALL), SMALL)) == (200, {"__typename": "Query"})
        assert post_request(by_hash(query_hash(SMALL))) == (200, {"__typename": "Query"})
        assert post_request({"documentId": "other", "operationName": "Other"}) == (
            200,
            {"t": "Query"},
        )
        assert post_request(by_hash(query_hash(OTHER), SMALL))[0] == 400
        assert post_request({})[0] == 400
        # A stored query passes the same limits as any other.
        large = (
            "{ failedRuns(first: 200) { edges { node { inputs { readBy { outputs { name "
            "} } } } } } }"
        )
        for request in (by_hash(query_hash(large), large), by_hash(query_hash(large))):
            assert post_request(request)[1]["extensions"]["code"] == "TOO_COSTLY"


def test_only_trusted_ones_over_http(nowhere: GraphView, served: Served) -> None:
    only = PersistedQueries({"small": SMALL}, only=True)
    with TestClient(served(graphql_routes(nowhere, nothing, persisted=only))) as client:
        assert client.post("/graphql", json={"documentId": "small"}).json() == {
            "data": {"__typename": "Query"}
        }
        for query in (OTHER, "{ __schema { types { name } } }"):
            (error,) = client.post("/graphql", json={"query": query}).json()["errors"]
            assert error["extensions"]["code"] == "PERSISTED_QUERY_ONLY"
