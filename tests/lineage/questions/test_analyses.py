"""The findings of an analysis, stored in the graph until the next one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import chain

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.analyses import Analysis, Finding, read_analysis, save_analysis
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import edges, empty
from tests.run_builders import ds, job, run, write_events

pytestmark = pytest.mark.neo4j

UNTIL = datetime(2026, 3, 31, tzinfo=UTC)
FIRST, SECOND = datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 2, tzinfo=UTC)
DRIFT = Finding("row_counts", ds("mart"), {"drifted": True, "recent_rows": 500.0})
SLOW = Finding("run_times", job("build"), {"slower": True})
WHOLE = Finding("summary", "", {"events": 81})


@pytest.fixture(scope="module")
def graph(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    write_events(database, run("b", "build", ["raw"], ["mart"]))
    yield view
    empty(database)


def test_an_analysis_replaces_the_previous_findings(graph: GraphView) -> None:
    empty_handed = read_analysis(graph)
    assert empty_handed is None
    save_analysis(graph.database, [SLOW, DRIFT, WHOLE], newest_event_at=UNTIL, analysed_at=FIRST)
    assert read_analysis(graph) == Analysis(UNTIL, FIRST, [DRIFT, SLOW, WHOLE])
    repeated = Finding("row_counts", ds("mart"), {"drifted": True, "day": date(2026, 3, 30)})
    save_analysis(graph.database, [repeated, WHOLE], newest_event_at=UNTIL, analysed_at=SECOND)
    stored = Finding("row_counts", ds("mart"), {"drifted": True, "day": "2026-03-30"})
    assert read_analysis(graph) == Analysis(UNTIL, SECOND, [stored, WHOLE])
    assert read_analysis(graph, table="summary") == Analysis(UNTIL, SECOND, [WHOLE])
    about = graph.database.ask("MATCH (a:Analysis)-[:ABOUT]->(n) RETURN a.urn AS a, n.urn AS n", {})
    assert about == [{"a": f"analysis:row_counts:{ds('mart')}", "n": ds("mart")}]
    # No traversal reaches a finding.
    assert not any("analysis" in end for end in chain(*edges(graph.database)))


def test_findings_about_hidden_nodes_are_left_out(graph: GraphView) -> None:
    save_analysis(graph.database, [SLOW, DRIFT, WHOLE], newest_event_at=UNTIL, analysed_at=SECOND)
    visible = read_analysis(graph.visible_to(Visibility(("etl",))))
    assert visible is not None
    assert visible.findings == [SLOW]
