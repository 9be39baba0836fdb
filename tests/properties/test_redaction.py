"""Laws of redaction: a second redaction changes nothing, and equal values have equal hashes."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.receive.personal_values import redaction_classes
from headwater.ingest.receive.redact import Redactor
from headwater.settings import Settings
from tests.ingest.receive.hard_values import TEXTS

KEY = b"a key of the tests"
CLASSES = redaction_classes(Settings().redaction_classes)
HASH = re.compile(r"<(\w+):[0-9a-f]{12}>")
PERSONAL = {
    "email": ["ana.lee@example.com", "ANA.LEE@example.com", "ana.lee%40example.com"],
    "card": ["4111 1111 1111 1111", "4111111111111111", "4111-1111-1111-1111"],
    "iban": ["DE89 3704 0044 0532 0130 00", "DE89370400440532013000"],
    "ssn": ["123-45-6789", "123 45 6789"],
    "phone": ["+49 30 901820", "+4930901820"],
}

hard = st.sampled_from([text.replace("SECRET", secret) for text, secret in TEXTS])
spellings = [(kind, value) for kind, values in PERSONAL.items() for value in values]
marks = st.sampled_from(
    ["password: ", "token=", "'", '"', "\\", "***", "\n", "- ", "://", "@", "{", "}", "[", "]",
     ": ", "=", "sig=", "Cookie: ", "<email:", "%40", "unexpected ", "hw_", " -p", "curl -u a:"]
)  # fmt: skip
words = st.text("abXY01 _-.,;/", max_size=8)
texts = st.lists(hard | marks | words | st.sampled_from([value for _, value in spellings])).map(
    "".join
)
names = st.sampled_from(
    ["name", "namespace", "runId", "query", "stackTrace", "dbPassword", "value", "key", "note"]
)
values = st.recursive(
    texts | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | texts, inner, max_size=4),
    max_leaves=8,
)


def redactor() -> Redactor:
    return Redactor(KEY, CLASSES)


@given(values)
def test_a_second_redaction_changes_nothing(value: Any) -> None:
    once = redactor().redact(json.dumps({"x": value}).encode())
    assert redactor().redact(once) == once


@given(values)
def test_a_redacted_event_is_json_of_the_same_shape(value: Any) -> None:
    clean = json.loads(redactor().redact(json.dumps({"x": value}).encode()))["x"]
    assert type(clean) is type(value) or clean == "***"


@given(st.sampled_from(spellings), words, words, st.sampled_from(["query", "note", "message"]))
def test_each_spelling_of_a_value_has_one_hash(
    spelling: tuple[str, str], before: str, after: str, name: str
) -> None:
    kind, value = spelling
    alone = redactor().redact(json.dumps({"x": PERSONAL[kind][0]}).encode())
    event = json.dumps({name: f"{before} | {value} | {after}"}).encode()
    redacted = redactor().redact(event)
    expected = HASH.search(alone.decode())
    assert expected is not None
    assert expected[1] == kind
    assert expected[0] in redacted.decode()
    assert value not in redacted.decode()
