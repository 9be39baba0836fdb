"""Long texts: windows find what one search over the whole text finds."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.receive import long_texts
from headwater.ingest.receive.long_texts import OVERLAP, WINDOW, matches, replaced
from headwater.ingest.receive.redact import Redactor

PATTERNS = [
    r"a+",
    r"'[^']{1,9}'",
    r"\ba",
    r"(?<=b)a",
    r"a(?=b)",
    r"(a)(b?)",
    r"b(?!a)",
    r"(?s:a.*+)",
]


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_texts, "WINDOW", 7)
    monkeypatch.setattr(long_texts, "OVERLAP", 12)


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text(alphabet="ab' ", max_size=60))
def test_windows_find_what_one_search_finds(pattern: str, text: str) -> None:
    compiled = re.compile(pattern)
    spans = [found.span() for found in compiled.finditer(text)]
    assert [found.span() for found in matches(compiled, text)] == spans
    assert replaced(compiled, r"<\g<0>>", text) == compiled.sub(r"<\g<0>>", text)
    assert replaced(compiled, lambda one: one[0] * 2, text) == compiled.sub(
        lambda one: one[0] * 2, text
    )


SECRETS = [
    "password = hunter2secret",
    "postgres://etl:hunter2@db",
    "'DB_PASSWORD': 'hunter2'",
    "passwords:\n  - hunter2\n  - hunter3\n",
    "curl -u etl:hunter2",
    "Authorization: Bearer abcdefgh12345678",
    "<password>hunter2</password>",
    "anna@example.com",
    "4111 1111 1111 1111",
    "123-45-6789",
    "DE89 3704 0044 0532 0130 00",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_the_border_of_a_window_hides_no_secret(secret: str) -> None:
    for shift in (0, 1, len(secret) // 2, len(secret)):
        text = " \n" * ((WINDOW - shift) // 2) + secret + "\n" * 99
        assert _redacted(text) == _redacted(secret)


def _redacted(text: str) -> list[str]:
    """Return the words of a redacted text."""
    body = json.dumps({"query": text}).encode()
    redacted = Redactor(b"key", frozenset({"iban", "ssn"})).redact(body)
    return str(json.loads(redacted)["query"]).split()


def test_a_match_longer_than_a_window_is_whole() -> None:
    text = " " * 10 + "secret=" + "x" * (3 * WINDOW) + " " + "y" * WINDOW
    found = list(matches(re.compile(r"secret=\S++"), text))
    assert [one.span() for one in found] == [(10, 17 + 3 * WINDOW)]


def test_no_search_is_longer_than_a_window_and_its_overlap() -> None:
    text = "ab " * WINDOW
    found = list(matches(re.compile("a"), text))
    assert len(found) == WINDOW
    assert max(one.endpos - one.pos for one in found) <= WINDOW + OVERLAP
