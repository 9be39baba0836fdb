"""The export of the whole graph: a small one worked out by hand, and the values that the canonical
export leaves out.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance import export
from headwater.cypher.maintenance.export import Counts, as_line, count
from headwater.ingest.write.containment import abandon_lost_heartbeats
from tests.canonical import canonical, empty
from tests.run_builders import answer, at, ds, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j

INTERNAL_LABELS = ("Checkpoint", "Migration", "Retention", "WriteLock")

STORY = [
    *run("00000000-0000-4000-8000-000000000001", "load", ["raw"], ["clean"], minute=0, rows=7),
    *run(
        "00000000-0000-4000-8000-000000000002",
        "rank",
        ["clean"],
        ["mart"],
        minute=5,
        status="FAIL",
        error="no",
    ),
    *answer("a", "mart", minute=9, content="42"),
]
RUNNING = [
    {**event, "eventType": "START", "eventTime": at(20)}
    for event in run("late", "load", [], ["more"])[:1]
]


@pytest.fixture(autouse=True)
def _clean(database: Database) -> None:
    empty(database)


def exported(database: Database, *, canonical: bool) -> list[dict[str, Any]]:
    lines = export.as_lines(export.export(database, canonical=canonical))
    return [json.loads(line) for line in lines]


def test_a_small_story(database: Database) -> None:
    write_events(database, STORY)
    rows = exported(database, canonical=True)
    nodes = {row["urn"]: row for row in rows if "label" in row}
    version_urn = "artifact:db:clean:00000000-0000-4000-8000-000000000001"
    assert set(nodes) == {
        "answer:a",
        version_urn,
        "artifact:db:mart:00000000-0000-4000-8000-000000000002",
        "dataset:db:clean",
        "dataset:db:mart",
        "dataset:db:raw",
        "job:etl:load",
        "job:etl:rank",
        "run:00000000-0000-4000-8000-000000000001",
        "run:00000000-0000-4000-8000-000000000002",
        "source:db:raw",
    }
    assert nodes[version_urn]["label"] == "Artifact"
    properties = nodes[version_urn]["properties"]
    assert (properties["createdAt"], properties["rowCount"], properties["complete"]) == (
        at(1),
        7,
        True,
    )
    edges = {(row["source"], row["type"], row["target"]) for row in rows if "label" not in row}
    assert ("source:db:raw", "FEEDS", "run:00000000-0000-4000-8000-000000000001") in edges
    assert (version_urn, "VERSION_OF", "dataset:db:clean") in edges
    assert len(nodes) + len(edges) == len(rows)


def test_derived_properties_are_exported(database: Database) -> None:
    write_events(
        database, run("r", "j", ["a", "b"], ["t"], minute=9, rows=16, derived={"t": ["a", "z"]})
    )
    rows = exported(database, canonical=True)
    properties = {row["urn"]: row["properties"] for row in rows if row.get("label")}
    assert properties[version("t", "r")]["run"] == run_of("r")
    assert properties[version("t", "r")]["derivedFrom"] == [ds("a"), ds("z")]
    assert properties[run_of("r")]["attempts"] == 1
    assert properties[run_of("r")]["lastSeen"] == properties[run_of("r")]["finishedAt"]
    (produced,) = (
        row for row in rows if row.get("type") == "PRODUCED" and row["source"] == run_of("r")
    )
    assert produced["properties"] == {"rowCount": 16}


def test_versions_begin_with_their_run_but_those_of_earlier_attempts(database: Database) -> None:
    start, end = run("r", "j", ["a"], ["t"], minute=9)

    def begun() -> list[tuple[str, str]]:
        rows = [
            row["properties"]
            for row in exported(database, canonical=True)
            if row.get("label") == "Artifact"
        ]
        return sorted((row["startedAt"], row["createdAt"]) for row in rows)

    write_events(database, [start, end])
    assert begun() == [(at(9), at(10))]
    write_events(database, [{**start, "eventTime": at(3)}])
    assert begun() == [(at(3), at(10))]
    write_events(database, [{**start, "eventTime": at(20)}, {**end, "eventTime": at(21)}])
    assert begun() == [(at(3), at(10)), (at(20), at(21))]
    (count_row,) = database.ask(
        "MATCH (a:Artifact) WHERE a.startedAt IS NOT NULL RETURN count(a) AS n", {}
    )
    assert count_row["n"] == 1


def test_a_version_of_a_rolled_up_run_has_its_own_start(
    database: Database,
) -> None:
    write_events(
        database, [*run("r", "j", ["a"], ["t"], minute=9), *run("s", "k", ["t"], [], minute=30)]
    )
    with database.write() as transaction:
        transaction.run("write/maintenance/roll_up", urns=[run_of("r")])
    (left,) = (
        row["properties"]
        for row in exported(database, canonical=True)
        if row.get("label") == "Artifact"
    )
    assert (left["startedAt"], left["rolledUp"]) == (at(9), True)


def test_its_order(database: Database) -> None:
    write_events(database, STORY)
    rows = exported(database, canonical=False)
    nodes = [(row["label"], row["urn"] or "") for row in rows if "label" in row]
    edges = [(row["source"], row["type"], row["target"]) for row in rows if "label" not in row]
    assert (nodes, edges) == (sorted(nodes), sorted(edges))
    assert {"Checkpoint", "Migration", "WriteLock"} <= {label for label, _ in nodes}


def test_every_label_is_exported_and_counted(database: Database) -> None:
    write_events(database, STORY)
    labels_known = {*count(database), *INTERNAL_LABELS}
    labels = {
        row["label"]
        for row in database.ask("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label", {})
    }
    assert labels <= labels_known
    (row,) = database.ask("MATCH (n)-[e]->() RETURN count(e) AS edges", {})
    assert sum(size.edges for size in count(database).values()) == row["edges"]
    assert count(database)["Job"] == Counts(nodes=2, edges=2)


def test_pages_change_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    write_events(database, STORY)
    before = canonical(database)
    for name in ("NODES_PER_PAGE", "SOURCES_PER_PAGE"):
        monkeypatch.setattr(export, name, 1)
    assert canonical(database) == before


def test_another_order_gives_the_same_bytes(database: Database) -> None:
    write_events(database, STORY)
    before = canonical(database)
    for seed in range(3):
        shuffled = list(STORY)
        random.Random(seed).shuffle(shuffled)
        empty(database)
        write_events(database, *([event] for event in shuffled[:3]), shuffled[3:])
        assert canonical(database) == before


def test_clock_times_are_left_out(database: Database) -> None:
    write_events(database, STORY, RUNNING)
    before = canonical(database)
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    # The events were received in 1970.
    assert (
        abandon_lost_heartbeats(
            database, now=tomorrow, heartbeat_timeout_seconds=86_400, holder="tests"
        )
        == 1
    )
    assert canonical(database) == before
    rows = exported(database, canonical=False)
    found = {
        row["urn"]: row["properties"]
        for row in rows
        if row.get("label") in {"Artifact", "PipelineRun"}
    }
    assert {urn for urn, properties in found.items() if properties["status"] == "ABANDONED"} == {
        "run:late",
        "artifact:db:more:late",
    }
    assert found["run:late"]["heartbeatLost"] is True
    assert "lastHeartbeatAt" in found["run:late"]


def test_a_run_abandoned_for_another_reason_too_stays_abandoned(database: Database) -> None:
    parent = run("above", "dag", minute=30)
    child = run("late", "load", [], ["more"], parent="above")[:1]
    write_events(database, child)
    abandon_lost_heartbeats(
        database, now=datetime.now(UTC), heartbeat_timeout_seconds=1, holder="tests"
    )
    write_events(database, parent)
    found = canonical(database)
    empty(database)
    write_events(database, parent, child)
    assert found == canonical(database)
    assert '"status":"ABANDONED"' in "".join(found[0])


def test_times_are_utc_and_words_stay_as_they_are() -> None:
    assert (
        as_line({"b": datetime(2026, 1, 1, tzinfo=UTC), "a": "ß\n"})
        == '{"b":"2026-01-01T00:00:00Z","a":"ß\\n"}'
    )
