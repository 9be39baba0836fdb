"""Child processes that run this installation of Headwater, from whatever folder they start in."""

from __future__ import annotations

import os
import sys


def command(*arguments: str) -> list[str]:
    """Return the command of a Python that imports nothing from the current folder."""
    return [sys.executable, "-P", *arguments]


def environment() -> dict[str, str]:
    """Return our environment, in which a child imports from where we do."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
