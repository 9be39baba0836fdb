"""A key reports a run with the id of another team's run: that run stays as its team reported it.

Team A owns the job `etl/j` (namespace `etl`), team B the job `team-b/x`. Expected values by hand.
"""

from __future__ import annotations

import json

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.fold.undated_events import fold_received, fold_undated
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.view import GraphView
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse
from headwater.schema.facts import Span
from headwater.schema.naming import load_naming
from headwater.schema.urns import shared_run_id
from headwater.schema.visibility import Visibility
from tests.canonical import edges
from tests.event_builders import dataset, job_event, node, run_event, schema, symlinks
from tests.graph_of_batches import graph_of
from tests.run_builders import FACET, Event, answer, ds, job, run_of, version

pytestmark = pytest.mark.neo4j

R = "0198c2f4-0000-7000-8000-000000000001"
A, B, PLATFORM = ["etl", "db"], ["team-b"], ["etl", "team-b", "platform"]
A_RUN, B_RUN = shared_run_id(R, "=etl"), shared_run_id(R, "=team-b")
TEAM_A, TEAM_B = Visibility(("etl", "db")), Visibility(("team-b",))


def by(
    event: Event, sender: list[str] | None, received: int, namespace: str | None = None
) -> bytes:
    """Return an event as the spool has it, with its receipt in front."""
    if namespace:
        event = {**event, "job": {**event["job"], "namespace": namespace}}
    if sender is not None:
        event = {**event, "headwater_sender": sorted(sender)}
    return json.dumps([received, event]).encode()


def written(database: Database, *events: bytes) -> GraphView:
    """Write events in one batch, one by one, and in reverse: the graph must be the same."""
    found = [
        graph_of(database, _fold, batches)
        for batches in ([list(events)], [[one] for one in events], [[one] for one in events[::-1]])
    ]
    assert found[1:] == found[:1] * 2
    return GraphView(database)


def _fold(bodies: list[bytes]) -> GraphDelta:
    received = map(json.loads, bodies)
    return fold(parse(json.dumps(event).encode(), received=at) for at, event in received)


def runs(database: Database) -> dict[str, tuple[str, set[str]]]:
    """Return the status and the jobs of each run, by its urn."""
    of = edges(database, "RUN_OF")
    return {
        run: (node(database, run)["status"], {far for near, _, far in of if near == run})
        for run in {near for near, _, _ in of}
    }


def test_an_end_by_another_team_is_a_run_of_its_own(database: Database) -> None:
    view = written(
        database,
        by(run_event(R, "START", 1), A, 10),
        by(run_event(R, "FAIL", 2, job="x", outputs=["stolen"]), B, 11, "team-b"),
    )
    assert runs(database) == {
        run_of(R): ("RUNNING", {job("j")}),
        run_of(B_RUN): ("FAIL", {"job:team-b:x"}),
    }
    assert node(database, run_of(B_RUN))["runId"] == f"{R}~{B_RUN[-16:]}"
    # The run of team B wrote a version, that of team A none.
    produced = {near for near, _, far in edges(database, "PRODUCED") if far.startswith("artifact:")}
    assert produced == {run_of(B_RUN)}
    assert find_hidden(view.visible_to(TEAM_A), [run_of(R), run_of(B_RUN)]) == {run_of(B_RUN)}
    assert find_hidden(view.visible_to(TEAM_B), [run_of(R), run_of(B_RUN)]) == {run_of(R)}


def test_a_claim_before_the_run_does_not_take_its_end(database: Database) -> None:
    # Team B computed the id. Both runs are there, each whole, and each team sees its own.
    view = written(
        database,
        by(run_event(R, "COMPLETE", 1, job="x"), B, 5, "team-b"),
        by(run_event(R, "START", 2), A, 10),
        by(run_event(R, "FAIL", 3, outputs=["mart"]), A, 11),
    )
    assert runs(database) == {
        run_of(R): ("COMPLETE", {"job:team-b:x"}),
        run_of(A_RUN): ("FAIL", {job("j")}),
    }
    assert (job("j"), "PRODUCED", ds("mart")) in edges(database, "PRODUCED")
    assert find_hidden(view.visible_to(TEAM_A), [run_of(R), run_of(A_RUN)]) == {run_of(R)}
    # To each team the reported id is its own run.
    assert resolve_urn(view.visible_to(TEAM_A), run_of(R)) == run_of(A_RUN)
    assert resolve_urn(view.visible_to(TEAM_B), run_of(R)) == run_of(R)
    assert resolve_urn(view, run_of(R)) == run_of(R)
    assert resolve_urn(view.visible_to(Visibility(("none",))), run_of(R)) == run_of(R)


def test_an_unrestricted_key_keeps_its_run_after_an_earlier_claim(database: Database) -> None:
    written(
        database,
        by(run_event(R, "COMPLETE", 1, job="x", inputs=["raw"]), B, 5, "team-b"),
        by(run_event(R, "START", 2), None, 10),
        by(run_event(R, "FAIL", 3, outputs=["mart"]), None, 11),
    )
    assert runs(database) == {
        run_of(R): ("FAIL", {job("j")}),
        run_of(B_RUN): ("COMPLETE", {"job:team-b:x"}),
    }
    assert version("mart", R) in {far for _, _, far in edges(database, "PRODUCED")}


def test_keys_that_cover_the_namespace_of_the_job_share_the_run(database: Database) -> None:
    written(
        database,
        by(run_event(R, "START", 1), A, 10),
        by(run_event(R, "COMPLETE", 2, outputs=["mart"]), PLATFORM, 11),
        by(run_event(R, "RUNNING", 1, inputs=["raw"]), None, 12),
    )
    assert runs(database) == {run_of(R): ("COMPLETE", {job("j")})}
    assert ds("raw") in {near for near, _, far in edges(database, "FEEDS") if far == job("j")}


def child_of(run_id: str, namespace: str, name: str) -> Event:
    """Return the start of a child of job `x` that names this parent."""
    parent = {"run": {"runId": run_id}, "job": {"namespace": namespace, "name": name}}
    return run_event("child", "START", 2, job="x", facets={"parent": parent})


def parents(database: Database) -> set[str]:
    """Return the runs of which the child is a part."""
    part_of = edges(database, "PART_OF")
    return {above for run, _, above in part_of if run == run_of("child")}


@pytest.mark.parametrize(("received", "own", "parent"), [(5, A_RUN, R), (15, R, B_RUN)])
def test_a_parent_facet_gives_a_run_no_other_job(
    database: Database, received: int, own: str, parent: str
) -> None:
    view = written(
        database,
        by(run_event(R, "START", 1), A, 10),
        by(child_of(R, "team-b", "boss"), B, received, "team-b"),
    )
    assert runs(database) == {
        run_of(own): ("RUNNING", {job("j")}),
        run_of(parent): ("RUNNING", {"job:team-b:boss"}),
        run_of("child"): ("RUNNING", {"job:team-b:x"}),
    }
    assert find_hidden(view.visible_to(TEAM_A), [run_of(own)]) == set()
    assert parents(database) == {run_of(parent)}


@pytest.mark.parametrize("received", [5, 15])
@pytest.mark.parametrize("sender", [B, None])
def test_a_claim_of_a_parent_does_not_end_its_children(
    database: Database, received: int, sender: list[str] | None
) -> None:
    # Team A reports the id of team B's parent run, and its end.
    written(
        database,
        by(run_event(R, "START", 1), A, received),
        by(run_event(R, "FAIL", 9), A, received + 1),
        by(child_of(R, "team-b", "boss"), sender, 10, "team-b"),
    )
    assert runs(database)[run_of("child")] == ("RUNNING", {"job:team-b:x"})


@pytest.mark.parametrize("received", [5, 15])
def test_children_follow_their_own_parent(database: Database, received: int) -> None:
    written(
        database,
        by(run_event(R, "COMPLETE", 1), A, received),
        by(child_of(R, "team-b", "boss"), B, 10, "team-b"),
        by(run_event(R, "FAIL", 9, job="boss"), B, 12, "team-b"),
    )
    found = B_RUN if received == 5 else R
    assert runs(database)[run_of(found)] == ("FAIL", {"job:team-b:boss"})
    assert parents(database) == {run_of(found)}
    assert runs(database)[run_of("child")] == ("ABANDONED", {"job:team-b:x"})


@pytest.mark.parametrize("received", [5, 15])
def test_a_parent_of_a_namespace_without_a_claim_is_a_run_of_its_own(
    database: Database, received: int
) -> None:
    # The key of team B does not cover `airflow`, whose events come late or never.
    claim = by(run_event(R, "FAIL", 9), A, received)
    child = by(child_of(R, "airflow", "dag"), B, 10, "team-b")
    written(database, claim, child)
    # The run that is named or claimed first has the reported id.
    own = shared_run_id(R, "=airflow") if received == 5 else R
    assert parents(database) == {run_of(own)}
    assert node(database, run_of(own))["startedAt"] is None
    assert runs(database)[run_of("child")] == ("RUNNING", {"job:team-b:x"})
    airflow = by(run_event(R, "START", 1, job="dag"), ["airflow"], 20, "airflow")
    written(database, claim, child, airflow)
    assert parents(database) == {run_of(own)}
    assert runs(database)[run_of(own)] == ("RUNNING", {"job:airflow:dag"})
    first = by(run_event(R, "START", 1, job="dag"), ["airflow"], 1, "airflow")
    written(database, claim, child, first)
    assert parents(database) == {run_of(R)}
    assert runs(database)[run_of(R)] == ("RUNNING", {"job:airflow:dag"})


def test_order_and_data_flow_follow_the_run_that_is_meant(database: Database) -> None:
    upstream = {"upstream": [{"job": {"namespace": "team-b", "name": "w"}, "run": {"runId": R}}]}
    source = {"namespace": "team-b", "name": "w", "type": "JOB", "runId": R}
    own = {"type": "JOB", "namespace": "team-b", "name": "x", "inputs": [source]}
    facets = {"jobDependencies": upstream, "lineage": {**FACET, "entries": [own]}}
    written(
        database,
        by(run_event(R, "FAIL", 9), A, 5),
        by(run_event("next", "START", 2, job="x", facets=facets), B, 10, "team-b"),
        by(run_event(R, "COMPLETE", 1, job="w"), B, 12, "team-b"),
    )
    for kind in ("TRIGGERS", "FEEDS"):
        found = {edge for edge in edges(database, kind) if edge[2] == run_of("next")}
        assert found == {(run_of(B_RUN), kind, run_of("next"))}


def test_a_parent_of_another_team_stays_a_parent(database: Database) -> None:
    parent = {"run": {"runId": R}, "job": {"namespace": "etl", "name": "j"}}
    child = run_event("child", "START", 2, job="x", facets={"parent": parent})
    written(
        database,
        by(child, B, 9, "team-b"),
        by(run_event(R, "START", 1), A, 10),
    )
    assert runs(database) == {
        run_of(R): ("RUNNING", {job("j")}),
        run_of("child"): ("RUNNING", {"job:team-b:x"}),
    }
    assert (run_of("child"), "PART_OF", run_of(R)) in edges(database, "PART_OF")


def test_a_root_with_the_id_of_its_own_descendant_is_the_run_of_its_job(
    database: Database,
) -> None:
    """Team B's run names a parent, and above it a root of team A that has the id of the run."""
    parent = {
        "run": {"runId": "middle"},
        "job": {"namespace": "team-b", "name": "m"},
        "root": {"run": {"runId": R}, "job": {"namespace": "etl", "name": "j"}},
    }
    child = run_event(R, "START", 2, job="x", facets={"parent": parent})
    written(database, by(run_event(R, "COMPLETE", 1), A, 5), by(child, B, 10, "team-b"))
    assert (run_of("middle"), "PART_OF", run_of(R)) in edges(database, "PART_OF")
    assert runs(database) == {
        run_of(R): ("COMPLETE", {job("j")}),
        run_of(B_RUN): ("RUNNING", {"job:team-b:x"}),
        run_of("middle"): ("ABANDONED", {"job:team-b:m"}),
    }


def test_a_lineage_facet_gives_a_run_no_other_job(database: Database) -> None:
    source = {"namespace": "etl", "name": "other", "type": "JOB", "runId": R}
    lineage = {"lineage": {**FACET, "inputs": [source]}}
    other = run_event("b-1", "COMPLETE", 2, job="x", outputs=[dataset("out", lineage)])
    view = written(database, by(run_event(R, "START", 1), A, 10), by(other, B, 15, "team-b"))
    assert runs(database) == {
        run_of(R): ("RUNNING", {job("j")}),
        run_of("b-1"): ("COMPLETE", {"job:team-b:x"}),
    }
    assert find_hidden(view.visible_to(TEAM_A), [run_of(R)]) == set()
    assert node(database, run_of(R))["pipelineName"] == "j"
    assert not {edge for edge in edges(database, "PRODUCED") if edge[0] == run_of(R)}


def test_no_event_can_name_the_run_of_another_sender(database: Database) -> None:
    written(
        database,
        by(run_event(R, "START", 1), A, 10),
        by(run_event(R, "FAIL", 2, job="x"), B, 11, "team-b"),
        by(run_event(B_RUN, "COMPLETE", 3, job="z"), ["team-c"], 12, "team-c"),
    )
    assert runs(database) == {
        run_of(R): ("RUNNING", {job("j")}),
        run_of(B_RUN): ("FAIL", {"job:team-b:x"}),
        run_of(f"{B_RUN}~"): ("COMPLETE", {"job:team-c:z"}),
    }


def test_a_run_taken_over_keeps_none_of_its_old_edges(database: Database) -> None:
    upstream = {"upstream": [{"job": {"namespace": "team-b", "name": "w"}, "run": {"runId": "w1"}}]}
    dropped = dataset("old", {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}})
    written(
        database,
        by(
            run_event(
                R, "COMPLETE", 1, job="x", outputs=[dropped], facets={"jobDependencies": upstream}
            ),
            B,
            5,
            "team-b",
        ),
        by(run_event(R, "COMPLETE", 2), None, 10),
    )
    assert edges(database, "DROPPED") == {(run_of(B_RUN), "DROPPED", ds("old"))}
    triggers = {edge for edge in edges(database, "TRIGGERS") if edge[0].startswith("run:")}
    assert triggers == {(run_of("w1"), "TRIGGERS", run_of(B_RUN))}


@pytest.mark.parametrize("received", [5, 15])
def test_a_job_event_takes_no_run(database: Database, received: int) -> None:
    entries = [
        {"type": "JOB", "namespace": "team-b", "name": "x", "runId": R, "inputs": []},
        {"type": "JOB", "namespace": "etl", "name": "j", "runId": R, "inputs": []},
    ]
    declared = job_event("x", 2, facets={"lineage": {**FACET, "entries": entries}})
    view = written(
        database,
        by(run_event(R, "START", 1), A, 10),
        by(declared, B, received, "team-b"),
        by(run_event(R, "FAIL", 3, job="x"), B, 20, "team-b"),
        by(run_event(R, "COMPLETE", 4), A, 30),
    )
    assert runs(database) == {
        run_of(R): ("COMPLETE", {job("j")}),
        run_of(B_RUN): ("FAIL", {"job:team-b:x"}),
    }
    assert find_hidden(view.visible_to(TEAM_A), [run_of(R)]) == set()


def test_a_parent_facet_does_not_end_the_parent(database: Database) -> None:
    parent = {
        "run": {"runId": R},
        "job": {"namespace": "etl", "name": "j"},
        "root": {"run": {"runId": "b-root"}, "job": {"namespace": "team-b", "name": "root"}},
    }
    written(
        database,
        by(run_event(R, "START", 1), A, 10),
        by(run_event("b-root", "COMPLETE", 9, job="root"), B, 11, "team-b"),
        by(run_event("b-1", "COMPLETE", 9, job="x", facets={"parent": parent}), B, 12, "team-b"),
    )
    assert runs(database)[run_of(R)] == ("RUNNING", {job("j")})
    assert not {edge for edge in edges(database, "PART_OF") if edge[0] == run_of(R)}


def test_a_claim_before_a_shared_key_takes_no_run(database: Database) -> None:
    view = written(
        database,
        by(run_event(R, "START", 1, job="sit"), B, 5, "team-b"),
        by(run_event(R, "START", 2), PLATFORM, 10),
        by(run_event(R, "FAIL", 3, job="sit"), B, 15, "team-b"),
        by(run_event(R, "COMPLETE", 4), PLATFORM, 20),
    )
    assert runs(database) == {
        run_of(R): ("FAIL", {"job:team-b:sit"}),
        run_of(A_RUN): ("COMPLETE", {job("j")}),
    }
    assert find_hidden(view.visible_to(TEAM_A), [run_of(R), run_of(A_RUN)]) == {run_of(R)}


def test_an_undated_claim_counts_from_its_first_receipt() -> None:
    future = json.dumps(
        {**run_event(R, "START", 1), "eventTime": "2099-01-01T00:00:00Z", "headwater_sender": A}
    ).encode()
    copies = [(parse(future, received=at), future) for at in (10, 99)]
    delta = fold_received(copies, future_seconds=60)
    found = fold_undated(delta.undated, load_naming()).runs[run_of(R)]
    assert found.receipts == Span(10, 99)


def test_a_claim_counts_from_its_receipt_whatever_its_time() -> None:
    # An earlier event had the same time, then in the future: so this one counts as a possible copy.
    event = {**run_event(R, "START", 1), "headwater_sender": A}
    body = json.dumps(event).encode()
    instant = parse(body, received=0).instant
    late = [instant + 50, instant + 90]
    delta = fold_received(
        [(parse(body, received=at), body) for at in late],
        future_seconds=60,
        future_instants={instant},
    )
    found = fold_undated(delta.undated, load_naming()).runs[run_of(R)]
    assert found.receipts == Span(*late)
    assert found.states == {(instant, "START")}


def test_a_run_taken_over_keeps_no_schema_and_no_version(database: Database) -> None:
    # Team B wrote `mart` with a schema and `old` with rows, which an answer cites.
    rows = {"outputStatistics": {**FACET, "rowCount": 3}}
    mart, old = dataset("mart", schema(a="int")), {**dataset("old"), "outputFacets": rows}
    written(
        database,
        by(answer("answer-1", {"namespace": "db", "name": "old", "runId": R})[0], None, 1),
        by(run_event(R, "COMPLETE", 1, job="x", outputs=[mart, old]), [*B, "db"], 5, "team-b"),
        by(run_event(R, "COMPLETE", 2, outputs=["mart"]), None, 10),
    )
    with_schema = {near for near, _, _ in edges(database, "HAS_SCHEMA")}
    assert version("mart", R) not in with_schema
    assert version("mart", f"{R}~{B_RUN[-16:]}") in with_schema
    assert node(database, version("old", R)).get("rowCount") is None
    assert node(database, version("old", f"{R}~{B_RUN[-16:]}"))["rowCount"] == 3


def test_a_run_taken_over_while_names_are_joined_leaves_its_slot(database: Database) -> None:
    slot = {"nominalTime": {**FACET, "nominalStartTime": "2026-01-01T00:00:00Z"}}
    written(
        database,
        by(run_event(R, "COMPLETE", 1, job="x", inputs=["raw"], facets=slot), B, 5, "team-b"),
        by(run_event(R, "COMPLETE", 2, inputs=[dataset("raw", symlinks("raw2"))]), None, 10),
    )
    assert node(database, run_of(R)).get("attempt") is None
    assert node(database, run_of(B_RUN))["attempt"] == 1
