"""Warming up runs every query of the library, and leaves the graph as it was."""

from __future__ import annotations

import pytest

from headwater.cypher.database import Database
from headwater.cypher.library import library
from headwater.cypher.warm import reads, walks, warm, writes_rows
from tests.canonical import canonical, empty

pytestmark = pytest.mark.neo4j


def test_nothing_changes(database: Database) -> None:
    empty(database)
    warm(database, reads)
    warm(database, writes_rows)
    assert canonical(database) == ([], [])


def test_what_every_question_needs_comes_first() -> None:
    first = [name for name, query in library().items() if walks(query)]
    assert {"read/nodes", "read/map_consumers", "read/history_inputs", "read/failed_runs"} <= set(first)
    assert len(first) < len([name for name, query in library().items() if reads(query)]) / 2


def test_it_stops_when_told(database: Database) -> None:
    seen: list[str] = []

    def wanted(query: object) -> bool:
        seen.append(str(query))
        return False

    warm(database, wanted, stop=lambda: len(seen) == 3)
    assert len(seen) == 3


def test_only_what_needs_no_rows_to_write_is_left_out() -> None:
    left_out = {name for name, query in library().items() if query.access == "write" and not writes_rows(query)}
    by_name = {"write/abandon_silent", "write/lock_graph", "write/record_migration", "write/save_checkpoint"}
    erasing = {"write/begin_erasing", "write/end_erasing", "write/erase_edges", "write/erase_nodes"}
    rolled_up = {"write/forget_analyses", "write/late_runs", "write/retention"}
    # Planned on an empty graph, it would look through all edges.
    by_id = {"write/map_seen"}
    assert left_out == by_name | erasing | rolled_up | by_id
