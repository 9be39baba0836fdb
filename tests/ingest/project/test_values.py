"""Values of facts as properties, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from headwater.ingest.fold import fold
from headwater.ingest.project import dataset_view, job_properties, run_view
from headwater.schema.events import parse
from headwater.schema.urns import artifact_urn
from tests.histories import histories
from tests.ingest.project.projections import (
    FACET,
    event,
    output,
    run,
    schema,
    table,
)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (0, 0),
        (-1, -1),
        ("12", 12),
        (12.0, 12),
        (12.5, None),
        (2**63 - 1, 2**63 - 1),
        (2**63, None),
        (-(2**70), None),
        ("many", None),
        (True, None),
        (None, None),
        ([1], None),
    ],
)
def test_counts(sent: Any, shown: int | None) -> None:
    made = run(event(1, "COMPLETE", outputs=[output(sent, size=7)])).artifacts[
        artifact_urn("db", "t", "r")
    ]
    assert made["rowCount"] == shown
    assert made["bytes"] == 7, "one odd count does not take the others with it"


def test_the_last_schema_counts_and_may_be_deleted() -> None:
    assert table(schema({"name": "a"}), schema({"name": "b"})).node["columns"] == ["b"]
    assert (
        table(schema({"name": "a"}), {"schema": {**FACET, "_deleted": True}}).node["columns"]
        is None
    )


@given(histories)
def test_each_kind_of_node_always_has_the_same_properties(bodies: list[bytes]) -> None:
    """A writer compares each property of a state with that of the state before."""
    delta = fold(parse(body, received=0) for body in bodies)
    runs = [run_view(facts, {}) for facts in delta.runs.values()]
    kinds = (
        [run.node for run in runs],
        [version for run in runs for version in run.artifacts.values()],
        [dataset_view(facts).node for facts in delta.datasets.values()],
        [job_properties(facts) for facts in delta.jobs.values()],
    )
    for nodes in kinds:
        assert all(node.keys() == nodes[0].keys() for node in nodes)
