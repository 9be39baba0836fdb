"""What is too much for one process: pipelines on PySpark, each a `headwater pipeline NAME` and a spark-submit program.

They fold with the worker's own `fold` and write with the worker's own writer, so whatever went through a pipeline is
the graph that the worker would have made. docs/how-to/pipelines.md says how each is run.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def run_as_submitted(name: str) -> None:
    """What `spark-submit .../headwater/pipelines/NAME.py ARGS` and `python -m headwater.pipelines.NAME ARGS` do: the
    command `headwater pipeline NAME ARGS`, in this process, so that there is one set of options."""
    # Spark puts the folder of the program first: the modules in it go by longer names.
    here = str(Path(__file__).parent)
    sys.path[:] = [path for path in sys.path if path != here]
    sys.argv[:1] = ["headwater", "pipeline", name]
    runpy.run_module("headwater", run_name="__main__", alter_sys=False)
