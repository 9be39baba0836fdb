"""A worker with pipelined transactions writes the same graph as one transaction."""

from __future__ import annotations

import random
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.schema.events import parse
from tests.canonical import canonical, empty
from tests.checkpoints import counts
from tests.histories import histories
from tests.run_builders import RECEIVED


@pytest.mark.neo4j
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(histories, st.randoms(use_true_random=False))
def test_a_pipelined_worker_writes_the_same_graph(
    database: Database, bodies: list[bytes], chance: random.Random
) -> None:
    shuffled = bodies + chance.choices(bodies, k=2)
    chance.shuffle(shuffled)
    empty(database)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Spool(Path(folder) / "spool.db")) as spool,
    ):
        spool.append(shuffled, received=RECEIVED)
        Worker(database, spool, events_max=chance.choice([1, 2, 3])).run(until_done=True)
        assert counts(read_checkpoint(database, spool.id)) == (len(shuffled), len(shuffled), 0)
    pipelined = canonical(database)
    empty(database)
    delta = fold(parse(body, received=0) for body in bodies)
    count = len(bodies)
    write(
        database,
        WriteRequest(
            delta, spool="s", before=Checkpoint(), after=Checkpoint(count, count, 0), holder="test"
        ),
    )
    assert canonical(database) == pipelined
