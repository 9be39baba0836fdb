"""Root causes and replay plans over GraphQL, with hand-worked results."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from tests.event_builders import dataset, run_event
from tests.graphql.conftest import Ask
from tests.run_builders import answer, at, ds, run, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

ROOT_CAUSE = """query ($urn: ID!, $since: DateTime, $first: Int! = 20) {
  rootCause(urn: $urn, since: $since, first: $first) { starts omittedCount truncated truncatedBy
    candidates { kind weight reason urn occurredAt distance before after comparedWith measures { column
    measure value baselineMean baselineDeviation deviations share versionCount } run { runId job {
    name } } } } }"""


@pytest.fixture
def coded(database: Database, clean_graph: object) -> Database:
    """Write load: raw -> a, mart: a -> d; in the second round load runs new code and mart's d is
    cited.
    """
    del clean_graph
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0, version="v1"),
        run("mart-1", "mart", ["a"], ["d"], minute=10),
        run("load-2", "load", ["raw"], ["a"], minute=20, version="v2"),
        run("mart-2", "mart", ["a"], ["d"], minute=30),
        answer("kpi", "d", minute=40),
    )
    return database


@pytest.mark.usefixtures("coded")
def test_root_cause(data: Ask) -> None:
    assert data(ROOT_CAUSE, urn="answer:kpi")["rootCause"] == {
        "starts": ["answer:kpi"],
        "omittedCount": 0,
        "truncated": False,
        "truncatedBy": None,
        "candidates": [
            {
                "kind": "CODE_CHANGED",
                "weight": 40,
                "reason": "load ran code v2; the success before it ran v1",
                "urn": "run:load-2",
                "occurredAt": "2026-01-01T00:20:00Z",
                "distance": 2,
                "before": "v1",
                "after": "v2",
                "comparedWith": ["run:load-1"],
                "measures": [],
                "run": {"runId": "load-2", "job": {"name": "load"}},
            }
        ],
    }
    assert data(ROOT_CAUSE, urn=ds("d"), since=at(21))["rootCause"]["candidates"] == []
    assert data(ROOT_CAUSE, urn=ds("d"), first=0)["rootCause"]["omittedCount"] == 1


def test_column_measures(database: Database, data: Ask) -> None:
    """Half of the rows are null where none were before; one earlier version has no deviation."""
    for number, nulls in enumerate((0, 5)):
        column = {"nullCount": nulls}
        usage = {"dataQualityMetrics": {"rowCount": 10, "columnMetrics": {"tenure": column}}}
        made = dataset("f", usage=usage)
        write_events(database, [run_event(f"f-{number}", minute=number, outputs=[made])])
    (found,) = data(ROOT_CAUSE, urn=ds("f"))["rootCause"]["candidates"]
    assert (found["kind"], found["weight"]) == ("COLUMN_MEASURE_CHANGED", 50)
    assert found["comparedWith"] == [version("f", "f-0")]
    assert found["measures"] == [
        {
            "column": "tenure",
            "measure": "null share",
            "value": 0.5,
            "baselineMean": 0.0,
            "baselineDeviation": None,
            "deviations": None,
            "share": 0.5,
            "versionCount": 1,
        }
    ]


@pytest.mark.usefixtures("coded")
def test_replay_plan(data: Ask) -> None:
    query = """query ($urn: ID!, $since: DateTime) { replayPlan(urn: $urn, since: $since) {
      corruptRuns { runId } owners nextJobs { name } cycles { name } answers { answerId }
      truncated truncatedBy
      steps { number runs { run { runId } job { name } owners readsOwnOutput inCycle superseded
        inputs { dataset { name } versionUrns waitFor { runId } }
        outputs { dataset { name } version { urn } lastGood { urn } } } } } }"""
    found = data(query, urn="run:load-2")["replayPlan"]
    load, mart = found.pop("steps")
    assert found == {
        "corruptRuns": [{"runId": "load-2"}],
        "owners": [],
        "nextJobs": [],
        "cycles": [],
        "answers": [{"answerId": "kpi"}],
        "truncated": False,
        "truncatedBy": None,
    }
    assert (load["number"], [entry["job"] for entry in load["runs"]]) == (1, [{"name": "load"}])
    assert mart == {
        "number": 2,
        "runs": [
            {
                "run": {"runId": "mart-2"},
                "job": {"name": "mart"},
                "owners": [],
                "readsOwnOutput": False,
                "inCycle": False,
                "superseded": False,
                "inputs": [
                    {
                        "dataset": {"name": "a"},
                        "versionUrns": [version("a", "load-2")],
                        "waitFor": [{"runId": "load-2"}],
                    }
                ],
                "outputs": [
                    {
                        "dataset": {"name": "d"},
                        "version": {"urn": version("d", "mart-2")},
                        "lastGood": {"urn": version("d", "mart-1")},
                    }
                ],
            }
        ],
    }
    of_dataset = data(query, urn=ds("a"), since=at(20))["replayPlan"]
    assert of_dataset["steps"] == [load, mart]


@pytest.mark.usefixtures("coded")
def test_refused_questions(refused: Ask) -> None:
    replay = "query ($urn: ID!) { replayPlan(urn: $urn) { truncated } }"
    for query in (ROOT_CAUSE, replay):
        assert refused(query, urn="run:never")["extensions"]["code"] == "NOT_FOUND"
        assert "job" in refused(query, urn="job:etl:load")["message"]
        assert "urn" in refused(query, urn="nonsense")["message"]
    assert "since" in refused(replay, urn=ds("a"))["message"]
