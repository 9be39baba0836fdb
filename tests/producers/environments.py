"""Virtual environments for producers that cannot share Headwater's own: dbt, Airflow.

Each is created once from its lock file, by hash, with the Python of the tests, in a folder of
Headwater's cache whose name depends on the lock. A second run finds it there. A folder without a
mark is left from an interrupted run and is created again. Any of them may be deleted at any time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from headwater.settings import load

HERE = Path(__file__).parent
DONE = "whole"


def programs_of(name: str) -> Path:
    """Return the folder with the programs of the environment of `name`.lock."""
    home = _home(name)
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock_file:
        # Concurrent test runs create it once.
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        if not (home / DONE).exists():
            shutil.rmtree(home, ignore_errors=True)
            _create(home, HERE / f"{name}.lock")
            (home / DONE).touch()
    return home / "bin"


def _home(name: str) -> Path:
    lock = (HERE / f"{name}.lock").read_bytes()
    digest = hashlib.sha256(f"{sys.version}\n{os.path.realpath(sys.executable)}\n".encode() + lock)
    return load(os.environ).cache_path / "venvs" / f"{name}-{digest.hexdigest()[:16]}"


def _create(home: Path, lock: Path) -> None:
    _uv("venv", "--python", sys.executable, str(home))
    python = str(home / "bin" / "python")
    _uv(
        "pip",
        "install",
        "--python",
        python,
        "--require-hashes",
        "--only-binary=:all:",
        "-r",
        str(lock),
    )


def _uv(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "uv", "--quiet", *arguments],
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, f"uv {' '.join(arguments[:2])}: {done.stderr[-4000:]}"


def plain_environment(**more: str) -> dict[str, str]:
    """Return the environment without variables that lead another Python to this one's files."""
    strange = ("VIRTUAL_ENV", "PYTHON", "PYTEST_", "OPENLINEAGE_", "AIRFLOW_", "DBT_", "HEADWATER_")
    return {
        name: value for name, value in os.environ.items() if not name.startswith(strange)
    } | more
