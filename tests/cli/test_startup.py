"""Help answers at once: it imports no heavy module."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import headwater
from headwater.client import Headwater

_HEAVY = {
    "neo4j",
    "strawberry",
    "starlette",
    "uvicorn",
    "pyspark",
    "pygments",
    "rich",
    "sqlglot",
    "attr",
    "urllib.request",
}
_HELP = """
import sys
from headwater.cli import main
sys.argv = ["headwater", *{words}]
try:
    main()
except SystemExit:
    print("imported", *sys.modules)
"""


def _run(program: str) -> str:
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("words", [["--help"], []])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    shown, _, imported = _run(_HELP.format(words=words)).rpartition("imported")
    assert "Data lineage from source to answer." in shown
    assert "Exit codes: 0 done" in shown
    assert _HEAVY & set(imported.split()) == set()


def test_the_python_api_is_imported_on_first_use() -> None:
    assert headwater.Headwater is Headwater
    assert set(headwater.__all__) == {
        "Artifact",
        "Client",
        "Headwater",
        "Run",
        "Source",
        "__version__",
    }
    with pytest.raises(AttributeError, match="nothing"):
        _ = getattr(headwater, "nothing")  # noqa: B009
