"""Rows of runs and versions, computed by hand: they have only changed properties."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.write.runs import _changed_artifacts, _has_new_index_key, _new_run
from tests.event_builders import edge, node, run_event
from tests.ingest.write.test_consumers import ENDED, RUNNING, view_of
from tests.run_builders import ds, job, run_of, version, write_events


def test_a_new_run_has_its_versions_and_no_nulls() -> None:
    row = _new_run(run_of("r"), ENDED, view_of(ENDED), {})
    assert row["jobs"] == [job("j")]
    (made,) = row["made"]
    assert (made["urn"], made["dataset"], made["schema"]) == (version("t", "r"), ds("t"), None)
    assert "startedAt" not in made["properties"], "its run has the same start"
    assert None not in row["properties"].values()


def test_only_a_running_run_has_a_heartbeat() -> None:
    heartbeats = {run_of("r"): 1_000_000}
    running = _new_run(run_of("r"), RUNNING, view_of(RUNNING), heartbeats)
    assert running["properties"]["lastHeartbeatAt"].second == 1
    ended = _new_run(run_of("r"), ENDED, view_of(ENDED), heartbeats)
    assert "lastHeartbeatAt" not in ended["properties"]


def test_an_unchanged_complete_version_is_not_written() -> None:
    running, ended = view_of(RUNNING), view_of(ENDED)
    assert list(_changed_artifacts(run_of("r"), ended, ended)) == []
    (row,) = _changed_artifacts(run_of("r"), running, ended)
    assert row["properties"]["status"] == "COMPLETE"


def test_the_index_key_of_a_run_is_its_name_and_start() -> None:
    running, ended = view_of(RUNNING), view_of(ENDED)
    assert _has_new_index_key(None, running)
    assert not _has_new_index_key(running, ended)


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_a_run_without_a_start_is_indexed_under_its_job(database: Database) -> None:
    parents = {"parent": {"run": {"runId": "p"}, "job": {"namespace": "etl", "name": "dag"}}}
    write_events(database, [run_event("r", "START", 1, job="j", facets=parents)])
    assert edge(database, run_of("p"), "RUN_OF", job("dag"))["indexedUnder"] == job("dag")
    assert edge(database, run_of("r"), "RUN_OF", job("j"))["indexedUnder"] is None
    assert node(database, run_of("r"))["lastHeartbeatAt"] is not None
