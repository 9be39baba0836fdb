"""A model drifts: the extract reads another table, the features shift, and their code changed.

The figures are those of the story: the mean tenure falls from 24.3 to 18.7, and 34 % of the rows
have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.candidates import Candidate
from headwater.lineage.questions.root_cause import root_cause
from headwater.lineage.view import GraphView
from headwater.schema.urns import source_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, run_event, schema, write_in_any_order
from tests.run_builders import Event, ds, run_of, version

pytestmark = pytest.mark.neo4j

# Mean 24.3, standard deviation 0.141421.
TENURES = (24.1, 24.5, 24.3, 24.2, 24.4, 24.3, 18.7, 18.7)
# Within two standard deviations (0.559) and 5 % of the mean 40.333.
AGES = (40.0, 41.0, 40.5, 39.5, 40.2, 40.8, 40.4, 41.1)
FIRST_BAD = 6
COLUMNS = {"customer_id": "int", "customer_tenure": "double", "days_since_signup": "int"}


def week(number: int) -> list[Event]:
    """Return the extract, the features and the training of one week."""
    is_bad = number >= FIRST_BAD
    minute, year = 60 * number, 2024 if is_bad else 2023
    types = {**COLUMNS, "is_active": "boolean"} if is_bad else COLUMNS
    customers = dataset(f"customers_{year}", schema(**types), namespace="crm")
    tenure = {
        "sum": 1_000 * TENURES[number],
        "count": 1_000,
        "nullCount": 340 if is_bad else 10,
        "distinctCount": 41 if is_bad else 60,
    }
    age = {"sum": 1_000 * AGES[number], "count": 1_000, "nullCount": number % 2}
    metrics = {
        "dataQualityMetrics": {
            "rowCount": 1_000,
            "columnMetrics": {"customer_tenure": tenure, "age": age},
        }
    }
    code = {"sourceCode": {"language": "python", "sourceCode": f"fill(0)  # {is_bad}"}}
    extract: dict[str, Any] = {"job": "extract", "inputs": [customers]}
    return [
        run_event(f"extract-{number}", "START", minute, **extract),
        run_event(f"extract-{number}", "COMPLETE", minute + 5, **extract, outputs=["raw_data"]),
        run_event(
            f"features-{number}",
            "START",
            minute + 10,
            job="feature_eng",
            inputs=["raw_data"],
            job_facets=code,
        ),
        run_event(
            f"features-{number}",
            "COMPLETE",
            minute + 15,
            job="feature_eng",
            inputs=["raw_data"],
            outputs=[dataset("features", metrics)],
        ),
        run_event(f"train-{number}", "START", minute + 20, job="train", inputs=["features"]),
        run_event(
            f"train-{number}",
            "COMPLETE",
            minute + 25,
            job="train",
            inputs=["features"],
            outputs=["churn_model"],
        ),
    ]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    write_in_any_order(database, *(event for number in range(8) for event in week(number)))
    yield view
    empty(database)


def summaries(found: list[Candidate]) -> list[tuple[str, str, int]]:
    return [(one.kind, one.urn, one.distance) for one in found]


def test_the_first_bad_model(history: GraphView) -> None:
    found = root_cause(history, version("churn_model", "train-6")).candidates
    assert summaries(found) == [
        ("INPUT_CHANGED", run_of("extract-6"), 3),
        ("SCHEMA_CHANGED", source_urn("crm", "customers_2024"), 3),
        ("COLUMN_MEASURE_CHANGED", version("features", "features-6"), 2),
        ("CODE_CHANGED", run_of("features-6"), 2),
    ]
    assert [one.weight for one in found] == [80, 70, 50, 40]
    replaced, drifted, shifted, coded = found
    assert replaced.reason == "extract read customers_2024 instead of customers_2023"
    assert (replaced.before, replaced.after) == ("customers_2023", "customers_2024")
    assert replaced.compared_with == (
        run_of("extract-5"),
        source_urn("crm", "customers_2023"),
        source_urn("crm", "customers_2024"),
    )
    assert drifted.reason == (
        "the schema of customers_2024 differs from customers_2023, which it replaced: "
        "added: is_active"
    )
    assert drifted.run == run_of("extract-6")
    assert shifted.reason == (
        "in features the null share of customer_tenure is 0.34, the baseline of 6 is 0.01 "
        "(+33.0 points); the distinct count of customer_tenure is 41, the baseline of 6 is 60 "
        "(-31.7%); the mean of customer_tenure is 18.7, the baseline of 6 is 24.3 "
        "(-23.0%, 39.6 standard deviations)"
    )
    assert (shifted.run, shifted.before, shifted.after) == (run_of("features-6"), "0.01", "0.34")
    assert shifted.compared_with == tuple(
        version("features", f"features-{number}") for number in (5, 4, 3, 2, 1, 0)
    )
    mean = shifted.measures[2]
    assert (mean.column, mean.measure, mean.version_count) == ("customer_tenure", "mean", 6)
    assert mean.value == pytest.approx(18.7)
    assert mean.mean == pytest.approx(24.3)
    assert mean.deviation == pytest.approx(0.1414, abs=1e-4)
    assert coded.reason.startswith("feature_eng ran source code ")


def test_the_second_bad_model_leads_to_the_same_changes(history: GraphView) -> None:
    """The drop was noticed after two weeks: the change is one run further back."""
    found = root_cause(history, ds("churn_model")).candidates
    assert summaries(found) == [
        ("INPUT_CHANGED", run_of("extract-6"), 3),
        ("SCHEMA_CHANGED", source_urn("crm", "customers_2024"), 3),
        ("COLUMN_MEASURE_CHANGED", version("features", "features-7"), 2),
        ("CODE_CHANGED", run_of("features-6"), 2),
    ]


@pytest.mark.parametrize("number", range(FIRST_BAD))
def test_good_models_have_no_causes(history: GraphView, number: int) -> None:
    assert root_cause(history, version("churn_model", f"train-{number}")).candidates == []


def test_a_hidden_source_is_not_named(history: GraphView) -> None:
    ours = history.visible_to(Visibility(("db", "etl")))
    found = root_cause(ours, version("churn_model", "train-6")).candidates
    assert [one.kind for one in found] == ["COLUMN_MEASURE_CHANGED", "CODE_CHANGED"]
