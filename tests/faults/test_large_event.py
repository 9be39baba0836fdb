"""An event is one transaction: it fits if its changes do, and is dead-lettered alone if not.

The Neo4j of this test limits a transaction to 32 MiB. A column takes about 5.6 kB of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import read_checkpoint
from headwater.local.neo4j import LocalNeo4j
from headwater.local.neo4j_settings import Sizes
from tests.checkpoints import counts
from tests.conftest import jar_cache
from tests.run_builders import RECEIVED

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

LIMIT_MB = 32
FITTING, TOO_MANY = 3_000, 30_000
_RUNS = "MATCH (r:PipelineRun) RETURN r.runId AS id ORDER BY id"
_COLUMNS = "MATCH (c:Column) RETURN count(c) AS columns"


@pytest.fixture(scope="module")
def small_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Yield a database whose transactions may use `LIMIT_MB`."""
    home = tmp_path_factory.mktemp("neo4j")
    sizes = Sizes(transaction_mb=LIMIT_MB)
    with LocalNeo4j(home, bolt_port=0, sizes=sizes, cache=jar_cache()) as running:
        database = Database(running.uri, running.user, running.password)
        with closing(database):
            yield database


def event(run: str, columns: int) -> bytes:
    """Return an event of a run that writes a table of that many columns."""
    fields = [{"name": f"column {number}", "type": "string"} for number in range(columns)]
    table = {"namespace": "db", "name": run, "facets": {"schema": {"fields": fields}}}
    body = {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.com/p",
        "run": {"runId": run},
        "job": {"namespace": "etl", "name": "job"},
        "outputs": [table],
    }
    return json.dumps(body).encode()


def test_the_limit_is_of_the_changes_and_a_larger_event_names_it(
    small_server: Database, tmp_path: Path
) -> None:
    events = [event("before", 1), event("wide", FITTING), event("huge", TOO_MANY)]
    later = [event(f"later-{number}", 1) for number in range(4)]
    batches: list[int] = []
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append([*events, *later], received=RECEIVED)
        Worker(
            small_server, spool, on_commit=lambda report: batches.append(len(report.received))
        ).run(until_done=True)
        assert counts(read_checkpoint(small_server, spool.id)) == (7, 6, 1)
        [letter] = spool.dead_letters()
    assert letter.seq == 3
    assert "needs too much memory" in letter.reason
    assert f"limit {LIMIT_MB}.0 MiB" in letter.reason
    assert batches == [2, 1, 4], "no event was tried once more together with `huge`"
    runs = ["before", *(f"later-{number}" for number in range(4)), "wide"]
    assert [row["id"] for row in small_server.ask(_RUNS, {})] == runs
    assert small_server.ask(_COLUMNS, {}) == [{"columns": FITTING + 5}], "nothing of `huge`"
