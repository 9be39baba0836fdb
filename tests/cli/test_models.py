"""The commands about models, against a real API and a real worker."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.errors import NotFoundError, QueryError
from tests.canonical import empty
from tests.end_to_end.conftest import Running, running
from tests.event_builders import columns, dataset, dataset_event, run_event, schema, write_batch

__all__ = ["running"]

pytestmark = pytest.mark.neo4j


def invoke(running: Running, *words: str, exit_code: int = 0) -> str:
    arguments = [*words, "--url", running.url]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    return result.stdout


def answer(running: Running, *words: str, exit_code: int = 0) -> Any:
    return json.loads(invoke(running, *words, "--json", exit_code=exit_code))


def test_models_their_versions_changes_and_inputs(running: Running) -> None:
    empty(running.database)
    model = {"datasetType": {"datasetType": "MODEL"}}
    facets = [
        {**model, **schema(age=type), **columns(age=[("people", "age")])}
        for type in ("int", "long")
    ]
    write_batch(
        running.database,
        [
            run_event("r1", minute=1, inputs=["people"], outputs=[dataset("churn", facets[0])]),
            run_event("r2", minute=2, inputs=["people"], outputs=[dataset("churn", facets[1])]),
            dataset_event("today", 3, schema(age="int")),
            dataset_event("empty", 3, schema(name="string")),
            dataset_event("unknown", 3),
        ],
    )
    [churn] = answer(running, "models")["models"]
    assert [one["name"] for one in churn["trainedOn"]] == ["people"]
    assert churn["versions"][0]["featureCompleteness"] == 1.0
    assert "churn" in invoke(running, "models")
    assert answer(running, "models", "--deprecated")["models"] == []
    [use] = answer(running, "models", "--using", "column:db:people:age")["modelsUsing"]
    assert (use["evidence"], use["model"]["dataset"]["name"]) == ("COLUMNS", "churn")
    found = answer(running, "model", "versions", "churn")["modelVersions"]
    assert [one["runUrn"] for one in found] == ["run:r2", "run:r1"]
    assert "1 change" in invoke(running, "model", "diff", "churn")
    changes = answer(running, "model", "diff", "churn")["modelChanges"]
    assert {"part": "FEATURE", "name": "age", "before": "int", "after": "long"} in changes
    assert "fits" in invoke(running, "model", "check", "churn", "--input", "today")
    text = invoke(running, "model", "check", "churn", "--input", "empty", exit_code=1)
    assert "no such column" in text
    text = invoke(running, "model", "check", "churn", "--input", "unknown", exit_code=2)
    assert "cannot be assessed" in text
    with pytest.raises(NotFoundError):
        invoke(running, "model", "versions", "today")
    with pytest.raises(QueryError):
        invoke(running, "models", "--deprecated", "--using", "dataset:db:people")
