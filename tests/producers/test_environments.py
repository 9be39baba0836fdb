"""The environments of producers: created once, and again after a new lock or an interruption."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.producers import environments


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(environments, "HERE", tmp_path)
    lock = tmp_path / "empty.lock"
    lock.write_text("# nothing\n")
    return lock


def test_an_environment_is_created_once(lock: Path) -> None:
    programs = environments.programs_of("empty")
    done = subprocess.run(
        [programs / "python", "-c", "import sys; print(sys.prefix)"],
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().strip() == str(programs.parent)
    made = os.stat(programs.parent).st_ino
    assert environments.programs_of("empty") == programs
    assert os.stat(programs.parent).st_ino == made
    lock.write_text("# nothing else\n")
    assert environments.programs_of("empty") != programs


def test_an_interrupted_environment_is_created_again(lock: Path) -> None:
    programs = environments.programs_of("empty")
    (programs.parent / environments.DONE).unlink()
    (programs / "half").touch()
    assert lock.exists()
    assert environments.programs_of("empty") == programs
    assert not (programs / "half").exists()
    assert (programs / "python").exists()


def test_a_failed_installation_is_an_error(lock: Path) -> None:
    lock.write_text("no-such-thing-of-headwater==1.0\n")
    with pytest.raises(AssertionError, match="uv pip install"):
        environments.programs_of("empty")
