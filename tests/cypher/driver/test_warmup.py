"""The warmup runs every query of the library and leaves the graph unchanged."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import is_first_query, is_fold_query, is_read_query, warm_up
from headwater.cypher.query_catalog import load_queries
from tests.canonical import canonical, empty

pytestmark = pytest.mark.neo4j


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
