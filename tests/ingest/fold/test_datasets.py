"""Datasets and column lineage of events, computed by hand."""

from __future__ import annotations

import pytest

from headwater.schema.facts import ColumnKey, Derivation, DerivationKey, Name
from tests.ingest.fold.folded_events import (
    AT,
    FACET,
    A,
    B,
    T,
    dataset,
    delta_of,
    run_event,
)


def test_column_lineage_makes_column_edges_and_derivations() -> None:
    identity, join = (
        {"type": "DIRECT", "subtype": "IDENTITY"},
        {"type": "INDIRECT", "subtype": "JOIN", "masking": True},
    )
    key = {"namespace": "db", "name": "a", "field": "key", "transformations": [identity]}
    other = {
        "namespace": "db",
        "name": "b",
        "field": "f",
        "transformations": [join, {"type": "INDIRECT"}],
    }
    old = {
        "inputFields": [{"namespace": "db", "name": "a", "field": "k"}],
        "transformationType": "MASKED",
    }
    lineage = {
        **FACET,
        "fields": {"id": {"inputFields": [key, other]}, "old": old},
        "dataset": [{"namespace": "db", "name": "c", "field": "month"}],
    }
    delta = delta_of(run_event(outputs=[dataset("t", {"columnLineage": lineage})]))
    assert delta.columns == {
        ColumnKey(A, "key", T, "id", "job:etl:load"): Derivation(
            AT, frozenset({"DIRECT:IDENTITY"})
        ),
        ColumnKey(B, "f", T, "id", "job:etl:load"): Derivation(
            AT, frozenset({"INDIRECT:JOIN:masked", "INDIRECT"})
        ),
        ColumnKey(A, "k", T, "old", "job:etl:load"): Derivation(AT, frozenset({"DIRECT:MASKED"})),
        ColumnKey(Name("db", "c"), "month", T, "", "job:etl:load"): Derivation(
            AT, frozenset({"DIRECT"})
        ),
    }
    assert set(delta.derivations) == {
        DerivationKey(T, name, "job:etl:load") for name in (A, B, Name("db", "c"))
    }
    assert delta.runs["run:r"].outputs["dataset:db:t"].derived == {A, B, Name("db", "c")}
    assert delta.datasets["dataset:db:c"].span is None, "only mentioned"
    assert "columnLineage" not in delta.datasets["dataset:db:t"].facets


@pytest.mark.parametrize(
    "lineage",
    [
        5,
        [],
        {"fields": []},
        {"fields": {"id": {}}},
        {"fields": {"id": {"inputFields": [{"namespace": "db", "field": "x"}]}}},
        {"fields": {"id": {"inputFields": [{"namespace": "db", "name": " ", "field": "x"}]}}},
        {"fields": {"": {"inputFields": [{"namespace": "db", "name": "a", "field": "x"}]}}},
    ],
)
def test_a_malformed_column_lineage_leaves_the_event_valid(lineage: object) -> None:
    delta = delta_of(run_event(outputs=[dataset("t", {"columnLineage": lineage})]))
    assert not delta.columns
    assert delta.runs["run:r"].outputs["dataset:db:t"].derived == set()
