"""The clients from npm, installed once from their lock files into Headwater's cache."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from headwater.settings import load
from tests.producers.environments import plain_environment

HERE = Path(__file__).parent
DONE = "whole"
SECONDS_MAX = 240


def run_script(packages: str, script: str, *arguments: str) -> Any:
    """Run a script with the packages of a folder and return the JSON that it prints.

    Skips the test on a machine without Node and npm.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("the GraphQL clients need `node` and `npm`, for example apt-get install npm")
    home = _install(npm, packages)
    # Node looks for packages beside the script.
    shutil.copy(HERE / script, home / script)
    return json.loads(_run(node, script, *arguments, folder=home))


def _install(npm: str, packages: str) -> Path:
    files = [HERE / packages / name for name in ("package.json", "package-lock.json")]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    home = load(os.environ).cache_path / "npm" / f"{packages}-{digest}"
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock_file:
        # Concurrent test runs install it once.
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        if not (home / DONE).exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            for file in files:
                shutil.copy(file, home)
            _run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=home)
            (home / DONE).touch()
    return home


def _run(*command: str, folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command[:3])}: {done.stderr[-4000:]}"
    return done.stdout
