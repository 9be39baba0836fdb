"""Render values for people and programs: counts, sizes, ages, JSON names."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import headwater.cli
from headwater.cells import text_of
from headwater.cli.render import age_of, bytes_of, percent, with_noun

_BY_ITSELF = re.compile(
    r"\}(\[/\])? "
    r"(bytes|copies|datasets|days|edges|entries|events|facts|files|jobs|keys|nodes|rows|runs|transactions)\b"
)


@pytest.mark.parametrize(
    ("number", "words", "expected"),
    [
        (0, ["row"], "0 rows"),
        (1, ["row"], "1 row"),
        (1_000, ["row"], "1,000 rows"),
        (1, ["entry", "entries"], "1 entry"),
        (2, ["entry", "entries"], "2 entries"),
    ],
)
def test_a_number_with_its_noun(number: int, words: list[str], expected: str) -> None:
    assert with_noun(number, *words) == expected


def test_no_command_counts_in_another_way() -> None:
    sources = sorted(Path(str(headwater.cli.__file__)).parent.glob("*.py"))
    assert [one for source in sources for one in _BY_ITSELF.findall(source.read_text())] == []


def test_counting_does_not_load_the_driver_of_neo4j() -> None:
    program = (
        "import sys; from headwater.cli.render import with_noun; print('neo4j' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        == b"False\n"
    )


@pytest.mark.parametrize(
    ("size", "shown"),
    [(None, ""), (0, "0 B"), (999, "999 B"), (1_400_000_000, "1.4 GB"), (2 * 10**18, "2000.0 PB")],
)
def test_sizes(size: int | None, shown: str) -> None:
    assert bytes_of(size) == shown


@pytest.mark.parametrize(
    ("age", "shown"),
    [
        (timedelta(minutes=12, seconds=59), "12m"),
        (timedelta(hours=3, minutes=5), "3h 5m"),
        (timedelta(days=3, hours=4, minutes=59), "3d 4h"),
    ],
)
def test_ages(age: timedelta, shown: str) -> None:
    assert age_of(age) == shown


def test_shares() -> None:
    assert (percent(None), percent(0.125)) == ("-", "12.5 %")


def test_cells_of_a_table() -> None:
    assert text_of(None) == ""
    assert text_of(datetime(2026, 1, 1, 12, tzinfo=UTC)) == "2026-01-01T12:00:00Z"
    assert text_of(["a", "ü"]) == "a, ü"
    assert text_of([{"a": "ü"}]) == '[{"a": "ü"}]'
