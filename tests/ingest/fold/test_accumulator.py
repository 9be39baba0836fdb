"""Repeated facts of one event are joined in one delta."""

from __future__ import annotations

from headwater.ingest.fold import fold
from headwater.schema.delta import GraphDelta
from tests.ingest.fold.folded_events import (
    FACET,
    dataset,
    delta_of,
    run_event,
)


def test_no_events_give_an_empty_delta() -> None:
    assert fold([]) == GraphDelta()


def test_one_event_may_name_a_dataset_twice() -> None:
    rows = {"outputStatistics": {**FACET, "rowCount": 5}}
    run = delta_of(run_event(outputs=[dataset("t"), dataset("t", outputFacets=rows)])).runs["run:r"]
    assert list(run.outputs) == ["dataset:db:t"]
    assert "outputStatistics" in run.outputs["dataset:db:t"].facets
