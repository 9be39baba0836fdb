"""The group `pipeline`: its commands, and arguments that they refuse before Spark starts."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from headwater.cli import app, pipeline


def test_the_commands_of_the_group() -> None:
    assert list(pipeline.COMMANDS) == ["backfill", "archive", "stream", "rollup", "analyse"]
    shown = CliRunner().invoke(app, ["pipeline", "--help"]).stdout
    for name in pipeline.COMMANDS:
        assert f"  {name} " in shown


def test_an_archive_needs_a_spool(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["pipeline", "archive", str(tmp_path / "lake"), "--home", str(tmp_path)]
    )
    assert "there is no spool" in str(result.exception)
    assert not (tmp_path / "lake").exists()
