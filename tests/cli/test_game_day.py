"""`headwater game-day`: words and answers that are refused."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from headwater.cli import app
from headwater.errors import NotFoundError, QueryError


def test_other_words_are_refused() -> None:
    found = CliRunner().invoke(app, ["game-day", "guess", "x"])
    assert isinstance(found.exception, QueryError)


def test_an_answer_without_a_game_is_refused(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["game-day", "answer", "job:x", "--home", str(tmp_path)])
    assert isinstance(found.exception, NotFoundError)
