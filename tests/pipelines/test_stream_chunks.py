"""Messages of one task: parsed, counted and folded to a chunk; bad ones become dead messages."""

from __future__ import annotations

import json
import time

import pytest
from msgspec.structs import replace

from headwater.ingest.fold import fold
from headwater.pipelines.stream_chunks import Message, MessageRules
from headwater.schema.events import parse
from headwater.schema.naming import load_naming
from tests.run_builders import RECEIVED, run

RULES = MessageRules(b"a key of the tests", load_naming(), 100_000, 60)


def message(body: bytes, start: int = 0, received: int = RECEIVED) -> Message:
    return Message("topic", 0, start, received, None, body)


def events(*names: str) -> list[bytes]:
    bodies: list[bytes] = []
    for name in names:
        bodies += [json.dumps(event).encode() for event in run(name, "job", ["a"], ["b"])]
    return bodies


def test_a_chunk_is_the_fold_of_its_messages() -> None:
    bodies = events("r1", "r2")
    chunk = RULES.chunk(message(body, start) for start, body in enumerate(bodies))
    assert chunk.delta == fold(parse(body, received=RECEIVED) for body in bodies)
    assert (chunk.events, chunk.dead) == (len(bodies), [])


def test_chosen_classes_are_hashed_in_messages_and_dead_ones() -> None:
    rules = replace(RULES, redaction_classes=frozenset({"name"}))
    bad = b'{"description": "Ana Silva called"}'
    [dead] = rules.chunk([message(bad)]).dead
    assert b"<name:" in dead.message.body
    assert b"Silva" not in dead.message.body
    assert bad == RULES.chunk([message(bad)]).dead[0].message.body


def test_bad_messages_are_dead_and_do_not_stop_the_others() -> None:
    good = events("r1")
    large = json.dumps({"producer": "x" * 100_000}).encode()
    bodies = [b"{", *good, large, b'{"mail": "jane.doe@example.com"}']
    chunk = RULES.chunk(message(body, start) for start, body in enumerate(bodies))
    assert chunk.delta == fold(parse(body, received=RECEIVED) for body in good)
    first, second, third = chunk.dead
    assert [one.message.start for one in chunk.dead] == [0, len(good) + 1, len(good) + 2]
    assert "JSON" in first.reason
    assert (second.reason, second.message.body) == ("the event is larger than 100000 bytes", b"")
    assert b"jane.doe" not in third.message.body


def test_a_message_that_neo4j_refused_is_dead() -> None:
    bodies = events("r1")
    chunk = RULES.chunk(map(message, bodies), {0: "refused by Neo4j"})
    assert [one.reason for one in chunk.dead] == ["refused by Neo4j"]
    assert chunk.delta == fold(parse(body, received=RECEIVED) for body in bodies[1:])


def test_a_time_of_receipt_in_the_future_is_now() -> None:
    tomorrow = time.time_ns() // 1_000 + 86_400_000_000
    chunk = RULES.chunk([message(events("r1")[0], received=tomorrow)])
    assert chunk.received[0] <= time.time_ns() // 1_000


@pytest.mark.parametrize("received", [-(2**63) + 1, -1, 0, 999])
def test_without_a_time_of_receipt_it_is_now(received: int) -> None:
    before = time.time_ns() // 1_000
    chunk = RULES.chunk([message(events("r1")[0], received=received)])
    assert before <= chunk.received[0] <= time.time_ns() // 1_000


def without_time(body: bytes, sent: str | None = None) -> bytes:
    return json.dumps({**json.loads(body), "eventTime": sent}).encode()


def test_a_message_without_a_time_of_day_is_dead() -> None:
    body = events("r1")[0]
    bodies = [without_time(body), without_time(body, "2026-01-01")]
    chunk = RULES.chunk(map(message, bodies))
    assert [dead.reason.partition(":")[0] for dead in chunk.dead] == ["eventTime"] * 2
    lenient = replace(RULES, allow_missing_event_time=True).chunk(map(message, bodies))
    assert len(lenient.dead) == 1
    assert [event.instant for event in lenient.delta.undated.values()] == [RECEIVED]


def test_a_message_from_the_future_is_left_to_the_writer() -> None:
    body = without_time(events("r1")[0], "2099-01-01T00:00:00Z")
    chunk = RULES.chunk([message(body, received=RECEIVED), message(body, received=RECEIVED + 5)])
    assert (chunk.dead, chunk.delta.runs) == ([], {})
    (undated,) = chunk.delta.undated.values()
    assert (undated.instant, undated.received) == (RECEIVED, RECEIVED + 5)
