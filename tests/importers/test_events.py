"""Parts of events: facets, column lineage, stable ids and times."""

from __future__ import annotations

import uuid

from headwater.importers.events import column_lineage, facets, stable_run_id, to_time


def test_facets_without_fields_are_absent() -> None:
    found = facets(sql={"query": "select 1", "dialect": None}, schema=None, tags={"tags": None})
    assert list(found) == ["sql"]
    assert found["sql"]["query"] == "select 1"
    assert found["sql"]["_schemaURL"].endswith("/SQLJobFacet.json")
    assert "dialect" not in found["sql"]


def test_column_lineage_lists_each_source_once() -> None:
    source = (("n", "t"), "a")
    found = column_lineage({"x": [source, source], "y": []}, [source])
    assert found is not None
    field = {"namespace": "n", "name": "t", "field": "a"}
    assert found["fields"] == {"x": {"inputFields": [field]}}
    assert found["dataset"] == [{**field, "transformations": [{"type": "INDIRECT"}]}]
    assert column_lineage({"y": []}) is None


def test_a_run_id_is_a_uuid_of_its_parts() -> None:
    assert stable_run_id("a", "b") == stable_run_id("a", "b") != stable_run_id("ab", "")
    assert uuid.UUID(stable_run_id("a")).version == 5
    # JSON can hold half of a character.
    assert stable_run_id("\ud83d") != stable_run_id("a")


def test_a_time_keeps_its_microseconds() -> None:
    assert to_time(1_793_491_200_000_001) == "2026-11-01T00:00:00.000001Z"
    assert to_time(-1) == "1969-12-31T23:59:59.999999Z"
