"""gql, the Python client of GraphQL, against a real server."""

from __future__ import annotations

import pytest
from gql import Client, gql
from gql.transport.exceptions import TransportQueryError
from gql.transport.requests import RequestsHTTPTransport

from headwater.cypher.driver.database import Database
from tests.graphql import subscribers
from tests.run_builders import run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def test_queries_are_validated_against_the_introspected_schema(
    database: Database, open_to_all: subscribers.Served
) -> None:
    write_events(database, run("r1", "load", ["raw"], ["clean"]))
    transport = RequestsHTTPTransport(f"http://127.0.0.1:{open_to_all.port}/graphql")
    query = gql(
        """query Runs($status: RunStatus, $first: Int) {
        runs(status: $status, first: $first) { edges { node { id startedAt } } totalCount } }"""
    )
    query.variable_values = {"status": "COMPLETE", "first": 5}
    with Client(transport=transport, fetch_schema_from_transport=True) as session:
        assert session.client.schema is not None
        found = session.execute(query)
        with pytest.raises(TransportQueryError) as raised:
            session.execute(gql('{ node(id: "run:none") { id } }'))
    node = {"id": "run:r1", "startedAt": "2026-01-01T00:00:00Z"}
    assert found == {"runs": {"edges": [{"node": node}], "totalCount": 1}}
    [error] = raised.value.errors or []
    assert error["extensions"]["code"] == "NOT_FOUND"
    assert raised.value.data == {"node": None}
