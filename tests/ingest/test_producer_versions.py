"""Versions with the names of their producers, and job dependencies that outweigh wrong clocks."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema.urns import source_urn
from tests.canonical import edges
from tests.event_builders import dataset, node, read_by, run_event, write_in_any_order
from tests.run_builders import Event, job, run_of, version

pytestmark = pytest.mark.neo4j


def versioned(name: str) -> Event:
    return dataset("t", {"version": {"datasetVersion": name}})


def write(run_id: str, minute: int, name: str | None = None, state: str = "COMPLETE") -> Event:
    return run_event(run_id, state, minute, job="load", outputs=[versioned(name) if name else "t"])


def read(minute: int, name: str | None = None, run_id: str = "r", state: str = "COMPLETE") -> Event:
    return run_event(
        run_id,
        state,
        minute,
        job="report",
        inputs=[versioned(name) if name else "t"],
        outputs=["mart"],
    )


def test_a_requested_version_is_linked_even_if_a_newer_one_exists(database: Database) -> None:
    write_in_any_order(database, write("w1", 1, "v1"), write("w2", 2, "v2"), read(5, "v1"))
    assert read_by(database, run_of("r")) == {version("t", "w1")}
    assert node(database, version("t", "w1"))["version"] == "v1"


def test_a_requested_version_may_start_after_its_reader(database: Database) -> None:
    write_in_any_order(database, write("w1", 1, "v1"), read(5, "v2"), write("w2", 9, "v2"))
    assert read_by(database, run_of("r")) == {version("t", "w2")}


def test_an_unknown_requested_version_is_resolved_by_time(
    database: Database,
) -> None:
    write_in_any_order(database, write("w1", 1, "v1"), write("w2", 2, "v2"), read(5, "v9"))
    assert read_by(database, run_of("r")) == {version("t", "w2")}
    write_in_any_order(database, read(5, "v9"))
    assert read_by(database, run_of("r")) == {source_urn("db", "t")}


def test_the_event_that_ends_a_run_names_the_written_version(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1, "v0", "START"),
        write("w1", 2, "v1"),
        write("w0", 0, "v0"),
        read(5, "v0"),
    )
    assert node(database, version("t", "w1"))["version"] == "v1"
    assert read_by(database, run_of("r")) == {version("t", "w0")}


def test_the_event_that_starts_a_run_names_the_version_read(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1, "v1"),
        write("w2", 2, "v2"),
        read(5, "v1", state="START"),
        read(6, "v2"),
    )
    assert read_by(database, run_of("r")) == {version("t", "w1")}


def test_a_run_that_rewrites_its_input_reads_the_previous_version(database: Database) -> None:
    merge = run_event(
        "m", "COMPLETE", 5, job="merge", inputs=[versioned("v1")], outputs=[versioned("v2")]
    )
    write_in_any_order(database, write("w1", 1, "v1"), merge)
    assert read_by(database, run_of("m")) == {version("t", "w1")}


def test_a_version_may_be_a_number(database: Database) -> None:
    numbered = dataset("t", {"version": {"datasetVersion": 7}})
    write_in_any_order(
        database,
        run_event("w", "COMPLETE", 1, outputs=[numbered]),
        write("w8", 2, "8"),
        read(5, "7"),
    )
    assert read_by(database, run_of("r")) == {version("t", "w")}


def after(job_name: str, run_id: str | None = None, side: str = "upstream") -> Event:
    dependency: Event = {"job": {"namespace": "etl", "name": job_name}}
    if run_id:
        dependency["run"] = {"runId": run_id}
    return {"jobDependencies": {side: [dependency]}}


def test_job_dependencies_are_edges_between_jobs_and_runs(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("a", "COMPLETE", 1, job="first", facets=after("second", "b", "downstream")),
        run_event("c", "START", 3, job="third", facets=after("second", "b")),
        run_event("d", "START", 3, job="fourth", facets=after("third")),
    )
    assert edges(database, "TRIGGERS") == {
        (job("first"), "TRIGGERS", job("second")),
        (job("second"), "TRIGGERS", job("third")),
        (job("third"), "TRIGGERS", job("fourth")),
        (run_of("a"), "TRIGGERS", run_of("b")),
        (run_of("b"), "TRIGGERS", run_of("c")),
    }
    assert edges(database, "FEEDS") == set(), "no data flows along it"


def with_slow_clock(run_id: str, *, then: str, of: str) -> list[Event]:
    """Return a reader whose clock has it start before the end of its trigger."""
    return [
        run_event(run_id, "START", 5, job="report", inputs=["t"], facets=after(of, then)),
        run_event(run_id, "COMPLETE", 6, job="report", inputs=["t"]),
    ]


def test_a_reader_with_a_slow_clock_read_the_version_of_its_trigger(database: Database) -> None:
    write_in_any_order(
        database, write("w1", 1), write("w2", 9), *with_slow_clock("r", then="w2", of="load")
    )
    assert read_by(database, run_of("r")) == {version("t", "w2")}


def test_a_trigger_may_itself_be_triggered_by_the_writer(database: Database) -> None:
    """In every order: the last event to arrive may be that of the writer, the reader or the run
    between.
    """
    between = run_event("check", "COMPLETE", 10, job="check", facets=after("load", "w2"))
    write_in_any_order(
        database,
        write("w1", 1),
        write("w2", 9),
        between,
        *with_slow_clock("r", then="check", of="check"),
    )
    assert read_by(database, run_of("r")) == {version("t", "w2")}
    write_in_any_order(
        database,
        between,
        write("w1", 1),
        write("w2", 9),
        *with_slow_clock("r", then="check", of="check"),
    )
    assert read_by(database, run_of("r")) == {version("t", "w2")}


def test_a_correct_clock_is_used(database: Database) -> None:
    write_in_any_order(
        database, write("w1", 1), write("w2", 4), *with_slow_clock("r", then="w1", of="load")
    )
    assert read_by(database, run_of("r")) == {version("t", "w2")}


def test_a_failed_writer_is_not_linked_by_its_trigger(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1),
        write("w2", 9, state="FAIL"),
        *with_slow_clock("r", then="w2", of="load"),
    )
    assert read_by(database, run_of("r")) == {version("t", "w1")}
