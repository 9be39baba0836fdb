"""What is out of date behind an answer: failed refreshes, newer versions, whom to tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.lineage import trace
from headwater.lineage.questions.stale_inputs import (
    StaleInput,
    stale_inputs_of,
    stale_inputs_of_trace,
)
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.run_builders import FACET, answer, at, ds, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(autouse=True)
def clean(database: Database) -> Iterator[None]:
    empty(database)
    yield
    empty(database)


def owned(job: str, owner: str) -> dict[str, Any]:
    facet = {**FACET, "owners": [{"name": owner, "type": "OWNER"}]}
    named = {"namespace": "etl", "name": job, "facets": {"ownership": facet}}
    return {"eventTime": at(0), "job": named}


def behind(database: Database, answer_id: str, **visibility: Any) -> list[StaleInput]:
    view = GraphView(database, **visibility)
    return stale_inputs_of_trace(view, trace(view, answer_id))


def write_history(database: Database, *later: list[dict[str, Any]]) -> None:
    """Write raw -> load -> a -> build -> mart, cited at 00:20; then `later`."""
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0),
        run("build-1", "build", ["a"], ["mart"], minute=10),
        answer("kpi", "mart", minute=20),
        [owned("load", "team:raw"), owned("build", "team:insight")],
        *later,
    )


def failed(run_id: str, job: str, inputs: list[str], outputs: list[str], minute: int) -> Any:
    return run(run_id, job, inputs, outputs, minute=minute, status="FAIL", error="disk: full\nx")


def test_nothing_is_stale_while_every_refresh_succeeds(database: Database) -> None:
    write_history(database)
    assert behind(database, "kpi") == []


def test_a_newer_refresh_that_failed_names_the_run_and_its_owners(database: Database) -> None:
    write_history(database, failed("build-2", "build", ["a"], [], 30))
    (stale,) = behind(database, "kpi")
    assert stale.reason == "a newer refresh of mart failed (disk: full)"
    assert (stale.dataset, stale.used) == (ds("mart"), version("mart", "build-1"))
    assert (stale.failed_run, stale.newer, stale.owners) == (
        run_of("build-2"),
        None,
        ["team:insight"],
    )
    view = GraphView(database)
    assert stale_inputs_of(view, ["answer:kpi"]) == [stale]
    assert stale_inputs_of(view, [version("mart", "build-1")]) == [stale]


def test_a_failure_far_upstream_counts_and_cited_datasets_come_first(database: Database) -> None:
    write_history(
        database,
        failed("load-2", "load", ["raw"], ["a"], 30),
        failed("build-2", "build", ["a"], ["mart"], 40),
    )
    assert [(one.dataset, one.failed_run, one.owners) for one in behind(database, "kpi")] == [
        (ds("mart"), run_of("build-2"), ["team:insight"]),
        (ds("a"), run_of("load-2"), ["team:raw"]),
    ]


def test_a_later_success_ends_it_and_leaves_a_newer_version(database: Database) -> None:
    write_history(
        database,
        failed("build-2", "build", ["a"], ["mart"], 30),
        run("build-3", "build", ["a"], ["mart"], minute=40),
    )
    (stale,) = behind(database, "kpi")
    assert stale.reason == "mart has a newer version than the cited one"
    assert (stale.newer, stale.failed_run) == (version("mart", "build-3"), None)


def test_newer_versions_far_upstream_are_no_news(database: Database) -> None:
    write_history(database, run("load-2", "load", ["raw"], ["a"], minute=30))
    assert behind(database, "kpi") == []


def test_a_failure_before_the_used_version_is_over(database: Database) -> None:
    write_events(
        database,
        failed("build-0", "build", ["a"], ["mart"], 0),
        run("build-1", "build", ["a"], ["mart"], minute=10),
        answer("kpi", "mart", minute=20),
    )
    assert behind(database, "kpi") == []


def test_a_hidden_run_is_not_named(database: Database) -> None:
    write_history(database, failed("build-2", "build", ["a"], ["mart"], 30))
    assert behind(database, "kpi", visibility=Visibility(("db",))) == []
