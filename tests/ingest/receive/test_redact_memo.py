"""The memo of searched pieces never changes the result of a redaction."""

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
_with_memo = Redactor(KEY)
# Starts and ends of pieces, and secrets, also split by the first property of a facet.
TEXTS = [
    "",
    "plain",
    "_producer",
    '"_producer"',
    '\\"_producer',
    "token=",
    "token",
    "=abc ",
    "pass",
    "word=x1",
    "a@",
    "b.co",
    "ana@example.com",
    CARD,
    "4111111111111111",
    "4111 1111 ",
    "1111 1111",
    "'a literal'",
    '"a literal"',
    "sig",
    "&sig=x",
    "signature",
    "identified by ",
    "'x'",
    f"https://u:{CANARY}@h",
    "AKIAIOSFODNN7EXAMPLE",
    "a/b",
    "é",
    "Bearer abcdefgh-1",
]
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


def without_memo() -> Redactor:
    return Redactor(KEY, memo_bytes_max=0)


def written(value: Any, ascii: bool) -> bytes:
    return json.dumps(value, ensure_ascii=ascii, separators=(",", ":") if ascii else None).encode()


@settings(max_examples=200)
@given(values, st.booleans())
def test_the_memo_does_not_change_the_result(value: Any, ascii: bool) -> None:
    body = written(value, ascii)
    clean = without_memo().redact(body)
    assert _with_memo.redact(body) == clean, "with the memo of other events"
    assert _with_memo.redact(body) == clean, "with the memo of this event"


@settings(max_examples=200)
@given(values, st.booleans())
def test_a_body_unchanged_piece_by_piece_is_unchanged_as_a_whole(value: Any, ascii: bool) -> None:
    body = written(value, ascii)
    redactor = without_memo()
    if redactor._is_harmless(body):
        assert redactor._changes(body) == {}


@pytest.mark.parametrize("facet", SECRETS + HARMLESS, ids=str)
def test_every_rule_applies_beside_memoized_pieces(facet: dict[str, Any]) -> None:
    """Every other piece of the event is memoized, and each place of a facet is tried."""
    redactor = Redactor(KEY)
    body = next(events(1, 1))
    assert redactor.redact(body) is body
    for owner in ("run", "job", "inputs", "outputs"):
        event = json.loads(body)
        holder = event[owner][0] if owner.endswith("s") else event[owner]
        holder["facets"]["custom"] = {"_producer": "x", **facet}
        clean = redactor.redact(json.dumps(event).encode())
        assert clean == without_memo().redact(json.dumps(event).encode())
        expected = json.loads(redactor.redact(json.dumps(facet).encode()))
        holder["facets"]["custom"] = {"_producer": "x", **expected}
        assert json.loads(clean) == event


def test_the_pieces_of_a_job_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[bytes] = []
    original = module._harmless

    def recording(piece: bytes) -> bool:
        pieces.append(piece)
        return original(piece)

    monkeypatch.setattr(module, "_harmless", recording)
    redactor = Redactor(KEY)
    first, second = (list(events(1, 1, first=number)) for number in (0, 1))
    for body in first:
        redactor.redact(body)
    searched = len(pieces)
    for body in second:
        assert redactor.redact(body) is body
    assert searched >= 10
    assert len(pieces) - searched <= 4, "only pieces with the run id, the time or the counts"
    assert sum(map(len, pieces[searched:])) < 2_000


def test_a_repeated_secret_is_redacted_each_time() -> None:
    redactor = Redactor(KEY)
    body = json.dumps({"run": {"facets": {"a": {"_producer": "x", "password": CANARY}}}}).encode()
    for _ in range(3):
        assert CANARY.encode() not in redactor.redact(body)
