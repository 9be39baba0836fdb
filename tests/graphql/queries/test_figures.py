"""The figures of dashboards and what they are made of, on a history worked out by hand."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.figures.definitions import FIGURES
from tests.canonical import empty
from tests.graphql.conftest import Ask
from tests.health.figures.story import write_story
from tests.run_builders import ds, version

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("story")]


@pytest.fixture(scope="module")
def story(database: Database) -> None:
    empty(database)
    write_story(database)


def test_a_figure_with_its_definition_and_its_list(ask: Ask) -> None:
    [figure] = ask(
        """{ figures(names: ["certified-path-integrity"]) {
          name title unit goodDirection threshold target windowDays href value numerator
          denominator isBelowThreshold isSampled nodeCount nodes { urn } history { value } } }"""
    )["data"]["figures"]
    assert figure == {
        "name": "certified-path-integrity",
        "title": "Certified-path integrity",
        "unit": "SHARE",
        "goodDirection": "UP",
        "threshold": 1.0,
        "target": 1.0,
        "windowDays": None,
        "href": "/dashboards/certified-path-integrity",
        "value": 1.0,
        "numerator": 1.0,
        "denominator": 1,
        "isBelowThreshold": False,
        "isSampled": False,
        "nodeCount": 0,
        "nodes": [],
        "history": [],
    }


def test_definitions_need_no_values(ask: Ask) -> None:
    found = ask("{ figures { name counts outOf lists } }")["data"]["figures"]
    assert [one["name"] for one in found] == list(FIGURES)
    assert all(one["counts"] and one["outOf"] and one["lists"] for one in found)


def test_breakdowns(ask: Ask) -> None:
    found = ask(
        """{ breakdowns {
          topDatasets(first: 2) { datasets jobs answers consumers dataset { urn } }
          modelVersions(first: 2) { urn version completeness known versions dataset { urn } }
          costAgainstFidelity { fidelity costFrom costTo datasets seconds } } }"""
    )["data"]["breakdowns"]
    assert found["topDatasets"] == [
        {"datasets": 5, "jobs": 5, "answers": 1, "consumers": 6, "dataset": {"urn": ds("raw")}},
        {"datasets": 3, "jobs": 3, "answers": 1, "consumers": 4, "dataset": {"urn": ds("orders")}},
    ]
    assert [(one["urn"], one["completeness"]) for one in found["modelVersions"]] == [
        (version("model", "t2"), 1.0),
        (version("oracle", "g1"), 0.0),
    ]
    # The runs are older than the window, so they cost nothing in it.
    assert [
        (cell["fidelity"], cell["datasets"])
        for cell in found["costAgainstFidelity"]
        if cell["datasets"]
    ] == [("NONE", 2), ("JOB", 5), ("COLUMN", 1)]
