"""What was looked through once is known again by its pieces: that never changes what comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.events import events
from headwater.ingest.receive import redact as module
from headwater.ingest.receive.redact import Redactor
from tests.ingest.receive.test_redact import CANARY, CARD, HARMLESS, SECRETS

KEY = b"a key of the tests"
_remembering = Redactor(KEY)
# What a piece may begin and end with, and what is looked for, also cut in two by a facet's first
# property.
TEXTS = [
    "", "plain", "_producer", '"_producer"', '\\"_producer', "token=", "token", "=abc ", "pass", "word=x1", "a@",
    "b.co", "ana@example.com", CARD, "4111111111111111", "4111 1111 ", "1111 1111", "'a literal'", '"a literal"', "sig",
    "&sig=x", "signature", "identified by ", "'x'", f"https://u:{CANARY}@h", "AKIAIOSFODNN7EXAMPLE", "a/b", "é",
    "Bearer abcdefgh-1",
]  # fmt: skip
NAMES = [
    "_producer",
    "name",
    "value",
    "key",
    "stackTrace",
    "message",
    "DB_PASSWORD",
    "token",
    "description",
    "id",
    "x",
]
texts = st.lists(st.sampled_from(TEXTS), max_size=4).map("".join)
values = st.recursive(
    st.one_of(texts, st.sampled_from(NAMES), st.integers(), st.none(), st.just(4111111111111111)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(NAMES), texts), inner, max_size=5),
    ),
    max_leaves=20,
)


def forgetting() -> Redactor:
    return Redactor(KEY, memo_bytes_max=0)


def written(value: Any, ascii: bool) -> bytes:
    return json.dumps(value, ensure_ascii=ascii, separators=(",", ":") if ascii else None).encode()


@settings(max_examples=200)
@given(values, st.booleans())
def test_the_memo_does_not_change_the_result(value: Any, ascii: bool) -> None:
    body = written(value, ascii)
    clean = forgetting().redact(body)
    assert _remembering.redact(body) == clean, "with what was remembered of other events"
    assert _remembering.redact(body) == clean, "and of this one"


@settings(max_examples=200)
@given(values, st.booleans())
def test_a_body_unchanged_piece_by_piece_is_unchanged_as_a_whole(value: Any, ascii: bool) -> None:
    body = written(value, ascii)
    redactor = forgetting()
    if redactor._is_harmless(body):
        assert redactor._changes(body) == {}


@pytest.mark.parametrize("facet", SECRETS + HARMLESS, ids=str)
def test_every_rule_applies_beside_memoized_pieces(facet: dict[str, Any]) -> None:
    """In an event all of whose other pieces are known, at every place where a facet can be."""
    redactor = Redactor(KEY)
    body = next(events(1, 1))
    assert redactor.redact(body) is body
    for owner in ("run", "job", "inputs", "outputs"):
        event = json.loads(body)
        holder = event[owner][0] if owner.endswith("s") else event[owner]
        holder["facets"]["custom"] = {"_producer": "x", **facet}
        clean = redactor.redact(json.dumps(event).encode())
        assert clean == forgetting().redact(json.dumps(event).encode())
        expected = json.loads(redactor.redact(json.dumps(facet).encode()))
        holder["facets"]["custom"] = {"_producer": "x", **expected}
        assert json.loads(clean) == event


def test_the_pieces_of_a_job_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bytes] = []
    look = module._harmless

    def watched(piece: bytes) -> bool:
        looked.append(piece)
        return look(piece)

    monkeypatch.setattr(module, "_harmless", watched)
    redactor = Redactor(KEY)
    first, second = (list(events(1, 1, first=number)) for number in (0, 1))
    for body in first:
        redactor.redact(body)
    seen = len(looked)
    for body in second:
        assert redactor.redact(body) is body
    assert seen >= 10
    assert len(looked) - seen <= 4, "only what has the run's id, its time and its counts"
    assert sum(map(len, looked[seen:])) < 2_000


def test_a_repeated_secret_is_redacted_each_time() -> None:
    redactor = Redactor(KEY)
    body = json.dumps({"run": {"facets": {"a": {"_producer": "x", "password": CANARY}}}}).encode()
    for _ in range(3):
        assert CANARY.encode() not in redactor.redact(body)
