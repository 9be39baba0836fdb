"""A new context is empty, and contexts share no state."""

from __future__ import annotations

from typing import cast

from headwater.cypher.driver.database import Transaction
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.context import WriteContext
from headwater.schema.delta import GraphDelta
from headwater.schema.naming import load_naming


def test_contexts_share_no_state() -> None:
    nothing = cast(Transaction, None)
    first, second = (
        WriteContext(nothing, WriteCache(), load_naming(), GraphDelta()) for _ in range(2)
    )
    first.datasets.names["dataset:a:b"] = None  # type: ignore[assignment]
    first.changes.new.add("run:r")
    first.consumers["run:r"] = None  # type: ignore[assignment]
    first.redeclared_jobs.add("job:a:b")
    first.written_edges["job:a:b", "reads"] = {"dataset:a:b"}
    assert second.datasets.names == {}
    assert second.changes.new == set()
    assert second.consumers == {}
    assert second.redeclared_jobs == set()
    assert second.written_edges == {}
    assert not second.refold
