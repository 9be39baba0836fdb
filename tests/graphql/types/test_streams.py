"""The offsets of a run in GraphQL, and what a key sees that may not see the topic."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.access.principal import ANONYMOUS
from headwater.cypher.driver.database import Database
from headwater.graphql import in_process
from headwater.graphql.in_process import InProcessSchema
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.run_builders import at, run_of, write_events

pytestmark = pytest.mark.neo4j

QUERY = """query Streams($run: ID!) { node(id: $run) { ... on PipelineRun { streams {
  dataset { name } isOutput reportedAt lag partitions { partition begin end latest lag } } } } }"""
ROW = {"partition": 0, "startOffset": 3, "endOffset": 10, "latestOffset": 2**40}


def test_offsets_are_answered_to_keys_that_see_the_topic(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty(database)
    usage = {"headwater_stream": {"partitions": [ROW]}}
    topic = dataset("orders", usage=usage, side="input", namespace="kafka://b:9092")
    write_events(database, [run_event("r", "RUNNING", 5, inputs=[topic, "plain"], outputs=["t"])])
    view = GraphView(database)
    expected = {
        "dataset": {"name": "orders"},
        "isOutput": False,
        "reportedAt": at(5),
        "lag": 2**40 - 10,
        "partitions": [{"partition": 0, "begin": 3, "end": 10, "latest": 2**40, "lag": 2**40 - 10}],
    }
    assert streams(view) == [expected]
    restricted = replace(ANONYMOUS, visibility=Visibility(("etl", "db")))
    monkeypatch.setattr(in_process, "ANONYMOUS", restricted)
    assert streams(view) == []


def streams(view: GraphView) -> object:
    schema = InProcessSchema(view)
    try:
        return schema.execute(QUERY, {"run": run_of("r")})["data"]["node"]["streams"]
    finally:
        schema.close()
