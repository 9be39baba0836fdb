"""What a pass reads again: each change once."""

from __future__ import annotations

import random

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.changed_nodes import ChangeReader, read_graph_state
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.properties.test_findings import story, write_some
from tests.run_builders import ds, run, write_events

pytestmark = pytest.mark.neo4j


def test_after_a_full_pass_only_later_changes_are_read(database: Database) -> None:
    """A bulk of runs just before a full pass does not make the next pass a full one."""
    empty(database)
    write_some(database, story(random.Random(5)))
    view = GraphView(database)
    reader = ChangeReader(view)
    cursor = reader.skip(read_graph_state(view))
    changed = reader.read(cursor, read_graph_state(view))
    assert changed is not None
    assert changed.urns == frozenset()
    write_events(database, run("late", "late_job", outputs=["late_table"]))
    changed = reader.read(changed.cursor, read_graph_state(view))
    assert changed is not None
    assert ds("late_table") in changed.urns
    empty(database)
