"""The clients from npm, installed once from their lock files into Headwater's cache."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts.npm_packages import installed
from tests.producers.environments import plain_environment

HERE = Path(__file__).parent
SECONDS_MAX = 240


def run_script(packages: str, script: str, *arguments: str) -> Any:
    """Run a script with the packages of a folder and return the JSON that it prints.

    Skips the test on a machine without Node and npm.
    """
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        pytest.skip("the GraphQL clients need `node` and `npm`, for example apt-get install npm")
    home = installed(HERE / packages)
    # Node looks for packages beside the script.
    shutil.copy(HERE / script, home / script)
    return json.loads(_run(node, script, *arguments, folder=home))


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
