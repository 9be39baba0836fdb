"""The graph of a home, as commands open it."""

from __future__ import annotations

from contextlib import closing

from headwater.cli.backend.home import connect
from headwater.cypher.driver.warmup import PLANNING_SECONDS_MAX
from headwater.lineage.view import GraphView
from headwater.settings import Settings


def test_questions_of_a_command_have_time_until_they_are_planned() -> None:
    with closing(connect(Settings())) as database:
        assert GraphView(database).planning_seconds == PLANNING_SECONDS_MAX
