"""The graph of the figures."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.health.figures.story import write_story


@pytest.fixture(scope="module")
def story(database: Database, view: GraphView) -> GraphView:
    empty(database)
    write_story(database)
    return view
