"""Facets of data lineage: `columnLineage`, and `lineage` on datasets and jobs."""

from __future__ import annotations

import json
from itertools import chain

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.schema.facets import salvage
from headwater.schema.facets.lineage import ColumnLineage, JobLineage
from tests.schema.facets.examples import NAMED, Example, check_example, name_of

ENTRY = {
    **NAMED,
    "type": "DATASET",
    "fields": {"a": {"inputs": [{"type": "JOB"}, {**NAMED, "type": "DATASET"}]}},
}
EXAMPLES: list[Example] = [
    (
        "job",
        "lineage",
        {"entries": [ENTRY]},
        {"entries": [{"type": "JOB", "name": "half"}]},
        "entries[]",
    ),
    (
        "dataset",
        "columnLineage",
        {"fields": {"a": {"inputFields": [{**NAMED, "field": "b"}]}}},
        {"fields": {"a": {"inputFields": [NAMED]}}},
        "fields[].inputFields[].field",
    ),
    (
        "dataset",
        "lineage",
        {"inputs": [{**NAMED, "type": "DATASET"}]},
        {"inputs": [{**NAMED, "type": "FILE"}]},
        "inputs[].type",
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_a_valid_facet_passes_and_a_fault_is_reported_at_its_path(example: Example) -> None:
    check_example(example)


def test_only_unreadable_parts_of_a_column_lineage_are_skipped() -> None:
    good = {**NAMED, "field": "b"}
    steps = [{"type": 1}, {"type": "DIRECT", "masking": True}]
    inputs = [NAMED, 7, {**good, "transformations": steps}, {**good, "transformations": "none"}]
    raw = json.dumps(
        {"fields": {"a": {"inputFields": inputs}, "x": None}, "dataset": {"no": "list"}}
    )
    salvaged = salvage(ColumnLineage, raw)
    assert salvaged is not None
    assert list(salvaged.fields) == ["a"]
    first, second = salvaged.fields["a"].input_fields
    assert [step.masking for step in first.transformations or ()] == [True]
    assert second.transformations is None
    assert salvaged.dataset is None


def test_a_lineage_input_without_a_type_is_nobodys() -> None:
    raw = json.dumps(
        {
            "entries": [
                {**ENTRY, "inputs": [NAMED, {"type": "JOB"}, {**NAMED, "type": "DATASET"}]},
                {},
            ]
        }
    )
    salvaged = salvage(JobLineage, raw)
    assert salvaged is not None
    assert [len(entry.inputs or ()) for entry in salvaged.entries] == [2]


WORDS = st.sampled_from(
    ["fields", "inputFields", "namespace", "name", "field", "dataset", "transformations"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.text()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.recursive(
        SCALARS, lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner), max_leaves=10
    )
)
def test_salvage_never_fails_and_returns_valid_facets(value: object) -> None:
    salvaged = salvage(ColumnLineage, json.dumps(value))
    if salvaged is not None:
        inputs = chain.from_iterable(output.input_fields for output in salvaged.fields.values())
        assert all(type(field.field) is str for field in inputs)
