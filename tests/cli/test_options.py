"""Options that commands share: settings, the API's address, files that must exist."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from headwater.cli.options import existing, settings_of


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEADWATER_PORT", "HEADWATER_HOST", "HEADWATER_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_an_option_wins_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_PORT", "8123")
    assert settings_of(str(tmp_path)).port == 8123
    assert settings_of(str(tmp_path), port=9000).port == 9000


def test_a_file_must_exist_and_be_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.touch()
    assert existing(str(file)) == file
    with pytest.raises(typer.BadParameter, match="is a folder"):
        existing(str(tmp_path))
    with pytest.raises(typer.BadParameter, match="no such file"):
        existing(str(tmp_path / "gone.json"))
