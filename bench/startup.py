"""Measure `headwater --help`, and the time from Neo4j to a ready API: `python -m bench.startup`.

Beside each, in turn with it, the floor: `python -c pass`, and the same interpreter with the imports
that the API cannot do without (driver, server, GraphQL library).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.graph import open_home
from bench.processes import api
from bench.report import Report, percentile, print_progress, spread
from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import migrate
from headwater.local.neo4j import LocalNeo4j, Running

HELP_TARGET = 300.0
READY_TARGET = 2_000.0
_FLOOR = "import neo4j, starlette.applications, strawberry, uvicorn"


def paired(commands: Mapping[str, Sequence[str]], repeats: int) -> dict[str, list[float]]:
    """Return the milliseconds of each of these commands, run in turn. Raise CalledProcessError."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, *command],
                check=True,
                stdout=subprocess.DEVNULL,
                env=dict(os.environ),
            )
            taken[name].append((time.perf_counter() - began) * 1_000)
    return taken


def ready(home: Path, running: Running, repeats: int) -> list[float]:
    """Return the milliseconds from starting the API until it is ready, while Neo4j runs."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        with api(home, running):
            taken.append((time.perf_counter() - began) * 1_000)
    return taken


def against(taken: Sequence[float], target: float) -> dict[str, Any]:
    return {"milliseconds": spread(taken), "target": target, "met": percentile(taken, 50) <= target}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.startup", description=__doc__)
    options.add_argument("--repeats", type=int, default=10)
    chosen = options.parse_args()
    report = Report("startup")
    commands = {
        "help": ["-m", "headwater", "--help"],
        "python": ["-c", "pass"],
        "imports": ["-c", _FLOOR],
    }
    paired(commands, 1)
    taken = paired(commands, chosen.repeats)
    print_progress(
        f"--help {percentile(taken['help'], 50):.0f} ms, python alone "
        f"{percentile(taken['python'], 50):.0f} ms"
    )
    with open_home(None) as home, LocalNeo4j(home, 0) as running:
        database = Database(running.uri, running.user, running.password)
        migrate(database)
        database.close()
        up = ready(home, running, chosen.repeats + 1)[1:]
    print_progress(f"API ready after {percentile(up, 50):.0f} ms")
    report.show(
        help=against(taken["help"], HELP_TARGET),
        helpFloor=spread(taken["python"]),
        apiReady=against(up, READY_TARGET),
        apiReadyFloor=spread(taken["imports"]),
    )


if __name__ == "__main__":
    main()
