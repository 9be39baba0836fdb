"""Writes on a real graph: lineage edges, columns, derivations, parents and the checkpoint."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database, Row
from headwater.ingest.fold import fold
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    WriteRequest,
    read_checkpoint,
    write,
)
from headwater.schema.events import parse
from headwater.schema.urns import column_urn, source_urn
from tests.canonical import canonical, edges, empty
from tests.run_builders import (
    FACET,
    SPOOL,
    Event,
    answer,
    at,
    ds,
    job,
    run,
    run_of,
    version,
    write_events,
)

pytestmark = pytest.mark.neo4j


@pytest.fixture(autouse=True)
def _clean(database: Database) -> None:
    empty(database)


def moment(minute: int) -> datetime:
    return datetime(2026, 1, 1, 0, minute, tzinfo=UTC)


def edge(database: Database, source: str, type: str, target: str) -> Row:
    text = "MATCH (a {urn: $a})-[e]->(b {urn: $b}) WHERE type(e) = $type RETURN properties(e) AS p"
    (row,) = database.ask(text, {"a": source, "b": target, "type": type})
    found: Row = row["p"]
    return found


def node(database: Database, urn: str) -> Row:
    (row,) = database.ask("MATCH (n {urn: $urn}) RETURN properties(n) AS p", {"urn": urn})
    found: Row = row["p"]
    return found


def urns(database: Database, label: str) -> set[str]:
    return {
        row["urn"]
        for row in database.ask(
            "MATCH (n) WHERE $label IN labels(n) RETURN n.urn AS urn", {"label": label}
        )
    }


def table(minute: int, *columns: str, name: str = "t") -> list[Event]:
    """Return a dataset event with a schema, or one that deletes the schema."""
    schema: Any = {**FACET, "fields": [{"name": c, "type": "string"} for c in columns]}
    facets = {"schema": schema if columns else {**FACET, "_deleted": True}}
    return [
        {"eventTime": at(minute), "dataset": {"namespace": "db", "name": name, "facets": facets}}
    ]


def test_an_edge_has_its_first_and_last_observation(database: Database) -> None:
    write_events(database, run("r2", "j", ["a"], ["t"], minute=20))
    assert edge(database, ds("a"), "FEEDS", job("j")) == {
        "firstSeen": moment(20),
        "lastSeen": moment(21),
        "current": True,
        "reportedUrns": "",
    }
    write_events(database, run("r3", "j", ["a"], ["t"], minute=30))
    write_events(database, run("r1", "j", ["a"], ["t"], minute=10))
    expected = {
        "firstSeen": moment(10),
        "lastSeen": moment(31),
        "current": True,
        "reportedUrns": "",
    }
    assert edge(database, ds("a"), "FEEDS", job("j")) == expected
    # No run named the origins of t, so it comes from all current inputs.
    assert edge(database, job("j"), "PRODUCED", ds("t")) == {**expected, "fromAllInputs": True}


def test_the_lineage_graph_only_grows(database: Database) -> None:
    write_events(database, run("r1", "j", ["a"], ["t"], minute=1))
    write_events(database, run("r2", "j", ["b"], ["t"], minute=5, status="FAIL"))
    assert {(s, t) for s, _, t in edges(database, "FEEDS") if t == job("j")} == {
        (ds("a"), job("j")),
        (ds("b"), job("j")),
    }


def test_a_job_event_writes_lineage_edges_without_a_run(database: Database) -> None:
    declared = {"namespace": "db", "name": "a"}, {"namespace": "db", "name": "t"}
    write_events(
        database,
        [
            {
                "eventTime": at(3),
                "job": {"namespace": "etl", "name": "j"},
                "inputs": [declared[0]],
                "outputs": [declared[1]],
            }
        ],
    )
    assert edges(database, "FEEDS", "PRODUCED") == {
        (ds("a"), "FEEDS", job("j")),
        (job("j"), "PRODUCED", ds("t")),
    }
    assert edge(database, ds("a"), "FEEDS", job("j"))["firstSeen"] == moment(3)
    assert urns(database, "PipelineRun") == urns(database, "Artifact") == set()


def test_derived_from_narrows_the_sources_of_an_output(database: Database) -> None:
    write_events(database, run("r", "j", ["a", "b"], ["t", "u"], derived={"t": ["a"]}))
    history = {(s, t) for s, _, t in edges(database, "DERIVED_FROM") if s.startswith("artifact:")}
    assert history == {(version("t", "r"), source_urn("db", "a"))}, (
        "u has no column lineage: it came from both"
    )
    mapped = {(s, t) for s, _, t in edges(database, "DERIVED_FROM") if s.startswith("dataset:")}
    assert mapped == {(ds("t"), ds("a"))}
    assert edge(database, ds("t"), "DERIVED_FROM", ds("a")) == {
        "job": job("j"),
        "firstSeen": moment(0),
        "evidence": ["columns"],
        "reportedUrns": "",
    }
    assert "derivedFrom" not in node(database, version("t", "r")), "the edge tells it"


def test_derived_from_follows_relinked_runs(database: Database) -> None:
    write_events(database, run("r", "j", ["a", "b"], ["t"], minute=9, derived={"t": ["a"]}))
    write_events(database, run("w", "load", [], ["a"], minute=5))
    found = {(s, t) for s, _, t in edges(database, "DERIVED_FROM") if s.startswith("artifact:")}
    assert found == {(version("t", "r"), version("a", "w"))}


def test_column_edges_have_the_job_and_all_transformations(database: Database) -> None:
    def with_step(minute: int, **step: Any) -> list[Event]:
        events = run(f"r{minute}", "j", ["a"], ["t"], minute=minute, derived={"t": ["a"]})
        for event in events:
            lineage = event["outputs"][0]["facets"]["columnLineage"]
            lineage["fields"]["id"]["inputFields"][0]["transformations"] = [step]
        return events

    write_events(database, with_step(5, type="DIRECT", subtype="IDENTITY"))
    write_events(database, with_step(1, type="INDIRECT", subtype="FILTER", masking=True))
    found = edge(database, column_urn("db", "a", "id"), "FEEDS", column_urn("db", "t", "id"))
    transformations = ["DIRECT:IDENTITY", "INDIRECT:FILTER:masked"]
    assert found == {
        "job": job("j"),
        "firstSeen": moment(1),
        "transformations": transformations,
        "reportedUrns": "",
    }
    assert node(database, column_urn("db", "a", "id"))["current"] is False, (
        "named by an edge, listed by no schema"
    )


def test_dropped_columns_are_removed_unless_referenced(
    database: Database,
) -> None:
    write_events(
        database,
        table(1, "id", "old", "cited"),
        answer("x", {"namespace": "db", "name": "t", "field": "cited"}),
    )
    assert {column_urn("db", "t", c) for c in ("id", "old", "cited")} <= urns(database, "Column")
    write_events(database, table(2, "id", "new"))
    assert urns(database, "Column") == {column_urn("db", "t", c) for c in ("id", "new", "cited")}
    dropped = node(database, column_urn("db", "t", "cited"))
    assert (dropped["current"], dropped.get("type")) == (False, None)
    assert node(database, ds("t"))["columns"] == ["id", "new"]
    write_events(database, table(3, "cited"))
    assert node(database, column_urn("db", "t", "cited"))["current"] is True
    write_events(database, table(4))
    assert urns(database, "Column") == {column_urn("db", "t", "cited")}


def test_a_late_schema_does_not_bring_a_column_back(database: Database) -> None:
    write_events(database, table(5, "new"))
    write_events(database, table(1, "old"))
    assert urns(database, "Column") == {column_urn("db", "t", "new")}


def test_a_run_is_part_of_its_parent_in_either_order(database: Database) -> None:
    write_events(database, run("child", "j", parent="dag-run", status="FAIL"))
    assert edges(database, "PART_OF") == {
        (run_of("child"), "PART_OF", run_of("dag-run")),
        (job("j"), "PART_OF", job("dag")),
    }
    parent = node(database, run_of("dag-run"))
    assert (parent["status"], parent["pipelineName"], parent.get("startedAt")) == (
        "RUNNING",
        "dag",
        None,
    )
    write_events(database, run("dag-run", "dag", minute=0))
    assert node(database, run_of("dag-run"))["status"] == "COMPLETE"
    assert edges(database, "RUN_OF") == {
        (run_of("child"), "RUN_OF", job("j")),
        (run_of("dag-run"), "RUN_OF", job("dag")),
    }


def test_row_counts_are_on_the_version(database: Database) -> None:
    write_events(database, run("r", "j", [], ["t"], rows=16))
    assert node(database, version("t", "r"))["rowCount"] == 16
    assert edge(database, run_of("r"), "PRODUCED", version("t", "r")) == {}


STORY = [
    *run("w", "load", ["raw"], ["a"], minute=1),
    *run("r", "j", ["a"], ["t"], minute=5, derived={"t": ["a"]}, parent="p", rows=3),
    *table(2, "id"),
    *answer("x", "t", {"namespace": "db", "name": "t", "field": "id"}, minute=9),
]


def test_a_repeated_delta_changes_nothing(database: Database) -> None:
    write_events(database, STORY)
    once = canonical(database)
    write_events(database, STORY)
    for event in STORY:
        write_events(database, [event])
    assert canonical(database) == once


def delta(*events: Event) -> Any:
    return fold(parse(json.dumps(event).encode(), received=0) for event in events)


def test_the_checkpoint_moves_with_the_delta_or_nothing_does(database: Database) -> None:
    start, after = Checkpoint(), Checkpoint(7, 6, 1)
    write(
        database,
        WriteRequest(delta(*STORY), spool=SPOOL, before=start, after=after, holder="tests"),
    )
    assert read_checkpoint(database, SPOOL) == after
    assert read_checkpoint(database, "another spool") == Checkpoint()
    once = canonical(database)
    with pytest.raises(CheckpointMovedError):
        write(
            database,
            WriteRequest(
                delta(*table(3, "more")),
                spool=SPOOL,
                before=start,
                after=Checkpoint(8, 7, 1),
                holder="tests",
            ),
        )
    assert (read_checkpoint(database, SPOOL), canonical(database)) == (after, once)


def test_a_failed_write_leaves_the_checkpoint_unchanged(database: Database) -> None:
    broken = delta(*STORY)
    broken.datasets[ds("t")].dataset = None
    with pytest.raises(Exception, match="NoneType"):
        write(
            database,
            WriteRequest(
                broken, spool=SPOOL, before=Checkpoint(), after=Checkpoint(7, 7, 0), holder="tests"
            ),
        )
    assert read_checkpoint(database, SPOOL) == Checkpoint()
    assert canonical(database) == ([], [])


def test_thousands_of_inputs_and_outputs_are_not_paired(database: Database) -> None:
    """The pairs would be nine million and take 20 s; twice as many exceed the deadline."""
    inputs = [f"in{number}" for number in range(1_500)]
    outputs = [f"out{number}" for number in range(1_500)]
    write_events(database, run("r", "j", inputs, outputs))
    (row,) = database.ask("MATCH (:PipelineRun)-[p:PRODUCED]->() RETURN count(p) AS made", {})
    assert row["made"] == 1_500
