"""The search for forgotten values, by their keyed hashes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.errors import SettingsError
from headwater.ingest.receive.forgotten import Forgotten, hash_value, load_forgotten, mask_of

KEY = b"a key of the tests"


def forgotten(*values: str) -> Forgotten:
    return Forgotten(KEY, [hash_value(KEY, value) for value in values])


def mask(value: str) -> str:
    return mask_of(hash_value(KEY, value)[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ann@example.com", "{}"),
        ("by Ann@Example.com, and others", "by {}, and others"),
        ("/data/ann_example_com/x", "/data/{}/x"),
        ("?mail=ann%40example.com&x", "?mail={}&x"),
        ("joann@example.com", None),
        ("ann@example.comet", None),
        ("ann example", None),
        ("ann@example.com ANN@example.com", "{} {}"),
        # Percent-encoded letters: no part of the text can be cut.
        ("%61nn@example.com/x", "{}/x"),
        ("", None),
    ],
)
def test_a_value_is_found_by_its_words(text: str, expected: str | None) -> None:
    found = forgotten("ann@example.com").rewrite_text(text)
    if expected is None:
        assert found is text
    else:
        assert found == expected.replace("{}", mask("ann@example.com"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"{\"mail\": \"ann.m\u00fcller@example.com\"}", r"{\"mail\": \"{}\"}"),
        (r"{\\\"x\\\": \\\"ann.m\\u00FCller\\u0040example.com\\\"}", r"{\\\"x\\\": \\\"{}\\\"}"),
        (r"first\nann.müller@example.com\nlast", r"first\n{}\nlast"),
        (r"C:\new\ann.müller@example.com", r"C:\new\{}"),
        ("by ann.mu\u0308ller@example.com", "by {}"),
        ("ann.mül\u200bler@exam\u00adple.com.", "{}."),
        ("ann.m%25C3%25BCller%2540example.com", "{}"),
        ("ann.m&uuml;ller&#64;example.com", "{}"),
        (r"joann.m\u00fcller@example.com", None),
        (r"ann.m\u00fcllers@example.com", None),
    ],
)
def test_a_value_is_found_in_every_encoding(text: str, expected: str | None) -> None:
    found = forgotten("ann.müller@example.com").rewrite_text(text)
    if expected is None:
        assert found is text
    else:
        assert found == expected.replace("{}", mask("ann.müller@example.com"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # These took time by the square of their length.
        ("\\" * 300_000 + "x anna", "\\" * 300_000 + "x {}"),
        ("\\" * 300_000 + "nanna", "\\" * 300_000 + "n{}"),
        ("\\u0061" * 100_000 + " anna", "\\u0061" * 100_000 + " {}"),
        # Python reads no number of that many digits.
        ("&#" + "0" * 5_000 + "97;nna", "{}"),
        ("&#" + "9" * 5_000 + "; anna", "&#" + "9" * 5_000 + "; {}"),
    ],
)
def test_long_runs_of_escapes(text: str, expected: str) -> None:
    assert forgotten("anna").rewrite_text(text) == expected.replace("{}", mask("anna"))


def test_values_of_other_scripts_and_several_lengths() -> None:
    search = forgotten("José Núñez", "José Núñez López", "Иванов")
    assert search.rewrite_text("JOSÉ NÚÑEZ LÓPEZ") == mask("José Núñez López")
    assert search.rewrite_text("jose-josé_núñez!") == f"jose-{mask('José Núñez')}!"
    assert search.rewrite_text("ИВАНОВ") == mask("Иванов")
    assert search.rewrite_text("Jos%C3%A9 N%C3%BA%C3%B1ez") == mask("José Núñez")


def test_only_strings_and_numbers_with_the_value_change() -> None:
    search = forgotten("4711081500", "ann smith")
    body = (
        b'{"a" : 4711081500, "b":[ "x 4711081500", 1.50, "\\u0061nn\\tsmith"],'
        b' "ann smith":{"c":["ann","smith"]}, "d":"\\ud800"}'
    )
    number, name = mask("4711081500"), mask("ann smith")
    assert (
        search.rewrite(body)
        == (
            f'{{"a" : "{number}", "b":[ "x {number}", 1.50, "{name}"],'
            f' "{name}":{{"c":["ann","smith"]}}, "d":"\\ud800"}}'
        ).encode()
    )
    assert json.loads(search.rewrite(body))
    clean = b'{"a": 4711, "b": "ann"}'
    assert search.rewrite(clean) is clean


def test_a_body_that_is_no_json_is_searched_as_text() -> None:
    search = forgotten("ann smith")
    assert search.rewrite(b'{"broken: ann smith \xff') == (
        b'{"broken: ' + mask("ann smith").encode() + b" \xff"
    )


def test_a_rewritten_body_has_nothing_more_to_rewrite() -> None:
    search = forgotten("ann smith")
    once = search.rewrite(b'["Ann Smith", "ann_smith"]')
    assert search.rewrite(once) is once


def test_the_list_has_no_value_and_another_key_finds_nothing() -> None:
    hash, words = hash_value(KEY, "ann smith")
    assert (len(hash), words) == (64, 2)
    other = Forgotten(b"another key", [(hash, words)])
    text = "ann smith"
    assert other.rewrite_text(text) is text


def test_a_malformed_list_is_named(tmp_path: Path) -> None:
    assert load_forgotten(tmp_path / "forgotten.json", KEY) is None
    (tmp_path / "forgotten.json").write_text("[{}]")
    with pytest.raises(SettingsError, match=r"forgotten\.json cannot be read"):
        load_forgotten(tmp_path / "forgotten.json", KEY)


@pytest.mark.parametrize("number", [b"9" * 5_000, b"1e999", b'"\xff"', b'"\\ud800"'])
def test_a_body_with_values_that_python_cannot_hold_is_searched_as_json(number: bytes) -> None:
    body = b'{"n":' + number + b',"who":"\\u0061nn smith","id":123456}'
    clean = forgotten("ann smith", "123456").rewrite(body)
    written = json.dumps(mask("ann smith")).encode(), json.dumps(mask("123456")).encode()
    assert clean == b'{"n":' + number + b',"who":%b,"id":%b}' % written
