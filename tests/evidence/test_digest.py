"""The seal and the page, without a graph: what is hashed, what a change shows as, and text that means harm."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from headwater.errors import QueryError
from headwater.evidence.digest import canonical, differences, plain, read, sealed
from headwater.evidence.page import page, page_differences, read_page

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\x00"


def pack(name: str = "orders") -> dict[str, Any]:
    node = {
        "urn": f"dataset:db:{name}",
        "kind": "DATASET",
        "namespace": name,
        "name": name,
        "sides": [],
    }
    job = {
        "urn": f"job:etl:{name}",
        "kind": "JOB",
        "namespace": "etl",
        "name": name,
        "sides": ["UPSTREAM"],
    }
    return {
        "format": "headwater-evidence/1",
        "headwater": name,
        "made": "2026-01-01T00:00:00Z",
        "subject": {**node, "properties": {"description": name, name: name}},
        "lineage": {
            "bounds": {"depth": 10},
            "truncated": {"UPSTREAM": name, "DOWNSTREAM": None},
            "nodes": [node, job],
            "edges": [{"source": job["urn"], "target": node["urn"], "type": name}],
        },
        "runs": {
            "perJob": 10,
            "items": [{"status": name, "error": name, "runId": name}],
            "moreOf": [name],
        },
        "codeVersions": [{"job": name, "versions": [name]}],
        "versions": {"perDataset": 10, "items": [{"dataset": name, "drift": [name]}], "moreOf": []},
        "freshness": [{"dataset": name, "updatedAt": None, "ageSeconds": 5}],
        "violations": [{"kind": name, "at": None, "urn": name, "what": name}],
        "owners": [{"urn": name, "owners": [name]}],
        "tags": [{"urn": name, "tags": [name]}],
    }


def test_the_canonical_spelling_is_the_documented_one() -> None:
    assert (
        canonical({"b": [1, 1.5, None, True], "a": "é<"})
        == b'{"a":"\\u00e9<","b":[1,1.5,null,true]}'
    )
    document = sealed({"b": 1, "a": 2})
    assert document["seal"]["hash"] == hashlib.sha256(b'{"a":2,"b":1}').hexdigest()
    assert document["seal"]["sections"] == {
        "b": hashlib.sha256(b"1").hexdigest(),
        "a": hashlib.sha256(b"2").hexdigest(),
    }


def test_values_become_what_json_has() -> None:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    assert plain({"at": when, "rows": (float("nan"), 1.5)}) == {
        "at": "2026-01-01T00:00:00Z",
        "rows": ["nan", 1.5],
    }


def test_a_sealed_document_comes_back_as_it_was() -> None:
    document = sealed(pack())
    for text in (json.dumps(document), json.dumps(document, indent=2, sort_keys=True)):
        assert read(text) == document
        assert differences(read(text)) == []
    assert differences(document, noted=f" {document['seal']['hash'].upper()} ") == []


def test_what_differs_is_named() -> None:
    document = sealed(pack())
    document["pack"]["runs"]["items"][0]["status"] = "COMPLETE"
    del document["pack"]["owners"]
    document["pack"]["quality"] = []
    said = differences(document)
    assert said[:3] == [
        "owners was sealed and is gone",
        "quality is there and was not sealed",
        "runs is not as it was sealed",
    ]
    assert said[3].startswith("the hash of the pack is ")
    assert len(said) == 4


def test_a_pack_that_was_sealed_anew_differs_from_the_hash_that_was_noted() -> None:
    noted = sealed(pack())["seal"]["hash"]
    changed = pack()
    changed["violations"] = []
    assert differences(sealed(changed)) == []
    assert differences(sealed(changed), noted=noted) != []


def test_what_is_beside_the_pack_and_another_algorithm_are_told() -> None:
    document = sealed(pack())
    document["comment"] = "all is well"
    document["seal"]["algorithm"] = "MD5"
    assert differences(document) == [
        "there is more in the file than a pack and its seal",
        "the seal is not a SHA-256: 'MD5'",
    ]


def test_a_name_that_stands_twice_is_refused() -> None:
    text = json.dumps(sealed(pack()))
    doubled = text.replace('{"format"', '{"violations": [], "format"')
    assert read(text)["pack"]["violations"] != []
    with pytest.raises(QueryError, match="stands twice"):
        read(doubled)


@pytest.mark.parametrize(
    "text",
    [
        '{"pack": {"a": 1e999}, "seal": {}}',
        '{"pack": {"a": NaN}, "seal": {}}',
        "",
        "[]",
        "{}",
        '{"pack": {}}',
        '{"pack": [], "seal": {}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_pack_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="no evidence pack"):
        read(text)


class Elements(HTMLParser):
    """What a browser would make of it: its elements with their attributes, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def parsed(text: str) -> Elements:
    found = Elements()
    found.feed(text)
    return found


def test_names_that_mean_harm_are_only_text() -> None:
    text = page(sealed(pack(EVIL)))
    harmless, harmed = parsed(page(sealed(pack()))), parsed(text)
    # The same elements with the same attributes, but for titles of their own.
    assert [(tag, sorted(attributes)) for tag, attributes in harmed.elements] == [
        (tag, sorted(attributes)) for tag, attributes in harmless.elements
    ]
    assert [
        tag for tag, _ in harmed.elements if tag in {"img", "iframe", "object", "link", "base"}
    ] == []
    assert text.count("<script") == 1
    assert "\u202e" not in text
    assert "\x00" not in text
    assert "alert(1)" in "".join(harmed.said)
    assert page_differences(text) == []


def test_the_page_needs_nothing_else_and_says_so() -> None:
    text = page(sealed(pack()))
    elements = parsed(text).elements
    policy = next(a["content"] for tag, a in elements if tag == "meta" and "http-equiv" in a) or ""
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert [tag for tag, a in elements if {"src", "href", "style"} & a.keys()] == []
    assert [a for tag, a in elements if tag == "script"] == [
        {"type": "application/json", "id": "evidence"}
    ]
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


def test_a_page_holds_the_whole_document() -> None:
    document = sealed(pack(EVIL))
    assert read_page(page(document)) == document
    assert page(read_page(page(document))) == page(document)


def test_a_page_whose_shown_text_was_changed_is_found_out() -> None:
    text = page(sealed(pack()))
    assert text.count("<dd>1</dd>") == 1
    assert "does not show" in page_differences(text.replace("<dd>1</dd>", "<dd>0</dd>"))[0]


def test_a_page_whose_data_were_changed_is_found_out() -> None:
    text = page(sealed(pack()))
    changed = text.replace('"kind":"orders"', '"kind":"nothing"')
    assert changed != text
    assert page_differences(changed)[0] == "violations is not as it was sealed"


def test_a_page_of_a_pack_that_cannot_be_drawn_is_not_verified() -> None:
    odd = copy.deepcopy(pack())
    del odd["subject"]["kind"]
    text = page(sealed(pack()))
    block = json.dumps(sealed(odd))
    swapped = re.sub(
        r'(id="evidence">).*?(</script>)', lambda m: m[1] + block + m[2], text, flags=re.DOTALL
    )
    assert "does not show" in page_differences(swapped)[0]


def test_a_page_without_or_with_two_documents_is_refused() -> None:
    text = page(sealed(pack()))
    for wrong in ("<html></html>", text + text):
        with pytest.raises(QueryError, match="no page of an evidence pack"):
            read_page(wrong)
