"""A root field resolves only for a key with its scope, and each refusal is reported."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from headwater.access.principal import UNAUTHENTICATED
from headwater.cypher.driver.database import Database
from headwater.graphql.context import Context
from headwater.graphql.schema import create_schema
from headwater.lineage.view import GraphView


@pytest.fixture
def unreachable() -> Iterator[GraphView]:
    """Return a view of a Neo4j that does not exist: a refused field does not query it."""
    database = Database("bolt://127.0.0.1:1", "neo4j", "x")
    yield GraphView(database)
    database.close()


def execute(view: GraphView, query: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the codes of the errors, and the reported refusals."""

    async def submit(*_: object) -> None:
        raise AssertionError("a refused mutation submits nothing")

    refusals: list[tuple[str, str]] = []

    def report(field: str, reason: str) -> None:
        refusals.append((field, reason))

    async def run() -> Any:
        context = Context(view, submit, UNAUTHENTICATED, report)
        return await create_schema().execute(query, context_value=context)

    result = asyncio.run(run())
    return [error.extensions["code"] for error in result.errors], refusals


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("{ owners { totalCount } }", ["Query.owners"]),
        ("{ other: owners { totalCount } }", ["Query.owners"]),
        ('mutation { registerSource(input: {name: "x"}) { urn } }', ["Mutation.registerSource"]),
    ],
)
def test_a_key_without_the_scope_is_refused(
    unreachable: GraphView, query: str, fields: list[str]
) -> None:
    codes, refusals = execute(unreachable, query)
    assert codes == ["FORBIDDEN"]
    assert [field for field, _ in refusals] == fields


def test_a_subscription_needs_a_websocket(unreachable: GraphView) -> None:
    codes, refusals = execute(unreachable, "subscription { runEvents { runId } }")
    assert (codes, refusals) == (["BAD_REQUEST"], [])
