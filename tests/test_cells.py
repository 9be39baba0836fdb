"""Cells: text that neither commands a terminal nor breaks a line, and instants as ISO 8601."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from headwater.cells import one_line, text_of, to_json, without_controls

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("delays", "delays"),
        (True, "true"),
        (3.5, "3.5"),
        (NOON, "2026-01-31T12:00:00Z"),
        (["a", 1, None, NOON], "a, 1, , 2026-01-31T12:00:00Z"),
        ([], ""),
        ({"at": NOON}, '{"at": "2026-01-31T12:00:00Z"}'),
        ([{"a": "é"}], '[{"a": "é"}]'),
    ],
)
def test_text_of_a_value(value: object, text: str) -> None:
    assert text_of(value) == text


def test_text_of_events_cannot_command_a_terminal() -> None:
    hostile = "a\x1b[31mb\x07\x9b\u202e\ud800c"
    for shown in (text_of(hostile), text_of([hostile]), text_of({"k": hostile}), one_line(hostile)):
        assert not any(one in shown for one in "\x1b\x07\x9b\u202e\ud800")
    assert without_controls("a\tb\nc") == "a\tb\nc"
    assert one_line("a\tb\r\nc\u2028d") == "a b c d"


def test_json_holds_instants_as_text() -> None:
    assert json.loads(to_json({"at": NOON, "name": "é"})) == {
        "at": "2026-01-31T12:00:00Z",
        "name": "é",
    }
