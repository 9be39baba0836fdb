"""The fault matrix has every fault from F01 to F30, and each row names tests that exist."""

from __future__ import annotations

import re
from itertools import chain

from tests.repo.repository import ROOT, text

PAGE = "docs/reference/fault-matrix.md"
FAULTS = 30
# `make torture` injects ten times as many.
INJECTED_MIN = 200
_RANGE = re.compile(r"F(\d\d)(?: to F(\d\d))?")


def rows() -> list[list[str]]:
    """Return the cells of each row of the matrix."""
    lines = [line for line in text(PAGE).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def faults_of(row: list[str]) -> set[int]:
    spans = _RANGE.findall(row[0])
    return set(chain.from_iterable(range(int(a), int(b or a) + 1) for a, b in spans))


def test_every_fault_has_a_row() -> None:
    found = set(chain.from_iterable(map(faults_of, rows())))
    assert sorted(set(range(1, FAULTS + 1)) - found) == []


def test_each_row_names_tests_that_exist() -> None:
    for row in rows():
        named = re.findall(r"`(tests/[\w/.]+)`", row[3])
        assert named, row
        assert [path for path in named if not (ROOT / path).exists()] == []


def test_enough_faults_are_injected() -> None:
    counts = [int(re.findall(r"\d+", row[4].replace(",", ""))[0]) for row in rows()]
    assert sum(counts) > INJECTED_MIN
