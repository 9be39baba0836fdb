"""One event is no `1 events`: whatever is with_noun goes through one function."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import headwater.cli
from headwater.cli.render import with_noun

_BY_ITSELF = re.compile(
    r"\}(\[/\])? "
    r"(bytes|copies|datasets|days|edges|entries|events|facts|files|jobs|keys|nodes|rows|runs|transactions)\b"
)


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (0, ["row"], "0 rows"),
        (1, ["row"], "1 row"),
        (1_000, ["row"], "1,000 rows"),
        (1, ["entry", "entries"], "1 entry"),
        (2, ["entry", "entries"], "2 entries"),
    ],
)
def test_so_many_of_something(number: int, words: list[str], said: str) -> None:
    assert with_noun(number, *words) == said


def test_no_command_counts_in_another_way() -> None:
    sources = sorted(Path(str(headwater.cli.__file__)).parent.glob("*.py"))
    assert [one for source in sources for one in _BY_ITSELF.findall(source.read_text())] == []


def test_who_counts_does_not_wait_for_neo4j() -> None:
    program = (
        "import sys; from headwater.cli.render import with_noun; print('neo4j' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        == b"False\n"
    )
