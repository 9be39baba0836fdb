"""The traces of a finding, for keys that see its run and for those that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headwater.access.principal import ANONYMOUS
from headwater.cypher.driver.database import Database
from headwater.graphql import in_process
from headwater.graphql.in_process import InProcessSchema
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import run_event
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import ds, job, run_of, write_events

pytestmark = pytest.mark.neo4j

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
QUERY = "{ findings { nodes { rule traceIds traceLinks } } }"


def test_the_traces_of_a_finding_are_those_of_its_run(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty(database)
    facets = {"trace": {"traceId": TRACE}}
    write_events(database, [run_event("r", "FAIL", facets=facets, inputs=["a"], outputs=["t"])])
    found = [
        finding(episode("failed-run", job("j"), 3, key="run:other", run=run_of("r"))),
        finding(episode("row-count", ds("t"), 2, run=run_of("r"))),
        # Its key is the run.
        finding(episode("duration", job("j"), 1, key=run_of("r"))),
        finding(episode("stale-dataset", ds("t"), 0, run={"urn": run_of("r")})),
    ]
    save(database, [(one, ["etl" if ":etl:" in one.episode.subject else "db"]) for one in found])
    view = GraphView(database)
    assert traces(view) == [
        ("failed-run", [TRACE]),
        ("row-count", [TRACE]),
        ("duration", [TRACE]),
        ("stale-dataset", []),
    ]
    restricted = replace(ANONYMOUS, visibility=Visibility(("db",)))
    monkeypatch.setattr(in_process, "ANONYMOUS", restricted)
    assert traces(view) == [("row-count", []), ("stale-dataset", [])]


def traces(view: GraphView) -> list[tuple[str, Any]]:
    schema = InProcessSchema(view)
    try:
        answer = schema.execute(QUERY, {})
        assert "errors" not in answer, answer
        nodes = answer["data"]["findings"]["nodes"]
        # Without HEADWATER_TRACE_URL there are no links.
        assert [one["traceLinks"] for one in nodes] == [[]] * len(nodes)
        return [(one["rule"], one["traceIds"]) for one in nodes]
    finally:
        schema.close()
