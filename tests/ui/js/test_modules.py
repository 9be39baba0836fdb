"""The page's pure modules: Node runs the tests beside this file, one test here for each file."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.npm_packages import installed
from tests.producers.environments import plain_environment

HERE = Path(__file__).parent
SUITES = sorted(file.name for file in HERE.glob("*.test.mjs"))
SECONDS_MAX = 240


def test_suites_are_found() -> None:
    assert "layout.test.mjs" in SUITES


@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite: str) -> None:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        pytest.skip("this test needs `node` and `npm`, for example apt-get install npm")
    packages = json.dumps(str(installed(HERE / "packages")))
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(HERE / suite)],
        env=plain_environment() | {"PACKAGES": packages},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    failures = [line for line in done.stdout.splitlines() if "not ok" in line or "error:" in line]
    assert failures == []
    assert done.returncode == 0, done.stderr[-4000:]
    assert "# skipped 0" in done.stdout
    assert "# pass 0" not in done.stdout
