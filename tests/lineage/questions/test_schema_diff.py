"""The difference between two schemas of one dataset, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.questions.schema_diff import schema_diff
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, run_event, schema
from tests.run_builders import ds, version, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    outputs = [
        [dataset("t", schema(a="int", b="int"))],
        [dataset("t", schema(a="int", b="string", c="date"))],
    ]
    first, second = (
        run_event(f"r{number}", minute=number, outputs=output)
        for number, output in enumerate(outputs)
    )
    write_events(database, [first, second, run_event("r2", minute=2, outputs=["bare"])])
    yield view
    empty(database)


def test_changes_between_two_versions(history: GraphView) -> None:
    old, new = version("t", "r0"), version("t", "r1")
    assert sorted(schema_diff(history, old, new)) == ["added: c", "retyped: b from int to string"]
    assert sorted(schema_diff(history, new, old)) == ["dropped: c", "retyped: b from string to int"]
    assert schema_diff(history, old, old) == []


def test_a_node_without_a_schema_is_refused(history: GraphView) -> None:
    known = version("t", "r0")
    with pytest.raises(QueryError, match="has no schema of its own"):
        schema_diff(history, known, ds("t"))
    for missing in (version("bare", "r2"), "0" * 32):
        with pytest.raises(NotFoundError, match="no schema is known"):
            schema_diff(history, known, missing)


def test_a_hidden_version_is_not_found(history: GraphView) -> None:
    restricted = history.visible_to(Visibility(("web",)))
    with pytest.raises(NotFoundError):
        schema_diff(restricted, version("t", "r0"), version("t", "r1"))
