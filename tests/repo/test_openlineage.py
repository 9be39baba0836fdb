"""docs/reference/openlineage.md has a row for every event type and facet, and names existing tests
only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from headwater.schema import headwater_facets as native
from headwater.schema.events import STATES
from headwater.schema.facets import FACETS, PARENT_KEYS
from tests.repo.repository import functions, python_files, text

CODE = re.compile(r"`([^`]+)`")


class Line(NamedTuple):
    what: str
    becomes: str
    test: str


def lines() -> list[Line]:
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text("docs/reference/openlineage.md").splitlines()
        if line.startswith("| ")
    ]
    return [Line(*row) for row in cells if row[-1].strip() != "test"]


def documented() -> set[tuple[str, str]]:
    """Return (entity, key) of every facet that has a row."""
    return {(line.what.split(" ")[0], key) for line in lines() for key in CODE.findall(line.what)}


def test_every_facet_of_the_specification_has_a_row() -> None:
    assert {(entity, key) for entity, key in FACETS} - documented() == set()
    assert {("run", key) for key in PARENT_KEYS} <= documented()


def test_every_facet_of_headwater_has_a_row() -> None:
    own = {value for name, value in vars(native).items() if name.endswith("_FACET")}
    assert own <= {key for _, key in documented()}


def test_every_event_type_has_a_row() -> None:
    kinds = {line.what for line in lines()}
    assert {f"RunEvent, `{state}`" for state in STATES} | {
        "RunEvent without a type",
        "JobEvent",
        "DatasetEvent",
    } <= kinds


def test_no_row_is_blank() -> None:
    assert [line for line in lines() if not all(line)] == []


def test_every_test_that_is_named_exists() -> None:
    names = {
        f"{name.rpartition('/')[2]}::{function.node.name}"
        for name in python_files("tests/")
        for function in functions(name)
    }
    assert sorted({line.test for line in lines()} - names) == []
