"""The import contracts in pyproject.toml; ARCHITECTURE.md gives their reasons."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.repo.repository import ROOT


def test_every_contract_is_kept() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    ended = subprocess.run(
        [sys.executable, str(program), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " 0 broken." in ended.stdout
