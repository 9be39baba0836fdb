"""The names of datasets in GraphQL."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.graphql.conftest import Ask
from tests.run_builders import at, run, write_events

pytestmark = pytest.mark.neo4j


def test_other_names_and_why(database: Database, data: Ask) -> None:
    empty(database)
    same = native.symlinks_event(
        {"namespace": "db", "name": "t"}, same=[{"namespace": "db", "name": "u"}], event_time=at(9)
    )
    write_events(
        database, run("w", "write", [], ["t"]), run("r", "read", ["u"], [], minute=5), [same]
    )
    found = data("""{ dataset(namespace: "db", name: "t") { aliases { namespace name } }
        aliases { edges { cursor node { name { name } dataset { name } declaredBy since via { name
        } } } } }""")
    assert found["dataset"] == {"aliases": [{"namespace": "db", "name": "u"}]}
    alias = {
        "name": {"name": "u"},
        "dataset": {"name": "t"},
        "declaredBy": "manual",
        "since": "2026-01-01T00:09:00Z",
    }
    assert found["aliases"]["edges"] == [{"cursor": "dataset:db:u", "node": {**alias, "via": None}}]
    after = (
        '{ aliases(after: "dataset:db:u") { edges { cursor } pageInfo { hasNextPage endCursor } } }'
    )
    assert data(after)["aliases"] == {
        "edges": [],
        "pageInfo": {"hasNextPage": False, "endCursor": None},
    }
