"""The digest of a pack: the hashed form, the parser, and the differences it finds."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest

from headwater.errors import QueryError
from headwater.evidence.digest import (
    add_digest,
    canonical_json,
    differences,
    parse_document,
    to_json_value,
)
from tests.evidence.packs import pack


def test_canonical_json_is_as_documented() -> None:
    assert (
        canonical_json({"b": [1, 1.5, None, True], "a": "é<"})
        == b'{"a":"\\u00e9<","b":[1,1.5,null,true]}'
    )
    document = add_digest({"b": 1, "a": 2})
    assert document["digest"]["hash"] == hashlib.sha256(b'{"a":2,"b":1}').hexdigest()
    assert document["digest"]["sections"] == {
        "b": hashlib.sha256(b"1").hexdigest(),
        "a": hashlib.sha256(b"2").hexdigest(),
    }


def test_times_and_nan_become_json_values() -> None:
    time = datetime(2026, 1, 1, tzinfo=UTC)
    assert to_json_value({"at": time, "rows": (float("nan"), 1.5)}) == {
        "at": "2026-01-01T00:00:00Z",
        "rows": ["nan", 1.5],
    }


def test_document_survives_a_round_trip() -> None:
    document = add_digest(pack())
    for text in (json.dumps(document), json.dumps(document, indent=2, sort_keys=True)):
        assert parse_document(text) == document
        assert differences(parse_document(text)) == []
    assert differences(document, expected_hash=f" {document['digest']['hash'].upper()} ") == []


def test_changed_sections_are_named() -> None:
    document = add_digest(pack())
    document["pack"]["runs"]["items"][0]["status"] = "COMPLETE"
    del document["pack"]["owners"]
    document["pack"]["quality"] = []
    found = differences(document)
    assert found[:3] == [
        "section owners is missing, but it is in the digest",
        "section quality is not in the digest",
        "section runs was changed",
    ]
    assert found[3].startswith("the hash of the pack is ")
    assert len(found) == 4


def test_new_digest_of_a_changed_pack_differs_from_the_recorded_hash() -> None:
    recorded = add_digest(pack())["digest"]["hash"]
    changed = pack()
    changed["violations"] = []
    assert differences(add_digest(changed)) == []
    assert differences(add_digest(changed), expected_hash=recorded) != []


def test_further_keys_and_another_algorithm_are_differences() -> None:
    document = add_digest(pack())
    document["comment"] = "all is well"
    document["digest"]["algorithm"] = "MD5"
    assert differences(document) == [
        "the file has keys other than `pack` and `digest`",
        "the algorithm of the digest is 'MD5', not SHA-256",
    ]


def test_duplicate_key_is_refused() -> None:
    text = json.dumps(add_digest(pack()))
    doubled = text.replace('{"format"', '{"violations": [], "format"')
    assert parse_document(text)["pack"]["violations"] != []
    with pytest.raises(QueryError, match="duplicate key"):
        parse_document(doubled)


@pytest.mark.parametrize(
    "text",
    [
        '{"pack": {"a": 1e999}, "digest": {}}',
        '{"pack": {"a": NaN}, "digest": {}}',
        "",
        "[]",
        "{}",
        '{"pack": {}}',
        '{"pack": [], "digest": {}}',
        "[" * 100_000,
    ],
)
def test_text_that_is_no_pack_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="no evidence pack"):
        parse_document(text)
