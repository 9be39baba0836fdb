"""Escaping of values for HTML."""

from __future__ import annotations

from headwater.pictures.html_escape import escape, shorten


def test_markup_and_quotes_are_escaped() -> None:
    assert escape("<a b='c' d=\"e\">&") == "&lt;a b=&#x27;c&#x27; d=&quot;e&quot;&gt;&amp;"


def test_invisible_characters_are_shown_by_their_code_point() -> None:
    assert escape("a\u202eb\x00\u200b") == "a\\u202eb\\u0000\\u200b"
    assert escape("line\nbreak\ttab") == "line\nbreak\ttab"


def test_other_values_are_shown_as_json() -> None:
    assert escape(None) == ""
    assert escape(True) == "true"
    assert escape({"b": 1, "a": "é"}) == "{&quot;a&quot;: &quot;é&quot;, &quot;b&quot;: 1}"


def test_the_end_of_a_long_name_is_kept() -> None:
    assert shorten("orders", 6) == "orders"
    assert shorten("shop.orders", 6) == "…rders"
