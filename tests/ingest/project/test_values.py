"""Values of facts as properties, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.schema.urns import artifact_urn
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
