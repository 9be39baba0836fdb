"""The HTML page of a pack, without a graph: hostile text and changes that verification finds."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser

import pytest

from headwater.errors import QueryError
from headwater.evidence.digest import add_digest
from headwater.evidence.page import page_differences, parse_page, render_page
from tests.evidence.packs import pack

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\x00"


class Elements(HTMLParser):
    """The elements with their attributes, and the texts, as a browser would parse them."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parse_html(text: str) -> Elements:
    parsed = Elements()
    parsed.feed(text)
    return parsed


def test_hostile_names_stay_text() -> None:
    text = render_page(add_digest(pack(HOSTILE)))
    harmless, hostile = parse_html(render_page(add_digest(pack()))), parse_html(text)
    # The same elements with the same attributes; only the titles differ.
    assert [(tag, sorted(attributes)) for tag, attributes in hostile.elements] == [
        (tag, sorted(attributes)) for tag, attributes in harmless.elements
    ]
    assert [
        tag for tag, _ in hostile.elements if tag in {"img", "iframe", "object", "link", "base"}
    ] == []
    assert text.count("<script") == 1
    assert "\u202e" not in text
    assert "\x00" not in text
    assert "alert(1)" in "".join(hostile.texts)
    assert page_differences(text) == []


def test_page_refers_to_no_external_resource() -> None:
    text = render_page(add_digest(pack()))
    elements = parse_html(text).elements
    policy = next(a["content"] for tag, a in elements if tag == "meta" and "http-equiv" in a) or ""
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert [tag for tag, a in elements if {"src", "href", "style"} & a.keys()] == []
    assert [a for tag, a in elements if tag == "script"] == [
        {"type": "application/json", "id": "evidence"}
    ]
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


def test_page_contains_the_complete_document() -> None:
    document = add_digest(pack(HOSTILE))
    assert parse_page(render_page(document)) == document
    assert render_page(parse_page(render_page(document))) == render_page(document)


def test_changed_visible_text_is_detected() -> None:
    text = render_page(add_digest(pack()))
    assert text.count("<dd>1</dd>") == 1
    assert "does not show" in page_differences(text.replace("<dd>1</dd>", "<dd>0</dd>"))[0]


def test_changed_data_is_detected() -> None:
    text = render_page(add_digest(pack()))
    changed = text.replace('"kind":"orders"', '"kind":"nothing"')
    assert changed != text
    assert page_differences(changed)[0] == "section violations was changed"


def test_document_that_cannot_be_rendered_is_not_verified() -> None:
    odd = copy.deepcopy(pack())
    del odd["subject"]["kind"]
    text = render_page(add_digest(pack()))
    block = json.dumps(add_digest(odd))
    swapped = re.sub(
        r'(id="evidence">).*?(</script>)', lambda m: m[1] + block + m[2], text, flags=re.DOTALL
    )
    assert "does not show" in page_differences(swapped)[0]


def test_page_with_no_or_two_documents_is_refused() -> None:
    text = render_page(add_digest(pack()))
    # Each opening without an end was searched to the end of the page.
    openings = '<script type="application/json" id="evidence">' * 20_000
    for wrong in ("<html></html>", text + text, openings):
        with pytest.raises(QueryError, match="no page of an evidence pack"):
            parse_page(wrong)
