"""Send events from files: JSON lines, arrays, single objects, gzip; and list dead letters."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from headwater.cli import send


def batches(path: Path) -> list[tuple[int, list[bytes]]]:
    return list(send._batches(str(path)))


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ('{"a": 1}\n\n{"a": 2}\n', [b'{"a": 1}', b'{"a": 2}']),
        ('\n[{"a": 1},\n {"a": 2}]', [b'{"a":1}', b'{"a":2}']),
        ('{"a":\n 1}', [b'{"a":1}']),
        ('[{"a": 1e999},\n {"b": "\\ud800"}]', [b'{"a":1e999}', '{"b":"\ufffd"}'.encode()]),
        (f'[{{"a":\n {"9" * 5_000}}}]', [b'{"a":' + b"9" * 5_000 + b"}"]),
        ("[" * 3_000, [b"[" * 3_000]),
        ('{"a": 1}\n{broken\n{"a": 3}', [b'{"a": 1}', b"{broken", b'{"a": 3}']),
        ("", []),
    ],
)
def test_forms_of_a_file(tmp_path: Path, text: str, events: list[bytes]) -> None:
    plain, packed = tmp_path / "events", tmp_path / "packed"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    expected = [(0, events)] if events else []
    assert batches(plain) == expected
    assert batches(packed) == expected


def test_a_batch_ends_at_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send, "BATCH_EVENTS_MAX", 2)
    file = tmp_path / "events.jsonl"
    file.write_text('{"a": 1}\n{"a": 2}\n{"a": 3}\n')
    assert batches(file) == [(0, [b'{"a": 1}', b'{"a": 2}']), (2, [b'{"a": 3}'])]
