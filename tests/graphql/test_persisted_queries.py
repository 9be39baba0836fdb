"""Queries by hash or name: as Apollo's clients ask them, and as an operator registers them."""

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
    Persisted,
    PersistedQueryError,
    hash_of,
    read_trusted,
)
from headwater.graphql.schema import make_schema
from headwater.graphql.transport.http import graphql_routes
from headwater.lineage.view import GraphView
from tests.graphql.conftest import Served

SMALL, OTHER = "{ __typename }", "query Other { t: __typename }"
UNKNOWN = "0" * 64


def by_hash(hash: str, query: str | None = None, version: int = 1) -> dict[str, Any]:
    asked = {"extensions": {"persistedQuery": {"version": version, "sha256Hash": hash}}}
    return asked if query is None else {**asked, "query": query}


def code_of(known: Persisted, request: dict[str, Any]) -> str:
    with pytest.raises(PersistedQueryError) as refused:
        known.query(request, keep=True)
    return refused.value.code


def test_a_query_is_known_once_it_was_sent_with_its_hash() -> None:
    known, hash = Persisted(), hash_of(SMALL)
    assert hash == "7f56e67dd21ab3f30d1ff8b7bed08893f0a0db86449836189b361dd1e56ddb4b"
    assert code_of(known, by_hash(hash)) == "PERSISTED_QUERY_NOT_FOUND"
    assert known.query({"query": SMALL}, keep=True) == SMALL
    assert code_of(known, by_hash(hash)) == "PERSISTED_QUERY_NOT_FOUND"
    assert known.query(by_hash(hash, SMALL), keep=False) == SMALL
    assert code_of(known, by_hash(hash)) == "PERSISTED_QUERY_NOT_FOUND"
    assert known.query(by_hash(hash, SMALL), keep=True) == SMALL
    assert known.query(by_hash(hash), keep=False) == SMALL


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({}, "BAD_REQUEST"),
        (by_hash(hash_of(OTHER), SMALL), "BAD_REQUEST"),
        (by_hash(hash_of(SMALL).upper(), SMALL), "BAD_REQUEST"),
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
def test_what_is_refused(request_: dict[str, Any], code: str) -> None:
    assert code_of(Persisted({"small": SMALL}), request_) == code


def test_a_wrong_hash_keeps_nothing() -> None:
    known = Persisted()
    assert code_of(known, by_hash(hash_of(OTHER), SMALL)) == "BAD_REQUEST"
    assert code_of(known, by_hash(hash_of(OTHER))) == "PERSISTED_QUERY_NOT_FOUND"


def test_the_longest_unused_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persisted, "KEPT_MAX", 2)
    known, queries = Persisted(), [f"{{ q{n} }}" for n in range(3)]
    for query in queries[:2]:
        known.query(by_hash(hash_of(query), query), keep=True)
    known.query(by_hash(hash_of(queries[0])), keep=True)
    known.query(by_hash(hash_of(queries[2]), queries[2]), keep=True)
    assert code_of(known, by_hash(hash_of(queries[1]))) == "PERSISTED_QUERY_NOT_FOUND"
    assert [known.query(by_hash(hash_of(queries[n])), keep=True) for n in (0, 2)] == [
        queries[0],
        queries[2],
    ]


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60))
@settings(max_examples=50, deadline=None)
def test_what_is_kept_is_bounded_and_right(asked: list[tuple[int, bool]]) -> None:
    """Whatever is sent in whatever order: never more bytes than allowed, and no hash that tells another query."""
    limit = persisted.KEPT_BYTES_MAX
    persisted.KEPT_BYTES_MAX = 40
    known = Persisted()
    try:
        for number, with_text in asked:
            query = "{ " + "é" * number + " }"
            request = by_hash(hash_of(query), query if with_text else None)
            if with_text or hash_of(query) in known._kept:
                assert known.query(request, keep=True) == query
            else:
                assert code_of(known, request) == "PERSISTED_QUERY_NOT_FOUND"
            kept = list(known._kept.values())
            assert sum(len(text.encode()) for text in kept) == known._bytes <= 40
    finally:
        persisted.KEPT_BYTES_MAX = limit


def test_only_trusted_ones() -> None:
    known = Persisted({"small": SMALL}, only=True)
    assert known.query({"documentId": "small"}, keep=True) == SMALL
    assert known.query(by_hash(hash_of(SMALL)), keep=True) == SMALL
    assert known.query({"query": SMALL}, keep=True) == SMALL
    for request in (
        {"query": OTHER},
        by_hash(hash_of(OTHER), OTHER),
        by_hash(hash_of(OTHER)),
        {"query": SMALL + " "},
    ):
        assert code_of(known, request) == "PERSISTED_QUERY_ONLY", request


def test_trusted_documents_are_read_and_judged(tmp_path: Path) -> None:
    schema = make_schema()._schema
    file, folder = tmp_path / "queries.json", tmp_path / "queries"
    file.write_text(json.dumps({"small": SMALL, hash_of(OTHER): OTHER}), encoding="utf-8")
    folder.mkdir()
    (folder / "runs.graphql").write_text('{ run(runId: "x") { runId } }', encoding="utf-8")
    assert read_trusted(None) == {}
    assert read_trusted(file) == {"small": SMALL, hash_of(OTHER): OTHER}
    assert read_trusted(folder) == {"runs": '{ run(runId: "x") { runId } }'}
    Persisted(read_trusted(folder)).judge(schema, 100)
    bad_files = ("nonsense", "[]", '{"a": 1}', json.dumps({UNKNOWN: SMALL}))
    for text in bad_files:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SettingsError, match="HEADWATER_PERSISTED_QUERIES"):
            read_trusted(file)
    with pytest.raises(SettingsError):
        read_trusted(tmp_path / "missing.json")
    for query, word in (
        ("{ nothing }", "nothing"),
        ("{ run", "read"),
        ("{ failedRuns { edges { cursor } } }", "values"),
    ):
        with pytest.raises(SettingsError, match=word):
            Persisted({"bad": query}).judge(schema, 10)
    with pytest.raises(SettingsError, match="HEADWATER_PERSISTED_ONLY"):
        Persisted({}, only=True).judge(schema, 10)


async def nothing(*_: object) -> None:
    raise AssertionError("nothing is submitted here")


@pytest.fixture
def nowhere() -> Iterator[GraphView]:
    """No Neo4j is needed for what is asked here."""
    database = Database("bolt://127.0.0.1:1", "neo4j", "x")
    yield GraphView(database)
    database.close()


def test_over_http(nowhere: GraphView, served: Served) -> None:
    with TestClient(
        served(graphql_routes(nowhere, nothing, persisted=Persisted({"other": OTHER})))
    ) as client:

        def ask(request: dict[str, Any]) -> tuple[int, Any]:
            answer = client.post("/graphql", json=request)
            found = answer.json()
            return answer.status_code, found.get("data") or found["errors"][0]

        status, error = ask(by_hash(hash_of(SMALL)))
        assert (status, error) == (
            200,
            {
                "message": "PersistedQueryNotFound",
                "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"},
            },
        )
        assert ask(by_hash(hash_of(SMALL), SMALL)) == (200, {"__typename": "Query"})
        assert ask(by_hash(hash_of(SMALL))) == (200, {"__typename": "Query"})
        assert ask({"documentId": "other", "operationName": "Other"}) == (200, {"t": "Query"})
        assert ask(by_hash(hash_of(OTHER), SMALL))[0] == 400
        assert ask({})[0] == 400
        # What is kept is judged like any other query.
        large = "{ failedRuns(first: 200) { edges { node { inputs { readBy { outputs { name } } } } } } }"
        for request in (by_hash(hash_of(large), large), by_hash(hash_of(large))):
            assert ask(request)[1]["extensions"]["code"] == "TOO_COSTLY"


def test_only_trusted_ones_over_http(nowhere: GraphView, served: Served) -> None:
    only = Persisted({"small": SMALL}, only=True)
    with TestClient(served(graphql_routes(nowhere, nothing, persisted=only))) as client:
        assert client.post("/graphql", json={"documentId": "small"}).json() == {
            "data": {"__typename": "Query"}
        }
        for query in (OTHER, "{ __schema { types { name } } }"):
            (error,) = client.post("/graphql", json={"query": query}).json()["errors"]
            assert error["extensions"]["code"] == "PERSISTED_QUERY_ONLY"
