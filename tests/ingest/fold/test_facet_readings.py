"""Readings of facets, computed by hand."""

from __future__ import annotations

import json
from typing import Any

from headwater.ingest.fold.facet_readings import read_dataset, read_job
from headwater.schema.events import Facets, parse


def facets(content: dict[str, Any], *, of: str) -> Facets | None:
    """Return facets as the parser gives them, of a dataset or of its job."""
    event = {
        "eventTime": "2026-01-01T00:00:00Z",
        "job": {"namespace": "etl", "name": "j", "facets": content if of == "job" else {}},
        "outputs": [{"namespace": "db", "name": "t", "facets": content if of == "dataset" else {}}],
    }
    parsed = parse(json.dumps(event).encode(), received=0)
    assert parsed.job is not None
    return parsed.job.facets if of == "job" else parsed.outputs[0].facets


def test_a_dataset_without_facets() -> None:
    reading = read_dataset(None)
    assert (reading.texts, reading.schema, reading.fields) == ({}, "", "")
    assert (reading.symlinks, reading.unlinked, reading.version) == ([], False, None)


def test_schema_symlinks_and_version_of_a_dataset() -> None:
    content = {
        "schema": {"fields": [{"name": "id", "type": "int"}, {"name": "s", "fields": []}]},
        "symlinks": {
            "identifiers": [
                {"namespace": "hive", "name": "t", "type": "TABLE"},
                {"namespace": "hive", "name": " ", "type": "TABLE"},
            ]
        },
        "version": {"datasetVersion": "7"},
    }
    reading = read_dataset(facets(content, of="dataset"))
    assert json.loads(reading.fields)[0] == ["id", "int"]
    assert [(one.namespace, one.name) for one in reading.symlinks] == [("hive", "t")]
    assert reading.version == "7"
    assert set(reading.texts) == {"schema", "symlinks", "version"}


def test_equal_facets_have_one_reading() -> None:
    content = {"version": {"datasetVersion": "only in this test"}}
    first = read_dataset(facets(content, of="dataset"))
    assert read_dataset(facets(content, of="dataset")) is first


def test_a_deleted_symlinks_facet_unlinks() -> None:
    assert read_dataset(facets({"symlinks": {"_deleted": True}}, of="dataset")).unlinked


def test_the_code_version_of_a_job() -> None:
    content = {"sourceCodeLocation": {"type": "git", "url": "https://git/x", "version": "c0ffee"}}
    reading = read_job(facets(content, of="job"))
    assert (reading.code, reading.lineage) == ("c0ffee", None)
