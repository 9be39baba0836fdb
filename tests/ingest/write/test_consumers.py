"""Effects of changed runs on versions and consumers, computed by hand; no graph is needed."""

from __future__ import annotations

import json

from headwater.ingest.fold import fold
from headwater.ingest.project import RunView, run_view
from headwater.ingest.write.consumers import (
    changed_consumers,
    has_new_origins,
    moved_versions,
    run_changes,
    run_consumer,
    withdrawn_versions,
)
from headwater.schema.events import parse
from headwater.schema.facts import RunFacts
from tests.event_builders import dataset, run_event
from tests.run_builders import Event, ds, run, run_of, version


def facts_of(*events: Event) -> RunFacts:
    delta = fold(parse(json.dumps(event).encode(), received=0) for event in events)
    return delta.runs[run_of("r")]


def view_of(facts: RunFacts) -> RunView:
    return run_view(facts, {})


START, COMPLETE = (
    run_event("r", "START", 0, inputs=["a"], outputs=["t"]),
    run_event("r", "COMPLETE", 5, outputs=["t"]),
)
RUNNING, ENDED = facts_of(START), facts_of(START, COMPLETE)


def test_a_version_moves_when_its_run_ends() -> None:
    moved = moved_versions(run_of("r"), view_of(RUNNING), view_of(ENDED))
    assert [(one.artifact, one.dataset, one.run) for one in moved] == [
        (version("t", "r"), ds("t"), run_of("r"))
    ]
    assert [instant.minute for instant in moved[0].instants] == [0, 5]
    assert moved[0].row()["since"] == moved[0].instants[0]


def test_an_unchanged_version_does_not_move() -> None:
    assert moved_versions(run_of("r"), view_of(ENDED), view_of(ENDED)) == []


def test_a_version_is_requested_by_its_producers_name() -> None:
    named = run_event("r", outputs=[dataset("t", {"version": {"datasetVersion": "7"}})])
    (moved,) = moved_versions(run_of("r"), None, view_of(facts_of(named)))
    assert moved.requested == (f"{ds('t')}@7",)


def test_a_version_that_no_longer_exists_is_withdrawn_and_moves() -> None:
    before, now = view_of(facts_of(run_event("r", outputs=["t", "u"]))), view_of(ENDED)
    assert withdrawn_versions(before, now) == [version("u", "r")]
    assert withdrawn_versions(None, now) == []
    moved = moved_versions(run_of("r"), before, now)
    assert [one.artifact for one in moved] == [version("t", "r"), version("u", "r")]


def test_changes_of_runs() -> None:
    changes = {run_of("r"): (RUNNING, ENDED)}
    views = {run_of("r"): (view_of(RUNNING), view_of(ENDED))}
    found = run_changes(changes, views, {}, set())
    assert [one.artifact for one in found.moved] == [version("t", "r")]
    assert (found.withdrawn, found.new, found.retriggered, found.triggering) == (
        [],
        set(),
        [],
        set(),
    )


def test_a_consumer_changes_with_its_start_and_its_inputs() -> None:
    read_more = facts_of(START, run_event("r", "RUNNING", 3, inputs=["b"]))
    for before, now, is_changed in ((RUNNING, ENDED, False), (RUNNING, read_more, True)):
        changes = {run_of("r"): (before, now)}
        views = {run_of("r"): (view_of(before), view_of(now))}
        assert (run_of("r") in changed_consumers(changes, views)) is is_changed
    assert run_of("r") in changed_consumers(
        {run_of("r"): (None, RUNNING)}, {run_of("r"): (None, view_of(RUNNING))}
    )


def test_a_run_as_a_consumer() -> None:
    consumer = run_consumer(run_of("r"), RUNNING, view_of(RUNNING))
    assert consumer.start is not None
    assert consumer.start.minute == 0
    assert [(read.dataset, read.pinned) for read in consumer.reads] == [(ds("a"), None)]
    assert not consumer.is_triggered


def test_origins_are_new_with_a_version_or_another_dataset() -> None:
    first = view_of(facts_of(*run("r", "j", ["a"], ["t"], derived={"t": ["a"]})))
    other = view_of(facts_of(*run("r", "j", ["a", "b"], ["t"], derived={"t": ["b"]})))
    assert has_new_origins(None, first)
    assert has_new_origins(first, other)
    assert not has_new_origins(first, first)
