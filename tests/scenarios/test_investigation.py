"""Each scenario on a real stack: what it declares is what Headwater answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.scenarios import catalogue, game_day, investigation
from headwater.scenarios.stage import Stage, Target, open_workshop
from headwater.scenarios.story import Story
from tests.conftest import Neo4jServer
from tests.scenarios.stack import running_target
from tests.torture import in_torture_only

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.timeout(1200)]

# Each of these takes most of a minute.
LONG = {"numeric-regression", "lagging-stream", "event-sampling"}


@pytest.fixture
def target(
    neo4j_server: Neo4jServer, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """A stack for one scenario, which meets no nights and no alerts of another."""
    with running_target(neo4j_server, database, tmp_path_factory.mktemp("scenarios")) as running:
        yield running


def with_game(story: Story, answers: list[str]) -> Story:
    """Return a story in which the game day with `--auto` answers before the repair."""

    def examine(stage: Stage) -> None:
        story.examine(stage)
        answers.append(game_day.read_of_alert(stage))

    return dataclasses.replace(story, examine=examine)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[in_torture_only] if name in LONG else [])
        for name in catalogue.NAMES
    ],
)
def test_each_scenario_finds_what_it_declares(name: str, target: Target, tmp_path: Path) -> None:
    answers: list[str] = []
    story = with_game(catalogue.load(name), answers)
    with open_workshop(name, tmp_path, target, uses_spark=story.uses_spark) as workshop:
        stage = Stage(story.truth, target, workshop)
        investigation.play(story, stage)
    wrong = [(step.name, step.expected, step.found) for step in stage.steps if not step.ok]
    assert wrong == []
    names = [step.name for step in stage.steps]
    assert "validate" in names
    assert names[-1] == "data"
    [answer] = answers
    assert game_day.is_cause(story.truth, answer), answer
