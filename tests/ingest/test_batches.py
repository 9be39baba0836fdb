"""Batches: parsed records with their delta, computed by hand."""

from __future__ import annotations

import json

from headwater.ingest.batches import LARGE_EVENT_BYTES, fold_batch, next_batch, parse_record
from headwater.ingest.spool.damage import Record
from headwater.schema.naming import load_naming
from tests.run_builders import RECEIVED

EVENT = json.dumps(
    {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.com/p",
        "job": {"namespace": "etl", "name": "load"},
        "run": {"runId": "r"},
    }
).encode()


def test_a_record_holds_an_event_or_a_reason() -> None:
    good = parse_record(Record(1, 1, EVENT, intact=True))
    assert (good.event is not None, good.reason) == (True, "")
    damaged = parse_record(Record(2, 1, EVENT, intact=False))
    assert damaged.event is None
    assert damaged.reason.startswith("damaged")
    malformed = parse_record(Record(3, 1, b'{"eventTime": 1}', intact=True))
    assert malformed.event is None
    assert malformed.reason.startswith("eventTime: ")


def test_a_batch_folds_its_events_and_names_its_dead() -> None:
    records = [
        parse_record(Record(1, RECEIVED, EVENT, intact=True)),
        parse_record(Record(2, RECEIVED, EVENT, intact=False)),
    ]
    batch = fold_batch(records, load_naming(), future_seconds=60)
    assert list(batch.delta.runs) == ["run:r"]
    assert [seq for seq, _ in batch.dead] == [2]
    assert sum(one.events for one in batch.producer_stats.producers.values()) == 2
    assert batch.error is None


def test_a_large_event_is_a_batch_of_its_own() -> None:
    small, large = b" " * (LARGE_EVENT_BYTES - 1), b" " * LARGE_EVENT_BYTES
    bodies = [small, small, large, large, small]
    records = [Record(seq, 1, body, intact=True) for seq, body in enumerate(bodies)]
    batches = []
    while records:
        batches.append(len(next_batch(records)))
        records = records[batches[-1] :]
    assert batches == [2, 1, 1, 1]
    assert next_batch([]) == []
