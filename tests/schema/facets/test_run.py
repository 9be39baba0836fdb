"""Facets of runs."""

from __future__ import annotations

import pytest

from tests.schema.facets.examples import NAMED, TIME, UUID, Example, check_example, name_of

EXAMPLES: list[Example] = [
    (
        "run",
        "environmentVariables",
        {"environmentVariables": [{"name": "A", "value": "b"}]},
        {},
        "environmentVariables",
    ),
    (
        "run",
        "errorMessage",
        {"message": "no", "programmingLanguage": "JVM"},
        {"message": "no"},
        "programmingLanguage",
    ),
    (
        "run",
        "executionParameters",
        {"parameters": [{"key": "k", "value": "v"}]},
        {"parameters": [{"key": "k", "colour": "red"}]},
        "parameters[]",
    ),
    (
        "run",
        "externalQuery",
        {"externalQueryId": "q", "source": "bq"},
        {"externalQueryId": 1, "source": "bq"},
        "externalQueryId",
    ),
    (
        "run",
        "extractionError",
        {"totalTasks": 2, "failedTasks": 1, "errors": [{"errorMessage": "no"}]},
        {"totalTasks": 2, "failedTasks": 1, "errors": [{"task": "t"}]},
        "errors[].errorMessage",
    ),
    (
        "run",
        "jobDependencies",
        {
            "upstream": [{"job": NAMED, "run": {"runId": UUID}, "dependency_type": "DIRECT"}],
            "trigger_rule": "ALL",
        },
        {"downstream": [{"run": {"runId": UUID}}]},
        "downstream[].job",
    ),
    (
        "run",
        "nominalTime",
        {"nominalStartTime": TIME},
        {"nominalStartTime": "today"},
        "nominalStartTime",
    ),
    ("run", "processing_engine", {"version": "4.1", "name": "spark"}, {"name": "spark"}, "version"),
    (
        "run",
        "tags",
        {"tags": [{"key": "k", "value": "v"}]},
        {"tags": [{"key": "k"}]},
        "tags[].value",
    ),
    (
        "run",
        "test",
        {"tests": [{"name": "unique", "status": "pass"}]},
        {"tests": [{"name": "unique"}]},
        "tests[].status",
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_a_valid_facet_passes_and_a_fault_is_reported_at_its_path(example: Example) -> None:
    check_example(example)
