"""The fold in Spark's workers, without Spark: batches of events to joined bundles of rows."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any

import msgspec
import pyarrow as pa

from headwater.ingest.fold import fold
from headwater.ingest.receive.redact import Redactor
from headwater.pipelines.fold_partition import (
    FoldRules,
    RefusedEvent,
    fold_batches,
    join_batches,
    read_rules,
)
from headwater.pipelines.rows import Counts, Kind, Row, Totals, rows_to_delta, unpack
from headwater.pipelines.shuffle import merge_bundles
from headwater.schema.events import parse
from headwater.schema.naming import load_naming
from headwater.settings import load
from tests.run_builders import RECEIVED, run

RULES = FoldRules(load_naming(), b"a key of the tests", 100_000)
READ = pa.schema(
    [
        ("body", pa.binary()),
        ("received", pa.int64()),
        ("file", pa.string()),
        ("start", pa.int64()),
        ("number", pa.int64()),
        ("checksum", pa.int64()),
    ]
)


def batch(bodies: Iterable[bytes], start: int = 0, file: str = "/f.jsonl") -> pa.RecordBatch:
    rows = [
        {"body": body, "received": RECEIVED, "file": file, "start": start, "number": None}
        for body in bodies
    ]
    return pa.RecordBatch.from_pylist(rows, schema=READ)


def joined(*batches: pa.RecordBatch, rules: FoldRules = RULES) -> list[Row]:
    """Return all rows in write order, as the driver gets them."""
    parts: list[dict[str, Any]] = []
    for one in fold_batches(batches, rules, {}, 16):
        parts += one.to_pylist()
    parts.sort(key=lambda row: row["bucket"])
    by_bucket = pa.RecordBatch.from_pylist(parts)
    bundles: list[dict[str, Any]] = []
    for one in join_batches([by_bucket.select(["bucket", "rows"])]):
        bundles += one.to_pylist()
    bundles.sort(key=lambda bundle: (bundle["kind"], bundle["at"], bundle["key"]))
    return list(merge_bundles(unpack(bundle["rows"]) for bundle in bundles))


def events() -> list[bytes]:
    bodies: list[bytes] = []
    for name in ("r1", "r2"):
        bodies += [json.dumps(event).encode() for event in run(name, "job", ["a"], ["b"])]
    return bodies


def counts(rows: list[Row]) -> tuple[Counts, Totals]:
    by_kind = {row.kind: row.fact for row in rows if row.kind in (Kind.COUNTS, Kind.TOTALS)}
    return (
        msgspec.msgpack.decode(by_kind[Kind.COUNTS], type=Counts),
        msgspec.msgpack.decode(by_kind[Kind.TOTALS], type=Totals),
    )


def test_the_rows_are_the_delta_of_the_events() -> None:
    bodies = events()
    rows = joined(batch([*bodies, b"", b"  "]))
    facts = [row for row in rows if row.kind > Kind.REFUSED]
    assert rows_to_delta(facts) == fold(parse(body, received=RECEIVED) for body in bodies)
    assert counts(rows)[0] == Counts(events=len(bodies))


def test_chosen_classes_are_hashed_as_by_the_api() -> None:
    variables = {
        "HEADWATER_REDACTION_CLASSES": "name,iban",
        "HEADWATER_REDACTION_KEY": "a key of the tests",
    }
    rules = read_rules(load(variables))
    note = {"_producer": "p", "_schemaURL": "s", "note": "Ana Silva pays GB82WEST12345698765432"}
    event = run("r1", "job", ["a"], ["b"])[0]
    event["run"]["facets"] = {"note": note}
    body = json.dumps(event).encode()
    rows = joined(batch([body]), rules=rules)
    facts = [row for row in rows if row.kind > Kind.REFUSED]
    redacted = Redactor(b"a key of the tests", frozenset({"name", "iban"})).redact(body)
    assert rows_to_delta(facts) == fold([parse(redacted, received=RECEIVED)])
    assert b"Silva" not in redacted
    assert b"GB82" not in redacted


def test_copies_are_counted_and_folded_once() -> None:
    bodies = events()
    rows = joined(batch(bodies + bodies))
    facts = [row for row in rows if row.kind > Kind.REFUSED]
    assert rows_to_delta(facts) == fold(parse(body, received=RECEIVED) for body in bodies)
    assert counts(rows)[0].events == 2 * len(bodies)


def test_a_refused_event_has_its_reason_and_line() -> None:
    body = events()[0]
    blocks = [batch([body, b"{"]), batch([b"[1]", body]), batch([b"{"], start=500)]
    rows = joined(*blocks)
    refused = [
        msgspec.msgpack.decode(row.fact, type=RefusedEvent)
        for row in rows
        if row.kind == Kind.REFUSED
    ]
    positions = sorted((one.start, one.number) for one in refused)
    # Lines go on in the next batch of one block, and begin again in another block.
    assert positions == [(0, 2), (0, 3), (500, 1)]
    assert all(one.file == "/f.jsonl" and one.reason for one in refused)


def test_a_damaged_event_of_a_lake_is_refused() -> None:
    good, bad = events()[:2]
    rows = [
        {"body": body, "received": RECEIVED, "file": "/x.parquet", "start": 0, "number": 7}
        | {"checksum": zlib.crc32(good)}
        for body in (good, bad)
    ]
    found = joined(pa.RecordBatch.from_pylist(rows, schema=READ))
    [refused] = [row for row in found if row.kind == Kind.REFUSED]
    letter = msgspec.msgpack.decode(refused.fact, type=RefusedEvent)
    assert "checksum" in letter.reason
    assert letter.number == 7


def test_files_need_a_time_of_day_and_a_lake_keeps_what_was_accepted() -> None:
    dateless = [
        json.dumps({**json.loads(body), "eventTime": sent}).encode()
        for body, sent in zip(events(), (None, "2026-01-01"), strict=False)
    ]
    of_files = joined(batch(dateless))
    refused = [
        msgspec.msgpack.decode(row.fact, type=RefusedEvent).field
        for row in of_files
        if row.kind == Kind.REFUSED
    ]
    assert refused == ["eventTime", "eventTime"]
    rows = [
        {"body": body, "received": RECEIVED, "file": "/x.parquet", "start": 0, "number": number}
        | {"checksum": zlib.crc32(body)}
        for number, body in enumerate(dateless)
    ]
    of_lake = joined(pa.RecordBatch.from_pylist(rows, schema=READ))
    assert [row for row in of_lake if row.kind == Kind.REFUSED] == []
    delta = rows_to_delta([row for row in of_lake if row.kind > Kind.REFUSED])
    assert [event.instant for event in delta.undated.values()] == [RECEIVED]
    assert {state for _, state in delta.runs["run:r1"].states} == {"COMPLETE"}


def test_of_copies_from_the_future_the_earliest_receipt_counts() -> None:
    ahead = json.dumps({**json.loads(events()[0]), "eventTime": "2099-01-01T00:00:00Z"}).encode()
    rows = [
        {"body": ahead, "received": received, "file": "/f.jsonl", "start": 0, "number": None}
        for received in (RECEIVED + 7, RECEIVED, RECEIVED + 9)
    ]
    batches = [pa.RecordBatch.from_pylist([row], schema=READ) for row in rows]
    found = joined(*batches)
    delta = rows_to_delta([row for row in found if row.kind > Kind.REFUSED])
    assert [event.instant for event in delta.undated.values()] == [RECEIVED]
    assert delta.runs == {}
    assert counts(found)[0].events == 3
