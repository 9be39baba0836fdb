"""Questions about the schema: where they run, how often, and how large their answers may be."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from graphql import ExecutionResult, execute_sync, get_introspection_query

from headwater.access.bounded_threads import BoundedThreads
from headwater.access.principal import ANONYMOUS
from headwater.graphql import introspection
from headwater.graphql.schema import create_schema

SCHEMA = create_schema()
CONTEXT = SimpleNamespace(principal=ANONYMOUS, subscription=None)
# Each field of each type, with each field of its type.
NESTED = (
    "{ __schema { types { fields { name type { ofType { fields { name description } } } } } "
    + " ".join(f"a{n}: types {{ fields {{ args {{ name }} name }} }}" for n in range(25))
    + " } }"
)


def answer(query: str, **variables: Any) -> Any:
    return asyncio.run(SCHEMA.execute(query, variable_values=variables, context_value=CONTEXT))


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the threads that have executed questions about the schema."""
    threads: list[str] = []

    def recorded(*arguments: Any, **named: Any) -> ExecutionResult:
        threads.append(threading.current_thread().name)
        return execute_sync(*arguments, **named)

    introspection._answer.cache_clear()
    monkeypatch.setattr(introspection, "execute_sync", recorded)
    return threads


def test_the_schema_is_read_once_and_in_a_thread(executed: list[str]) -> None:
    query = get_introspection_query()
    first, second = answer(query), answer(query)
    assert first.errors is None
    assert first.data == second.data
    assert len(first.data["__schema"]["types"]) > 100
    [thread] = executed
    assert thread != threading.current_thread().name


def test_an_answer_is_that_to_its_variables_and_operation(executed: list[str]) -> None:
    query = "query ($name: String!) { __type(name: $name) { name } __typename }"
    for name in ("Job", "Dataset", "Job"):
        assert answer(query, name=name).data == {
            "__type": {"name": name},
            "__typename": "Query",
        }
    assert len(executed) == 2
    assert "name" in answer(query).errors[0].message


def test_an_answer_about_the_schema_is_bounded() -> None:
    result = answer(NESTED)
    assert result.data is None
    [error] = result.errors
    assert error.extensions["code"] == "TOO_COSTLY"
    assert error.extensions["limit"] == introspection.VALUES_MAX


@pytest.mark.parametrize(
    "query",
    [
        '{ __type(name: "Job") { name } run(runId: "x") { runId } }',
        '{ run(runId: "x") { runId } ...F } fragment F on Query { __schema { types { name } } }',
        '{ ...F } fragment F on Query { __type(name: "Job") { name } }',
    ],
)
def test_schema_and_data_are_not_selected_together(query: str, executed: list[str]) -> None:
    [error] = answer(query).errors
    assert error.extensions["code"] == "BAD_REQUEST"
    assert "both the schema and data" in error.message
    assert executed == []


def test_the_limits_of_documents_come_first(executed: list[str]) -> None:
    aliases = " ".join(f"a{n}: __schema {{ types {{ name }} }}" for n in range(31))
    assert "aliases" in answer("{ " + aliases + " }").errors[0].message
    assert executed == []


def test_too_many_questions_about_the_schema_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    full = BoundedThreads("questions about the schema", 1)
    full._calls = full._calls_max
    monkeypatch.setattr(introspection, "_threads", full)
    [error] = answer("{ __schema { queryType { name } } }").errors
    assert (error.extensions["code"], error.extensions["hint"]) == ("UNAVAILABLE", "Retry later.")
