"""The quick checks pass no text that the close check would change, however JSON escapes it."""

from __future__ import annotations

import json

import pytest

from headwater.ingest.receive import redact as redact_module
from headwater.ingest.receive.personal_values import redaction_classes
from headwater.ingest.receive.redact import Redactor
from headwater.settings import Settings
from tests.ingest.receive.labelled_texts import labelled_texts
from tests.ingest.receive.unseen_secrets import planted

CLASSES = redaction_classes(Settings().redaction_classes)
BEFORE = ["", "x ", "\n", "\t", "\r\n", "\b", "\x01", "\u201c", "\u2028", "é ", "\\", '"', "-", "("]
CARDS = ["4111 1111 1111 1111", "4111111111111111", "4111-1111-1111-1111", "378282246310005"]


def encodings(text: str) -> list[bytes]:
    """Return JSON of one text: with raw characters, with escapes, and with all as \\uXXXX."""
    units = text.encode("utf-16-be")
    escapes = "".join(f"\\u{units[at]:02x}{units[at + 1]:02X}" for at in range(0, len(units), 2))
    return [
        json.dumps({"query": text}, ensure_ascii=False).encode(),
        json.dumps({"query": text}).encode(),
        f'{{"query": "{escapes}"}}'.encode(),
    ]


def redacted(text: str) -> list[str]:
    """Return the texts that each encoding has after redaction."""
    redactor = Redactor(b"a key", CLASSES)
    return [json.loads(redactor.redact(body))["query"] for body in encodings(text)]


def test_the_quick_checks_hide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [one.text for one in planted(seed=7)]
    texts += [one.text for one in labelled_texts(seed=7, count=20)]
    texts = [
        BEFORE[(n + step) % len(BEFORE)] + text for n, text in enumerate(texts) for step in (0, 5)
    ]
    texts += [before + card for card in CARDS for before in BEFORE]
    with_checks = [redacted(text) for text in texts]
    monkeypatch.setattr(redact_module, "is_suspicious", lambda _: True)
    monkeypatch.setattr(redact_module, "_harmless", lambda _: False)
    hidden = {
        text: found
        for text, found in zip(texts, with_checks, strict=True)
        if found != redacted(text)[:1] * 3
    }
    assert hidden == {}
