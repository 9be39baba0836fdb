"""Game days: which fault a seed has, and how an answer is judged."""

from __future__ import annotations

import dataclasses
import json
import random
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.scenarios import catalogue, game_day
from headwater.scenarios.stage import Stage, open_workshop
from headwater.scenarios.workshop import Workshop
from tests.conftest import Neo4jServer
from tests.scenarios.stack import running_target

NO_STAGE = cast(Stage, None)


def test_a_seed_always_has_the_same_fault_and_each_fault_has_a_seed() -> None:
    chosen = [game_day.choose(seed).name for seed in range(100)]
    assert chosen == [game_day.choose(seed).name for seed in range(100)]
    assert set(chosen) == set(catalogue.NAMES)


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("job:estate:load_ledger", True),
        ("job:load_ledger", True),
        ("load_ledger", True),
        ("dataset:estate:ledger", False),
        ("", False),
    ],
)
def test_a_cause_is_named_by_urn_or_name(answer: str, is_right: bool) -> None:
    truth = catalogue.load("data-corruption").truth
    assert game_day.is_cause(truth, answer) is is_right


class ClockedStage(Stage):
    """A stage that records when a finding first named who is affected."""

    seen_at = 0.0

    def findings(self, *, is_open: bool | None = True) -> list[dict[str, Any]]:
        listed = super().findings(is_open=is_open)
        if not self.seen_at and any(one["affected"]["consumers"] for one in listed):
            self.seen_at = time.monotonic()
        return listed


@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_headwater_names_a_random_fault(
    neo4j_server: Neo4jServer, database: Database, tmp_path: Path
) -> None:
    """The times of the score lie between instants that the test takes itself."""
    seed = random.randrange(1_000_000)
    story = game_day.choose(seed)
    print(f"seed {seed}: {story.name}")
    times: dict[str, float] = {}

    def prepare(shop: Workshop) -> None:
        story.prepare(shop)
        times["prepared"] = time.monotonic()

    def inject(shop: Workshop) -> None:
        times["injected"] = time.monotonic()
        story.inject(shop)

    def read_answer(stage: Stage) -> str:
        times["asked"] = time.monotonic()
        return game_day.read_of_alert(stage)

    clocked = dataclasses.replace(story, prepare=prepare, inject=inject)
    home = tmp_path / "home"
    home.mkdir()
    with (
        running_target(neo4j_server, database, home) as target,
        open_workshop(
            game_day.NAMESPACE, tmp_path / "estate", target, uses_spark=story.uses_spark
        ) as shop,
    ):
        stage = ClockedStage(story.truth, target, shop)
        score = game_day.play(clocked, stage, seed, read_answer, tmp_path, attempts_max=1)
    ended = time.monotonic()
    assert (score.scenario, score.seed, score.attempts) == (story.name, seed, (score.cause,))
    assert score.right, score.cause
    impact = score.impact_seconds
    assert stage.seen_at - times["injected"] <= impact <= times["asked"] - times["prepared"]
    assert times["asked"] - times["injected"] <= score.answer_seconds <= ended - times["prepared"]
    assert score.as_json()["impactSeconds"] == round(impact, 1)
    verdict = json.loads((tmp_path / game_day.VERDICT_FILE).read_text())
    assert verdict == {"answer": score.cause, "right": True}


def test_an_answer_waits_for_its_verdict(tmp_path: Path) -> None:
    folder = tmp_path / "game-day"
    folder.mkdir()
    seen: list[Any] = []

    def game() -> None:
        read = game_day.read_of_file(folder)
        for is_right in (False, True):
            seen.append(read(NO_STAGE))
            game_day._replace(folder / game_day.VERDICT_FILE, {"right": is_right})

    thread = threading.Thread(target=game)
    thread.start()
    assert not game_day.send_answer(folder, "job:a")
    assert game_day.send_answer(folder, "job:b")
    thread.join()
    assert seen == ["job:a", "job:b"]


def test_without_a_game_an_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no game day runs"):
        game_day.send_answer(tmp_path / "game-day", "job:a")
