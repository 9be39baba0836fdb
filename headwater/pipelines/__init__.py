"""Pipelines on PySpark for work that is too large for one process.

Each is a command, `headwater pipeline NAME`, and a program for spark-submit. The pipelines use the
worker's own `fold` and `write`, so they make the same graph as the worker. docs/how-to/pipelines.md
describes how to run each one.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def run_as_submitted(name: str) -> None:
    """Run the command `headwater pipeline NAME ARGS` in this process.

    `spark-submit .../headwater/pipelines/NAME.py ARGS` and `python -m headwater.pipelines.NAME
    ARGS` call this, so that all three have the same options.
    """
    # spark-submit puts the program's folder first, where its modules would hide others.
    here = str(Path(__file__).parent)
    sys.path[:] = [path for path in sys.path if path != here]
    sys.argv[:1] = ["headwater", "pipeline", name]
    runpy.run_module("headwater", run_name="__main__", alter_sys=False)
