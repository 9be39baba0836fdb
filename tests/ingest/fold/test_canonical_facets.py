"""Facets as canonical text, computed by hand."""

from __future__ import annotations

import json

import pytest

from headwater.ingest.fold.canonical_facets import FACET_BYTES_MAX, NESTING_MAX
from headwater.schema.facts import LwwRegister
from tests.ingest.fold.folded_events import (
    AT,
    facet,
)


def test_facets_are_stored_as_canonical_json() -> None:
    first, second = facet('{"b": 1,  "a": [1, 2]}'), facet('{"a":[1,2],"b":1}')
    assert first == second == LwwRegister(AT, 1, '{"a":[1,2],"b":1}')
    assert facet('{"_deleted": true}') == LwwRegister(AT, 1, "")


@pytest.mark.parametrize(
    "value",
    ["null", "5", '"x"', "[]", '{"a": 1e999}', '{"a": %s}' % ("9" * 5_000)],
    ids=["null", "number", "text", "list", "infinite", "5,000 digits"],
)
def test_a_value_that_is_no_facet_is_left_out(value: str) -> None:
    assert facet(value) is None


def test_a_lone_surrogate_does_not_drop_the_facet() -> None:
    assert facet('{"a": "\\ud800"}') == LwwRegister(AT, 1, '{"a":"\ufffd"}')


def test_facets_nested_too_deep_are_left_out() -> None:
    deep = NESTING_MAX
    assert facet('{"a":' * deep + "1" + "}" * deep) is not None
    assert facet('{"a":' * (deep + 1) + "1" + "}" * (deep + 1)) is None
    wide = json.dumps({"fields": [{"name": f"c{i}"} for i in range(deep * 3)]})
    assert facet(wide) is not None, "many, but not deep"


def test_the_short_values_of_a_long_facet_stay() -> None:
    long = json.dumps({"message": "boom", "stackTrace": "at x\n" * 20_000, "rest": [0] * 20_000})
    stored = facet(long, "errorMessage")
    assert stored is not None
    values = json.loads(stored.value)
    assert values["message"] == "boom"
    assert values["stackTrace"].startswith("at x\n")
    assert values["_bytes"] == len(long)
    assert "rest" not in values
    assert len(stored.value) < FACET_BYTES_MAX


def test_a_facet_of_very_many_values_is_stored_as_its_size() -> None:
    many = json.dumps({f"key {i}": i for i in range(20_000)})
    stored = facet(many)
    assert stored is not None
    assert json.loads(stored.value) == {"_bytes": len(many)}


def test_a_long_schema_stays_whole() -> None:
    fields = [{"name": f"column {i}", "type": "string"} for i in range(3_000)]
    stored = facet(json.dumps({"fields": fields}), "schema")
    assert stored is not None
    assert json.loads(stored.value)["fields"] == fields
