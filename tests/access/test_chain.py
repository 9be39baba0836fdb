"""Tampering with the access log is found with its position, in the store and in an export; nothing else is reported."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from headwater.access.audit_export import export_line, read_export
from headwater.access.chain import Link, Verification, link_hash, verify_chain
from headwater.errors import QueryError

SEED = 20_261_124
ROUNDS = 200
ENTRIES = 60


class Head(NamedTuple):
    entries: int
    hash: str


def chained(values: list[tuple[int, str, str, str, str]], first: int = 1) -> list[Link]:
    """Return entries with the hashes that the log computes."""
    links, before = [], ""
    for seq, each in enumerate(values, first):
        links.append(Link(seq, *each, previous=before, hash=link_hash(before, *each)))
        before = links[-1].hash
    return links


@pytest.fixture(scope="module")
def log() -> list[Link]:
    values = []
    for number in range(ENTRIES):
        detail = json.dumps({"number": number, "text": 'é\n"\u2028' * (number % 3)}, sort_keys=True)
        outcome = ("done", "refused", "answered 3 rows")[number % 3]
        values.append((1_700_000_000_000_000 + number, f"key {number % 4}", "a", outcome, detail))
    return chained(values)


def exported(links: list[Link]) -> list[bytes]:
    return [export_line(link).encode() + b"\n" for link in links]


def position(found: Verification) -> int:
    assert found.problem is not None
    return found.problem.position


def stored(links: list[Link]) -> list[Link]:
    """Return links as the store reads them: the predecessor is the entry before in the file."""
    read, before = [], ""
    for link in links:
        read.append(link._replace(previous=before))
        before = link.hash
    return read


def edit(draw: random.Random, links: list[Link]) -> int:
    at = draw.randrange(len(links))
    change: dict[str, Any] = draw.choice(
        [
            {"principal": "somebody"},
            {"at": links[at].at + 1},
            {"action": "b"},
            {"outcome": "failed"},
            {"detail": '{"number": -1}'},
            {"hash": "0" * 64},
        ]
    )
    links[at] = links[at]._replace(**change)
    return at + 1


def delete(draw: random.Random, links: list[Link]) -> int:
    at = draw.randrange(len(links) - 1)
    count = draw.randint(1, len(links) - 1 - at)
    del links[at : at + count]
    return at + count + 1


def swap(draw: random.Random, links: list[Link]) -> int:
    """Swap the values of two entries; each keeps the number of its place."""
    one, other = sorted(draw.sample(range(len(links)), 2))
    links[one], links[other] = (
        links[other]._replace(seq=links[one].seq),
        links[one]._replace(seq=links[other].seq),
    )
    return one + 1


@pytest.mark.parametrize("tamper", [edit, delete, swap])
def test_tampering_is_found_at_its_position(
    log: list[Link], tamper: Callable[[random.Random, list[Link]], int]
) -> None:
    draw = random.Random(SEED)
    for _ in range(ROUNDS):
        changed = list(log)
        expected = tamper(draw, changed)
        assert position(verify_chain(stored(changed))) == expected
        assert position(verify_chain(read_export(exported(changed)))) == expected


def test_a_cut_end_is_found_by_a_head(log: list[Link]) -> None:
    draw = random.Random(SEED)
    for _ in range(ROUNDS):
        rest = draw.randrange(ENTRIES)
        signed = log[draw.randrange(rest, ENTRIES)]
        head = Head(signed.seq, signed.hash)
        assert verify_chain(log[:rest]).problem is None
        assert position(verify_chain(log[:rest], heads=[head])) == rest + 1


def test_a_chain_that_was_computed_again_is_found_by_a_head(log: list[Link]) -> None:
    draw = random.Random(SEED)
    for _ in range(ROUNDS):
        changed = draw.randrange(ENTRIES)
        values = [link[1:6] for link in log]
        values[changed] = (values[changed][0] - 1, *values[changed][1:])
        again = chained(values)
        signed = log[draw.randrange(changed, ENTRIES)]
        assert verify_chain(again).problem is None
        found = verify_chain(again, heads=[Head(ENTRIES, log[-1].hash), Head(*signed[::7])])
        assert position(found) == signed.seq


def test_any_other_byte_in_an_export_is_found(log: list[Link]) -> None:
    draw = random.Random(SEED)
    whole = b"".join(exported(log))
    for _ in range(ROUNDS):
        at = draw.randrange(len(whole))
        other = bytes([draw.choice([byte for byte in range(32, 127) if byte != whole[at]])])
        lines = (whole[:at] + other + whole[at + 1 :]).splitlines(keepends=True)
        assert position(verify_chain(read_export(lines))) == whole.count(b"\n", 0, at) + 1


def test_nothing_is_reported_of_an_untouched_log(log: list[Link]) -> None:
    heads = [Head(link.seq, link.hash) for link in log]
    assert verify_chain(log, heads=heads) == (ENTRIES, 1, ENTRIES, None)
    lines = exported(log)
    assert verify_chain(read_export(lines), heads=heads).problem is None
    for first in range(2, ENTRIES + 1):
        part = lines[first - 1 :]
        assert verify_chain(read_export(part), first=first, heads=heads[first - 2 :]) == (
            ENTRIES - first + 1,
            first,
            ENTRIES,
            None,
        )
    assert verify_chain([], heads=[Head(0, "")]) == (0, 1, 0, None)


def test_a_part_must_say_where_it_begins(log: list[Link]) -> None:
    assert position(verify_chain(read_export(exported(log)[4:]))) == 5
    assert position(verify_chain(read_export(exported(log)[4:]), first=4)) == 5
    with pytest.raises(QueryError, match="older than entry 5"):
        verify_chain(read_export(exported(log)[4:]), first=5, heads=[Head(3, log[2].hash)])


def test_a_line_has_the_fields_of_the_common_schema(log: list[Link]) -> None:
    assert json.loads(export_line(log[1])) == {
        "@timestamp": "2023-11-14T22:13:20.000001+00:00",
        "ecs.version": "8.11",
        "event.dataset": "headwater.audit",
        "event.kind": "event",
        "event.category": ["configuration"],
        "event.action": "a",
        "event.outcome": "failure",
        "event.sequence": 2,
        "event.hash": log[1].hash,
        "user.name": "key 1",
        "headwater.audit.outcome": "refused",
        "headwater.audit.detail": {"number": 1, "text": 'é\n"\u2028'},
        "headwater.audit.previous_hash": log[0].hash,
    }
    categories = {
        "POST /session": "authentication",
        "GET /session/oidc/callback": "authentication",
        "POST /cypher": "database",
        "keys create": "iam",
        "GET /access/log": "iam",
        "rebuild": "configuration",
        "GET /metrics": "web",
    }
    for action, category in categories.items():
        shown = json.loads(export_line(log[1]._replace(action=action)))
        assert shown["event.category"] == [category]
