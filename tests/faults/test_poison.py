"""Damaged records and malformed bodies among good ones are dead-lettered with a reason.

Nothing else changes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from contextlib import closing
from typing import Any

import apsw
import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.schema import headwater_facets as native
from tests.canonical import canonical
from tests.faults.history import counted, events_of, expected, history
from tests.faults.load import Load
from tests.faults.oracle import folded_at_once
from tests.faults.processes import Installation

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    event = json.loads(events_of(0)[0])
    change(event)
    return json.dumps(event).encode()


# Bodies that the API would refuse, each with a part of the reason.
MALFORMED = [
    (b"", "not JSON"),
    (b"not json", "not JSON"),
    (b"\xff\xfe\x00", "not JSON"),
    (b"[]", "not an OpenLineage event"),
    (b"[" * 100_000, ""),
    (b'{"answer": 42}', "it has no run, job or dataset"),
    (changed(lambda event: event.pop("job")), "job"),
    (changed(lambda event: event.update(eventTime="2026-02-30T00:00:00Z")), "eventTime"),
    (changed(lambda event: event["run"].update(runId=" ")), "run.runId"),
]


def insert(connection: apsw.Connection, body: bytes) -> int:
    connection.execute(
        "INSERT INTO event(received, checksum, body) VALUES(1, ?, ?)", (zlib.crc32(body), body)
    )
    return connection.last_insert_rowid()


def flip_a_bit(connection: apsw.Connection, seq: int) -> None:
    body = bytearray(connection.execute("SELECT body FROM event WHERE seq = ?", (seq,)).get)
    body[len(body) // 2] ^= 1
    connection.execute("UPDATE event SET body = ? WHERE seq = ?", (bytes(body), seq))


def event_counts(home: Installation) -> dict[str, int]:
    names = ("events_received", "events_folded", "events_dead", "spool_depth")
    values = {
        name: int(home.metric(f"headwater_{name}{'_total' if 'events' in name else ''}"))
        for name in names
    }
    assert (
        values["events_received"]
        == values["events_folded"] + values["events_dead"] + values["spool_depth"]
    )
    assert values["spool_depth"] >= 0
    return values


def test_poison_is_dead_lettered(home: Installation, graph: Database) -> None:
    good = history(200)
    home.start_api()
    with Load(home.port, [[body] for body in good[:200]], clients=2):
        pass
    with closing(apsw.Connection(str(home.spool_path))) as connection:
        inserted = {insert(connection, body): reason for body, reason in MALFORMED}
        damaged = [3, 90, 170]
        originals = [
            bytes(connection.execute("SELECT body FROM event WHERE seq = ?", (seq,)).get)
            for seq in damaged
        ]
        for seq in damaged:
            flip_a_bit(connection, seq)
    with Load(home.port, [[body] for body in [*good[200:], *originals]], clients=2):
        pass
    before = event_counts(home)
    received = len(good) + len(originals) + len(MALFORMED)
    assert before == {
        "events_received": received,
        "events_folded": 0,
        "events_dead": 0,
        "spool_depth": received,
    }

    home.worker.start()
    home.wait_folded(graph, 60)
    poison = len(MALFORMED) + len(damaged)
    assert event_counts(home) == {
        "events_received": received,
        "events_folded": received - poison,
        "events_dead": poison,
        "spool_depth": 0,
    }
    with closing(Spool(home.spool_path)) as spool:
        reasons = {dead.seq: dead.reason for dead in spool.dead_letters()}
    assert reasons.keys() == {*inserted, *damaged}
    assert all("damaged" in reasons[seq] for seq in damaged)
    for seq, reason in inserted.items():
        assert reason in reasons[seq]
    # The damaged events were sent again, so the graph is complete. Poison left nothing in it.
    assert counted(graph) == expected(200)
    assert canonical(graph) == folded_at_once(graph, good)


LONG = "x" * 60_000


def extreme_events() -> list[bytes]:
    """Return valid events with names too long for an index and numbers too large for Neo4j."""
    return [
        changed(lambda event: event["inputs"][0].update(name=LONG)),
        changed(lambda event: event["outputs"][0].update(namespace=LONG)),
        changed(lambda event: event["job"].update(name=LONG)),
        changed(lambda event: event["run"].update(runId=LONG)),
        changed(
            lambda event: event["outputs"][0]["facets"]["schema"]["fields"].append(
                {"name": LONG, "type": LONG}
            )
        ),
        changed(
            lambda event: event["outputs"][0]["outputFacets"]["outputStatistics"].update(
                rowCount=10**30
            )
        ),
        changed(
            lambda event: event["outputs"][0]["outputFacets"]["outputStatistics"].update(
                rowCount="many"
            )
        ),
        changed(lambda event: event.update(eventTime="0001-01-01T00:00:00Z")),
        changed(lambda event: event.update(eventTime="9999-12-31T23:59:59Z")),
        changed(lambda event: event["inputs"][0].update(name="nul \0, quote ', slash /, tick `")),
        json.dumps(
            native.answer_event(LONG, cites=[{"namespace": "db", "name": LONG}], content=LONG)
        ).encode(),
    ]


def test_extreme_events_do_not_stop_the_worker(home: Installation, graph: Database) -> None:
    good = history(100)
    bodies = extreme_events()
    home.start_api()
    with Load(home.port, [[body] for body in [*good[:100], *bodies, *good[100:]]], clients=1):
        pass
    home.worker.start()
    checkpoint = home.wait_folded(graph, 60)
    with closing(Spool(home.spool_path)) as spool:
        for dead in spool.dead_letters():
            print(dead.seq - 101, dead.reason[:150])
        assert {dead.seq for dead in spool.dead_letters()} <= set(range(101, 101 + len(bodies)))
    assert checkpoint.position == len(good) + len(bodies)
    assert checkpoint.folded >= len(good)
    assert (
        graph.ask(
            "MATCH (r:PipelineRun) WHERE r.runId STARTS WITH '0000' RETURN count(r) AS n", {}
        )[0]["n"]
        == 100
    )
    assert event_counts(home)["spool_depth"] == 0
    assert home.worker.running
