"""The recall and the false positives of the redaction, on texts that are made from a seed."""

from __future__ import annotations

import json
from collections import Counter

from headwater.ingest.receive.personal_values import redaction_classes
from headwater.ingest.receive.redact import Redactor
from headwater.settings import Settings
from tests.ingest.receive.innocent_texts import innocent
from tests.ingest.receive.unseen_secrets import places, planted

RECALL_MIN, FALSE_POSITIVES_MAX = 0.99, 0.01
redact = Redactor(b"a key of the tests", redaction_classes(Settings().redaction_classes)).redact


def test_recall() -> None:
    planted_texts = planted(seed=77)
    missed: Counter[str] = Counter()
    for number, one in enumerate(planted_texts):
        events = places(one.text)
        # Each text at three places, which differ from text to text.
        for event in (events[(number + step) % len(events)] for step in (0, 3, 6)):
            clean = redact(json.dumps(event).encode())
            assert redact(clean) == clean, one.text
            json.loads(clean)
            missed[one.text] += one.secret.encode() in clean
    found = [text for text, count in missed.items() if count]
    assert len(planted_texts) > 350
    assert len(found) <= (1 - RECALL_MIN) * len(planted_texts), found


def test_false_positives() -> None:
    harmed = [
        one.text
        for one in innocent(seed=77)
        if any(redact(body) != body for body in map(_body, places(one.text)[2:]))
    ]
    assert len(harmed) <= FALSE_POSITIVES_MAX * 500, harmed


def _body(event: dict[str, object]) -> bytes:
    return json.dumps(event).encode()
