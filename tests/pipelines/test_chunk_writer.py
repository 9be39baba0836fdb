"""Chunks of a delta: written in any sizes, with interruptions, they make the same graph."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import GraphErasedError, acquire_write_lock
from headwater.cypher.maintenance.erase import erase
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.pipelines.chunk_writer import ChunkWriter
from headwater.pipelines.rows import (
    split_rows,
)
from headwater.schema.naming import load_naming
from tests.canonical import canonical, empty
from tests.histories import histories
from tests.pipelines.test_rows import folded, on_neo4j, sorted_rows
from tests.run_builders import run


@pytest.mark.neo4j
@on_neo4j
@given(histories, st.integers(0, 2**32).map(random.Random))
def test_any_chunks_make_the_same_graph(
    database: Database, bodies: list[bytes], chance: random.Random
) -> None:
    rows = sorted_rows(bodies, chance)
    empty(database)
    writer = ChunkWriter(database, "chunks", load_naming())
    for chunk in split_rows(rows, rows_max=chance.choice([1, 2, 7, 1_000]), bytes_max=2**20):
        # A writer after a killed one begins at the first row again.
        if chance.randrange(10) == 0:
            writer = ChunkWriter(database, "chunks", load_naming())
            writer.write(rows[: writer.resumed])
        writer.write(chunk)
    assert writer.position == len(rows)
    assert read_checkpoint(database, "chunks") == Checkpoint(len(rows), len(rows), 0)
    in_chunks = canonical(database)
    empty(database)
    after = Checkpoint(len(bodies), len(bodies), 0)
    write(
        database,
        WriteRequest(folded(bodies), spool="s", before=Checkpoint(), after=after, holder="test"),
    )
    assert in_chunks == canonical(database)


@pytest.mark.neo4j
@pytest.mark.parametrize("is_interrupted", [False, True])
def test_rows_before_an_erasure_are_missed(
    database: Database, monkeypatch: pytest.MonkeyPatch, *, is_interrupted: bool
) -> None:
    empty(database)
    bodies = [json.dumps(event).encode() for event in run("r", "job", ["a"], ["b"])]
    rows = sorted_rows(bodies, random.Random(1))
    writer = ChunkWriter(database, "chunks", load_naming())
    writer.write(rows[:3])
    if is_interrupted:
        monkeypatch.setattr("time.sleep", lambda _: erase(database, holder="tests"))
        with database.write() as transaction:
            acquire_write_lock(transaction, "tests")
            transaction.run("write/maintenance/begin_erasure", erasure="tests")
    else:
        erase(database, holder="tests")
    with pytest.raises(GraphErasedError):
        writer.write(rows[3:])
    assert read_checkpoint(database, "chunks") == Checkpoint()
    assert canonical(database) == ([], [])
