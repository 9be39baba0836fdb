"""Lasting changes of inputs, source schemas and source code between the runs of a job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.root_cause import root_cause
from headwater.lineage.questions.run_differences import last_change
from headwater.lineage.view import GraphView
from headwater.schema.urns import source_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import (
    dataset,
    dataset_event,
    run_event,
    schema,
    symlinks,
    write_in_any_order,
)
from tests.run_builders import Event, run_of, version


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("", None),
        ("a", None),
        ("aaaa", None),
        ("ba", 1),
        ("bbbaaa", 3),
        ("cbaaaa", 1),
        # Values that change with every run, or turn and turn about.
        ("cba", None),
        ("baba", None),
        ("abcabca", None),
    ],
)
def test_last_change(values: str, expected: int | None) -> None:
    assert last_change(values) == expected


def runs(job: str, inputs: Sequence[str | Event], *, code: Sequence[str] = ()) -> list[Event]:
    """Return one run every ten minutes that writes the dataset `job`."""
    events = []
    for number, one in enumerate(inputs):
        facets: Event = {}
        if code:
            facets["sourceCode"] = {"language": "python", "sourceCode": code[number]}
        details: dict[str, Any] = {"job": job, "inputs": [one], "job_facets": facets}
        run_id, minute = f"{job}-{number}", 10 * number
        events.append(run_event(run_id, "START", minute, **details))
        events.append(run_event(run_id, "COMPLETE", minute + 1, **details, outputs=[job]))
    return events


OLD, NEW = schema(id="int", age="int"), schema(id="int", age="string", active="boolean")
HISTORY = [
    *runs("same", ["stable"] * 4, code=["x"] * 4),
    *runs("daily", ["t_1", "t_2", "t_3", "t_4"], code=["1", "2", "3", "4"]),
    *runs("coded", ["stable"] * 4, code=["x", "x", "y", "y"]),
    *runs("drifted", [dataset("raw", OLD), dataset("raw", OLD), dataset("raw", NEW)]),
    *runs("crawled", ["lake"] * 3),
    dataset_event("lake", 5, OLD),
    dataset_event("lake", 15, NEW),
    *runs("joined", ["one", "one", "one"]),
    run_event("joined-2", "RUNNING", 20, job="joined", inputs=["two"]),
    *runs("secret", [dataset("s", namespace="vault")] * 2 + [dataset("z", namespace="vault")]),
    # One dataset under two names.
    *runs("named", ["canonical", "canonical", dataset("alias", symlinks("canonical"))]),
]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    write_in_any_order(database, *HISTORY)
    yield view
    empty(database)


pytestmark = pytest.mark.neo4j


def signs(view: GraphView, job: str, run: int) -> list[tuple[str, str, str]]:
    found = root_cause(view, version(job, f"{job}-{run}"))
    return [(one.kind, one.urn, one.reason) for one in found.candidates]


@pytest.mark.parametrize("job", ["same", "daily", "named"])
@pytest.mark.parametrize("run", [0, 2])
def test_stable_runs_runs_that_always_change_and_first_runs_show_nothing(
    history: GraphView, job: str, run: int
) -> None:
    assert signs(history, job, run) == []


def test_source_code_by_its_hash(history: GraphView) -> None:
    expected = "coded ran source code a1fce4363854ff88; the success before it ran 2d711642b726b044"
    for run in (2, 3):
        assert signs(history, "coded", run) == [("CODE_CHANGED", run_of("coded-2"), expected)]
    (changed,) = root_cause(history, version("coded", "coded-3")).candidates
    assert (changed.before, changed.after) == ("2d711642b726b044", "a1fce4363854ff88")
    assert changed.compared_with == (run_of("coded-1"),)


def test_the_schema_of_a_source_by_the_runs_that_read_it(history: GraphView) -> None:
    raw = source_urn("db", "raw")
    words = "added: active, retyped: age from int to string"
    assert signs(history, "drifted", 2) == [
        ("SCHEMA_CHANGED", raw, f"the schema of raw changed: {words}")
    ]
    assert signs(history, "drifted", 1) == []


def test_the_schema_of_a_source_by_its_own_events(history: GraphView) -> None:
    (changed,) = root_cause(history, version("crawled", "crawled-2")).candidates
    assert (changed.kind, changed.urn) == ("SCHEMA_CHANGED", source_urn("db", "lake"))
    assert (changed.before, changed.after) == (
        '[["id","int"],["age","int"]]',
        '[["id","int"],["age","string"],["active","boolean"]]',
    )
    assert changed.run == run_of("crawled-2")
    assert changed.compared_with == (run_of("crawled-1"),)


def test_an_additional_input(history: GraphView) -> None:
    assert signs(history, "joined", 2) == [
        ("INPUT_CHANGED", run_of("joined-2"), "joined read two, which the run before did not read")
    ]


def test_hidden_inputs_are_not_compared(history: GraphView) -> None:
    assert signs(history, "secret", 2) == [
        ("INPUT_CHANGED", run_of("secret-2"), "secret read z instead of s")
    ]
    ours = history.visible_to(Visibility(("db", "etl")))
    assert signs(ours, "secret", 2) == []
