"""Ask a demo what README.md asks, and write the answers into it.

    headwater demo --home HOME | tee LOG && python -m scripts.readme HOME LOG

LOG is the output of that demo. The folder of the demo is shown as that of a reader.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from headwater.cli.demo import ANSWER
from headwater.cli.stack import Stack
from headwater.settings import load
from scripts.audit_outputs import DEMO
from scripts.questions import Asker, laid_out

README = Path(__file__).parents[1] / "README.md"
SHOWN = "/home/you/.headwater-demo"
# The rules that the demo prints above each of its parts.
_RULE = re.compile(r"^─+ .*$\n?", re.MULTILINE)
_DEMO_OUTPUT = re.compile(r"(?<=```\n)answer .*?(?=```)", re.DOTALL)
_GRAPHQL = re.compile(r"(?<=```graphql\n)(.*?)(```\n\n```json\n)(.*?)(?=```)", re.DOTALL)
_COMMAND = re.compile(r"(?<=```\n)(\$ headwater (?:[^\n]*\\\n)*[^\n]*\n)(.*?)(?=```)", re.DOTALL)


def main(home: Path, log: Path) -> None:
    text = README.read_text(encoding="utf-8").replace(SHOWN, DEMO)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "home"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("flights"))
        settings = load(os.environ, home=str(copy), port=0)
        with Stack(settings, bolt_port=0, console=Console(stderr=True)) as stack:
            asker = Asker(stack.url, stack.database, copy, home)
            text = _answered(text, asker, printed(log.read_text(encoding="utf-8")))
    README.write_text(text.replace(DEMO, SHOWN), encoding="utf-8")


def _answered(text: str, asker: Asker, demo_output: str) -> str:
    """Return the README with new outputs. Raise ValueError for an answer with errors."""

    def answer(match: re.Match[str]) -> str:
        return f"{match[1]}{match[2]}{laid_out({'data': asker.graphql(match[1])})}\n"

    def command(match: re.Match[str]) -> str:
        if "spark-conf" in match[1]:
            return match[0]
        output = asker.run(asker.filled(match[1].removeprefix("$ ")), 0)
        lines = [line.rstrip() for line in asker.renamed(output).splitlines()]
        return match[1] + "\n".join(lines) + "\n"

    text = _DEMO_OUTPUT.sub(lambda _: asker.renamed(demo_output), text, count=1)
    return _COMMAND.sub(command, _GRAPHQL.sub(answer, text))


def printed(log: str) -> str:
    """Return what a demo printed about its answers and its failed run, without rules."""
    start = log.index(f"\nanswer {ANSWER} ") + 1
    return _RULE.sub("\n", log[start : log.index(" done in ", start)].rpartition("\n")[0] + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
