"""The warmup runs every query of the library and leaves the graph unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headwater.client
from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import is_first_query, is_fold_query, is_read_query, warm_up
from headwater.cypher.query_catalog import load_queries
from headwater.graphql.in_process import InProcessSchema
from headwater.lineage.view import GraphView
from tests.canonical import canonical, empty
from tests.counted_database import CountedDatabase
from tests.run_builders import answer, run, write_events

pytestmark = pytest.mark.neo4j

DOCUMENTS = Path(headwater.client.__file__).parent / "documents"
# The documents that callers send first, and their variables.
FIRST_QUESTIONS: dict[str, dict[str, Any]] = {
    "runs": {"first": 5},
    "jobs": {"first": 5},
    "datasets": {"first": 5},
    "answers": {"first": 5},
    "failed_runs": {"first": 5},
    "trace": {"answerId": "report"},
    "search": {"text": "board", "namespace": "", "tag": "", "owner": "", "first": 5},
}


def test_nothing_changes(database: Database) -> None:
    empty(database)
    warm_up(database, is_read_query)
    warm_up(database, is_fold_query)
    assert canonical(database) == ([], [])


def test_shared_queries_are_planned_first() -> None:
    first = [name for name, query in load_queries().items() if is_first_query(query)]
    assert {
        "read/nodes/properties",
        "read/traversal/dataset_consumers",
        "read/traversal/run_inputs",
        "read/failures/failed_runs",
    } <= set(first)
    assert (
        len(first)
        < len([name for name, query in load_queries().items() if is_read_query(query)]) / 2
    )


@pytest.fixture(scope="module")
def history(database: Database) -> Database:
    """Write an answer that rests on two hops, and a failed run that leaves partial data."""
    empty(database)
    write_events(
        database,
        run("load", "load", ["raw"], ["mid"], derived={"mid": ["raw"]}),
        run("build", "build", ["mid"], ["board"], minute=10, derived={"board": ["mid"]}),
        answer("report", "board", "mid", minute=20),
        run("bad", "load", ["raw"], ["mid"], minute=30, status="FAIL", error="disk full"),
        run("late", "build", ["mid"], ["board"], minute=40, derived={"board": ["mid"]}),
    )
    return database


@pytest.mark.parametrize("document", FIRST_QUESTIONS)
def test_every_statement_of_a_first_question_is_planned_first(
    document: str, history: Database
) -> None:
    counted = CountedDatabase(history)
    schema = InProcessSchema(GraphView(counted))
    text = (DOCUMENTS / f"{document}.graphql").read_text(encoding="utf-8")
    try:
        found = schema.execute(text, FIRST_QUESTIONS[document])
    finally:
        schema.close()
    assert "errors" not in found
    assert counted.queries
    catalog = load_queries()
    assert [name for name in counted.queries if not is_first_query(catalog[name])] == []


def test_warmup_stops_on_request(database: Database) -> None:
    offered: list[str] = []

    def is_selected(query: object) -> bool:
        offered.append(str(query))
        return False

    warm_up(database, is_selected, stop=lambda: len(offered) == 3)
    assert len(offered) == 3


def test_only_writes_without_rows_are_left_out() -> None:
    of_the_worker = [
        query for query in load_queries().values() if query.example == "run by the worker"
    ]
    left_out = {query.name for query in of_the_worker if not is_fold_query(query)}
    by_name = {
        "write/runs/abandon_lost_heartbeats",
        "write/maintenance/count_late_runs",
        "write/maintenance/lock_graph",
        "write/maintenance/save_checkpoint",
    }
    # A plan made on an empty graph would scan all edges.
    by_id = {"write/lineage/last_seen"}
    assert left_out == by_name | by_id


def test_writes_outside_the_worker_are_not_warmed() -> None:
    assert not [
        name
        for name in (
            "write/maintenance/roll_up",
            "write/maintenance/analyses",
            "write/maintenance/erase_nodes",
        )
        if is_fold_query(load_queries()[name])
    ]
