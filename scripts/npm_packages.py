"""Packages from npm for development, installed once from their lock file into Headwater's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from headwater.settings import load

SECONDS_MAX = 240
_DONE = "whole"


def installed(folder: Path) -> Path:
    """Return a folder that holds `node_modules` for the lock file of `folder`.

    The second call for one lock file needs no network. Raises RuntimeError if npm fails.
    """
    files = [folder / name for name in ("package.json", "package-lock.json")]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    home = load(os.environ).cache_path / "npm" / f"{folder.name}-{digest}"
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock_file:
        # Concurrent callers install it once.
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        if not (home / _DONE).exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            for file in files:
                shutil.copy(file, home)
            _install(home)
            (home / _DONE).touch()
    return home


def _install(home: Path) -> None:
    command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    done = subprocess.run(
        command, cwd=home, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} in {home}: {done.stderr[-4000:]}")
