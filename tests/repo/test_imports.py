"""The import contracts in pyproject.toml; ARCHITECTURE.md gives their reasons."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.repo.repository import ROOT


def test_every_contract_is_kept() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    said = subprocess.run(
        [sys.executable, str(program), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert " 0 broken." in said.stdout
