"""One event that changes too much of the graph for one transaction does not stop the others.

A real Neo4j times out: an alias joins four datasets with 1,500 runs, in a transaction that may last
six times as long as that of another event.
"""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import Database, Transaction
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import read_checkpoint
from tests.checkpoints import counts
from tests.conftest import Neo4jServer
from tests.run_builders import RECEIVED

# On a busy machine each of some seven time limits is tens of seconds.
pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(1200)]

RUNS = 1_500
NAMES = ("a", "b", "c", "d")
PRODUCER = "https://example.com/p"


class ImpatientDatabase(Database):
    """A database with a time limit for every transaction that writes."""

    seconds_max = 60.0

    def begin(self, *, seconds: float = 60.0) -> Transaction:
        return super().begin(seconds=min(seconds, self.seconds_max))


def run(number: int) -> bytes:
    """Return an event of a run that reads one dataset and writes the next."""
    event = {
        "eventTime": f"2026-01-01T{number // 3_600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "eventType": "COMPLETE",
        "producer": PRODUCER,
        "run": {"runId": f"r{number}"},
        "job": {"namespace": "etl", "name": f"job{number % 5}"},
        "inputs": [{"namespace": "s", "name": NAMES[number % 4]}],
        "outputs": [{"namespace": "s", "name": NAMES[(number + 1) % 4]}],
    }
    return json.dumps(event).encode()


def alias() -> bytes:
    others: list[dict[str, Any]] = [
        {"namespace": "s", "name": name, "type": "TABLE"} for name in NAMES[1:]
    ]
    facet = {"_producer": PRODUCER, "_schemaURL": "https://x.example/1", "identifiers": others}
    dataset = {"namespace": "s", "name": NAMES[0], "facets": {"symlinks": facet}}
    event = {"eventTime": "2026-01-02T00:00:00Z", "producer": PRODUCER, "dataset": dataset}
    return json.dumps(event).encode()


def test_it_is_set_aside_listed_and_folded_when_there_is_time(
    graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    impatient = ImpatientDatabase(neo4j_server.uri, neo4j_server.user, neo4j_server.password)
    with closing(impatient), closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append([run(number) for number in range(RUNS)], received=RECEIVED)
        worker = Worker(impatient, spool)
        worker.run(until_done=True)
        spool.append([run(RUNS)], received=RECEIVED + RUNS)
        began = time.monotonic()
        assert worker.step() == 1
        impatient.seconds_max = 6 * (time.monotonic() - began)
        print(f"limit {impatient.seconds_max:.3f} s")

        later = [run(RUNS + 1 + number) for number in range(5)]
        spool.append([later[0], alias(), *later[1:]], received=RECEIVED + RUNS + 1)
        worker.run(until_done=True)
        slow = RUNS + 3
        assert counts(read_checkpoint(graph, spool.id)) == (RUNS + 7, RUNS + 6, 1)
        [letter] = spool.dead_letters()
        assert letter.seq == slow
        assert f"`headwater dead-letters retry {slow}`" in letter.reason
        assert names(graph) == [1, 1, 1, 1]

        impatient.seconds_max = 600.0
        assert spool.retry([slow]) == [slow]
        Worker(impatient, spool).run(until_done=True)
        assert spool.dead_count() == 0
        assert names(graph) == [4]
        [row] = graph.ask("MATCH (r:PipelineRun) RETURN count(r) AS runs", {})
        assert row["runs"] == RUNS + 6


def names(graph: Database) -> list[int]:
    """Return how many names each dataset has."""
    rows = graph.ask(
        "MATCH (d:Dataset {namespace: 's'}) OPTIONAL MATCH (n)-[:SYMLINK_OF]->(d) "
        "RETURN d.name AS name, count(n) AS others",
        {},
    )
    return [1 + row["others"] for row in rows]
