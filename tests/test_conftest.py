"""Files that `-m` deselects as a whole are not imported."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import file_marks, pytest_ignore_collect

SERVERLESS = "not neo4j and not slow"


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("pytestmark = pytest.mark.neo4j\n", {"neo4j"}),
        (
            "import pytest\n\npytestmark = [\n    pytest.mark.slow,\n    pytest.mark.spark,\n]\n",
            {"slow", "spark"},
        ),
        ("def test_one() -> None:\n    pytestmark = pytest.mark.neo4j\n", set()),
        ("@pytest.mark.neo4j\ndef test_one() -> None: ...\n", set()),
    ],
)
def test_the_marks_of_a_file_are_those_of_pytestmark(text: str, marks: set[str]) -> None:
    assert file_marks(text) == marks


@pytest.mark.parametrize(
    ("expression", "is_ignored"),
    [
        (SERVERLESS, True),
        ("not neo4j", True),
        ("not spark", None),
        ("", None),
        # A test of the file may have the mark itself.
        ("slow", None),
        ("not neo4j or slow", None),
    ],
)
def test_only_excluded_files_are_ignored(
    tmp_path: Path, expression: str, is_ignored: bool | None
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("pytestmark = pytest.mark.neo4j\n")
    config: Any = SimpleNamespace(option=SimpleNamespace(markexpr=expression))
    assert pytest_ignore_collect(file, config) is is_ignored
    assert pytest_ignore_collect(tmp_path, config) is None
