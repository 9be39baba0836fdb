"""Play scenarios by their command, and keep what it prints in docs/how-to/scenarios.

    python -m scripts.scenario_outputs [NAME ...]

Without a name all are played, each on a stack of its own. A scenario that finds something else than
it declares keeps its old output, and the program ends with 1.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from headwater.scenarios import catalogue

PAGES = Path(__file__).parents[1] / "docs" / "how-to" / "scenarios"
# What stands for the folder of the files of a scenario.
FOLDER = "/estate"
LINE_MAX = 110
_BLOCK = re.compile(r"```console\n\$ headwater scenario [^`]*```\n")


def main(names: list[str]) -> int:
    wrong = [name for name in names or catalogue.NAMES if not _record(name)]
    print(f"wrong: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


def _record(name: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="headwater-outputs-") as folder:
        ended = subprocess.run(
            [sys.executable, "-m", "headwater", "scenario", name, "--home", folder],
            env={**os.environ, "COLUMNS": "400", "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    print(ended.stdout, flush=True)
    if ended.returncode == 0:
        page = PAGES / f"{name}.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(with_output(text, name, ended.stdout, folder), encoding="utf-8")
    return ended.returncode == 0


def with_output(page: str, name: str, output: str, folder: str) -> str:
    """Return a page with the output of a command, in which a folder has a fixed name."""
    text = output.replace(f"{folder}/scenarios/{name}", FOLDER).replace(folder, "")
    lines = [_shortened(line.rstrip()) for line in text.splitlines() if line.strip()]
    block = "\n".join(["```console", f"$ headwater scenario {name}", *lines, "```", ""])
    return _BLOCK.sub(lambda _: block, page, count=1)


def _shortened(line: str) -> str:
    return line if len(line) <= LINE_MAX else f"{line[: LINE_MAX - 3]}..."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
