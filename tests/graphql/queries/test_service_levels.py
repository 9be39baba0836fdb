"""Service levels in the schema, on a history worked out by hand."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.graphql.conftest import Ask
from tests.health.figures.story import write_story

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("story")]


@pytest.fixture(scope="module")
def story(database: Database) -> None:
    empty(database)
    write_story(database)


def test_a_level_with_its_definition(ask: Ask) -> None:
    [level] = ask(
        """{ serviceLevels(ids: ["M1"]) {
          id name title unit goodDirection windowDays objective budgetUnit value target isMet good
          total budgetLeft verdict } }"""
    )["data"]["serviceLevels"]
    left = level.pop("budgetLeft")
    assert left == pytest.approx(1 - 2 / 14 / 0.2)
    assert level == {
        "id": "M1",
        "name": "coverage",
        "title": "Lineage coverage",
        "unit": "SHARE",
        "goodDirection": "UP",
        "windowDays": 30,
        "objective": 0.8,
        "budgetUnit": "PARTS",
        "value": 12 / 14,
        "target": 0.8,
        "isMet": True,
        "good": 12,
        "total": 14,
        "verdict": "OK",
    }


def test_all_levels_in_order(ask: Ask) -> None:
    found = ask("{ serviceLevels { id value target budgetLeft counts outOf source measures } }")
    levels = found["data"]["serviceLevels"]
    ids = [level["id"] for level in levels]
    assert ids == [
        *(f"M{number}" for number in range(1, 11)),
        "run-success",
        "data-freshness",
        "data-correctness",
        "median-blast-radius",
        "unknown-downstreams",
        "certified-path-integrity",
    ]
    assert all(level["counts"] and level["outOf"] and level["source"] for level in levels)


def test_an_unknown_level_is_refused(ask: Ask) -> None:
    [error] = ask('{ serviceLevels(ids: ["M0"]) { id } }')["errors"]
    assert error["extensions"]["code"] == "BAD_REQUEST"
    assert "M10" in error["extensions"]["hint"]
