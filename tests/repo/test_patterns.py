"""Regular expressions for texts of strangers: no two repeats share a run of characters.

`\\s*\\s*` and `[\\w ]+\\s*` try all ways to share a run of spaces: time by the square of its length, or
by its cube. A possessive repeat (`\\s*+`) gives nothing back.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import pairwise
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import headwater.code_analysis
import headwater.ingest
import headwater.schema

PACKAGES = (headwater.code_analysis, headwater.ingest, headwater.schema)
GREEDY = (_parser.MAX_REPEAT, _parser.MIN_REPEAT)
CHARACTERS = [chr(number) for number in range(1, 256)]
Item = tuple[Any, Any]


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the compiled patterns of the modules, by their full names."""
    for package in PACKAGES:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(import_module(module.name)).items():
                if isinstance(value, re.Pattern):
                    yield f"{module.name}.{name}", value


def sequences(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield a pattern and its parts as sequences of items, with the groups in them opened."""
    flat: list[Item] = []
    waiting = list(items)[::-1]
    while waiting:
        operation, argument = waiting.pop()
        if operation is _parser.SUBPATTERN:
            waiting += list(argument[-1])[::-1]
            continue
        flat.append((operation, argument))
        parts: list[Any] = []
        if operation is _parser.BRANCH:
            parts = argument[1]
        elif operation in (*GREEDY, _parser.POSSESSIVE_REPEAT):
            parts = [argument[2]]
        for part in parts:
            yield from sequences(part)
    yield flat


def repeated(item: Item) -> set[str]:
    """Return the characters that an unbounded repeat of one character takes."""
    operation, argument = item
    if operation not in (*GREEDY, _parser.POSSESSIVE_REPEAT) or argument[1] != _parser.MAXREPEAT:
        return set()
    inner = argument[2]
    if inner.getwidth() != (1, 1):
        return set()
    one = _compiler.compile(inner, inner.state.flags)
    return {character for character in CHARACTERS if one.fullmatch(character)}


def shared_runs(pattern: str) -> list[set[str]]:
    """Return the characters that two neighbouring repeats of a pattern share."""
    found = []
    for items in sequences(_parser.parse(pattern)):
        for first, second in pairwise(items):
            if first[0] in GREEDY and (shared := repeated(first) & repeated(second)):
                found.append(shared)
    return found


@pytest.mark.parametrize("pattern", [r"\s*\s*", r"a([\w, ]+\s*=)?", r"x|(\w+)(?:\w*b)", r"a*.*?"])
def test_neighbours_that_share_a_run_are_found(pattern: str) -> None:
    assert shared_runs(pattern)


@pytest.mark.parametrize("pattern", [r"\s*+\s*", r"\w+\s*", r"\s+=\s*", r"a{1,3}a*"])
def test_neighbours_that_share_no_run(pattern: str) -> None:
    assert shared_runs(pattern) == []


def test_no_neighbours_share_a_run() -> None:
    found = list(patterns())
    assert len(found) > 50
    texts = {
        name: one.pattern if isinstance(one.pattern, str) else one.pattern.decode("latin-1")
        for name, one in found
    }
    assert [name for name, text in texts.items() if shared_runs(text)] == []
