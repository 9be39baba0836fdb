"""Projections of datasets, computed by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.ingest.fold import fold
from headwater.ingest.project import (
    run_view,
)
from headwater.schema.events import parse
from headwater.schema.headwater_facets import source_event
from tests.ingest.project.projections import (
    FACET,
    at,
    event,
    moment,
    schema,
    table,
)


def test_nested_columns_are_named_by_their_path() -> None:
    address = {
        "name": "address",
        "type": "struct",
        "fields": [{"name": "city", "type": "string"}, {"name": "zip"}],
    }
    view = table(schema({"name": "id", "type": "int"}, address, {"name": " "}))
    assert view.node["columns"] == ["id", "address", "address.city", "address.zip"]
    assert view.columns["column:db:t:address.city"]["type"] == "string"
    assert view.columns["column:db:t:id"] == {
        "namespace": "db", "dataset": "t", "name": "id", "type": "int", "current": True,
        "tags": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "broken", [{"fields": 5}, {"fields": [{"type": "int"}]}, {"fields": [None]}, {"columns": []}]
)
def test_a_malformed_schema_has_no_columns(broken: dict[str, Any]) -> None:
    assert table({"schema": broken}).columns == {}


def test_a_very_deep_schema_stays_small() -> None:
    field: dict[str, Any] = {"name": "x" * 100}
    for _ in range(90):
        field = {"name": "x" * 100, "fields": [field]}
    view = table(schema(field))
    assert 1 < len(view.columns) <= 50
    assert max(map(len, view.node["columns"])) <= 2_000


def test_a_registered_source() -> None:
    sent = source_event(
        "t",
        namespace="db",
        origin="CRM",
        format="csv",
        row_count=3,
        captured_at=at(1),
        checksum="c",
    )
    facets = sent["dataset"]["facets"]
    assert table(facets).source == {
        "namespace": "db", "name": "t", "dataset": "dataset:db:t", "registered": True,
        "origin": "CRM", "format": "csv", "rowCount": 3, "capturedAt": moment(1), "checksum": "c",
    }  # fmt: skip
    assert table({}).source is None
    assert table(facets, {"headwater_source": {**FACET, "_deleted": True}}).source is None


def test_names_too_long_for_an_index_are_shortened() -> None:
    long = "n" * 65_536
    long_event = event(1, "COMPLETE", outputs=[{"namespace": "db", "name": long}])
    long_event["job"]["name"] = long_event["run"]["runId"] = long
    delta = fold([parse(json.dumps(long_event).encode(), received=0)])
    (run_facts,) = delta.runs.values()
    view = run_view(run_facts, {})
    (made,) = view.artifacts.values()
    shown = [view.node["runId"], view.node["pipelineName"], made["name"], made["runId"]]
    assert all(len(text.encode()) < 4_000 for text in shown)
    assert run_facts.run_id == long


def tags(*of: tuple[str, str | None]) -> dict[str, Any]:
    listed = [{"key": key, **({"field": field} if field else {})} for key, field in of]
    return {"tags": {**FACET, "tags": listed}}


def test_tags_of_a_field_are_tags_of_its_column() -> None:
    fields = schema({"name": "id"}, {"name": "Mail"}, {"name": "MAIL"}, {"name": "city"})
    tagged = tags(("gold", None), ("pii", "Mail"), ("gdpr", "mail"), ("pii", "CITY"))
    view = table(fields, tagged)
    assert {column["name"]: column["tags"] for column in view.columns.values()} == {
        "id": None,
        # No column has the name "mail": of those in other case the first gets the tag.
        "MAIL": ["gdpr"],
        "Mail": ["pii"],
        "city": ["pii"],
    }
    assert view.node["tags"] == ["CITY:pii", "Mail:pii", "gold", "mail:gdpr"]


def test_a_tag_makes_a_column_that_no_schema_lists() -> None:
    view = table(tags(("pii", "mail"), ("pii", " ")))
    assert view.columns == {
        "column:db:t:mail": {
            "namespace": "db", "dataset": "t", "name": "mail", "type": None, "current": False,
            "tags": ["pii"],
        }
    }  # fmt: skip
    assert view.node["columns"] is None


def test_failed_checks_of_an_event_of_the_dataset() -> None:
    def checks(*results: tuple[str, str | None, bool]) -> dict[str, Any]:
        found = [
            {"assertion": name, "success": success, **({"column": column} if column else {})}
            for name, column, success in results
        ]
        return {"dataQualityAssertions": {**FACET, "assertions": found}}

    node = table(checks(("unique", "id", False), ("fresh", None, False), ("ok", "id", True))).node
    assert node["failedChecks"] == ["fresh", "unique"]
    assert node["failedColumns"] == ["", "id"]
    assert (node["checksFailed"], node["checkedAt"]) == (2, moment(0))
    repaired = table(checks(("fresh", None, False)), checks(("fresh", None, True))).node
    assert [repaired[key] for key in ("failedChecks", "failedColumns", "checksFailed")] == [
        None
    ] * 3
    assert repaired["checkedAt"] == moment(1)
