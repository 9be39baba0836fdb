"""The strict and the lenient way to read a facet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.schema.facets import FACETS, Entity, Fault, fault_of, is_valid, salvage


def test_a_deleted_facet_needs_no_other_field() -> None:
    assert is_valid("dataset", "version", b'{"_deleted": true}')
    assert not is_valid("dataset", "version", b'{"_deleted": "yes"}')


@pytest.mark.parametrize("raw", [b"null", b"[]", b'"text"', b"7", b"{", b"\xff", b"[" * 100_000])
def test_a_facet_that_is_no_object_is_broken(raw: bytes) -> None:
    assert not is_valid("job", "sql", raw)
    assert salvage(FACETS["job", "sql"], raw) is None


def test_messages_name_the_format_and_not_its_pattern() -> None:
    fault = fault_of("dataset", "dataSource", b'{"uri": "file"}')
    assert fault is not None
    assert fault.message == "Expected a URI with its scheme"


@pytest.mark.parametrize(
    ("entity", "key", "values", "attribute", "value"),
    [
        ("run", "errorMessage", {"message": "no"}, "message", "no"),
        ("run", "nominalTime", {"nominalStartTime": "today"}, "nominal_start_time", "today"),
        ("job", "jobType", {"jobType": "DAG"}, "job_type", "DAG"),
        ("job", "sourceCodeLocation", {"url": "git@host:repo"}, "url", "git@host:repo"),
        ("dataset", "dataSource", {"uri": "file", "name": 5}, "uri", "file"),
        (
            "dataset",
            "lifecycleStateChange",
            {"lifecycleStateChange": "drop"},
            "lifecycle_state_change",
            "drop",
        ),
        ("dataset", "version", {"datasetVersion": 7}, "dataset_version", "7"),
        ("output", "outputStatistics", {"rowCount": "3", "size": "x"}, "row_count", 3),
    ],
)
def test_salvage_reads_a_facet_that_breaks_its_schema(
    entity: Entity, key: str, values: dict[str, Any], attribute: str, value: object
) -> None:
    raw = json.dumps(values).encode()
    assert not is_valid(entity, key, raw)
    facet = salvage(FACETS[entity, key], raw)
    assert getattr(facet, attribute) == value


def test_an_expected_field_is_reported_at_its_path() -> None:
    tags = {"tags": [{"key": "a", "value": "b"}, {"key": "c"}]}
    fault = fault_of("dataset", "tags", json.dumps(tags).encode())
    assert fault == Fault("tags[].value", "Object missing required field `value`")
