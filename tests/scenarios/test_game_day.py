"""Game days: which fault a seed has, and how an answer is judged."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, cast

import pytest

from headwater.errors import NotFoundError
from headwater.scenarios import catalogue, game_day
from headwater.scenarios.stage import Stage

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
