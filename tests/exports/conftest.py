"""The graph of the exports."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from tests.exports.story import write_story


@pytest.fixture
def story(database: Database) -> GraphView:
    write_story(database)
    return GraphView(database)
