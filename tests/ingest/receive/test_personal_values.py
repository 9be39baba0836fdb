"""Redaction of IBANs, social security numbers and phone numbers, if a deployment chooses them."""

from __future__ import annotations

import json

import pytest

from headwater.errors import SettingsError
from headwater.ingest.receive.personal_values import PersonalValues, redaction_classes
from headwater.ingest.receive.redact import Redactor
from tests.ingest.receive.labelled_texts import Labelled, labelled_texts

KEY = b"a key of the tests"
ALL = frozenset({"iban", "ssn", "phone"})


def shown(text: str, *classes: str) -> str:
    values = PersonalValues(frozenset(classes) or ALL)
    return values.redact(text, lambda kind, value: f"<{kind} {value}>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("to DE89 3704 0044 0532 0130 00 FOR ANA", "to <iban DE89370400440532013000> FOR ANA"),
        ("GB82WEST12345698765432.", "<iban GB82WEST12345698765432>."),
        ("DE88 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"),
        ("DE89370400440532013000A", "DE89370400440532013000A"),
        ("XX89370400440532013000", "XX89370400440532013000"),
        ("DE89 3704", "DE89 3704"),
        ("ssn 123-45-6789, 123 45 6789", "ssn <ssn 123-45-6789>, <ssn 123-45-6789>"),
        ("000-45-6789 666-45-6789 912-45-6789", "000-45-6789 666-45-6789 912-45-6789"),
        ("123-00-6789 123-45-0000 123-45 6789", "123-00-6789 123-45-0000 123-45 6789"),
        ("5123-45-67890", "5123-45-67890"),
        ("call +49 30 901820 now", "call <phone +4930901820> now"),
        ("+999 1234567 and +1.5", "+999 1234567 and +1.5"),
    ],
)
def test_values(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_national_numbers_of_a_region() -> None:
    assert shown("call 030 901820", "phone:DE") == "call <phone +4930901820>"
    assert shown("call 030 901820", "phone") == "call 030 901820"
    assert shown("<email:123456789012>", "phone:US") == "<email:123456789012>"


def test_a_redactor_hashes_the_chosen_classes_in_texts_only() -> None:
    facets = {
        "description": "pay DE89 3704 0044 0532 0130 00",
        "name": "DE89370400440532013000",
        "runId": "123-45-6789",
        "note": "123-45-6789",
    }
    body = json.dumps({"run": {"facets": facets}}).encode()
    assert Redactor(KEY).redact(body) is body
    redactor = Redactor(KEY, frozenset({"iban"}))
    clean = redactor.redact(body)
    found = json.loads(clean)["run"]["facets"]
    assert found["description"].startswith("pay <iban:")
    assert {**found, "description": ""} == {**facets, "description": ""}
    assert redactor.redact(clean) is clean
    # One account has one hash, however it is written.
    other = redactor.redact(b'{"description": "pay DE89370400440532013000"}')
    assert json.loads(other)["description"] == found["description"]


@pytest.mark.parametrize("setting", ["names", "iban,cats", "phone:XQ"])
def test_an_unknown_class_is_refused(setting: str) -> None:
    with pytest.raises(SettingsError, match="HEADWATER_REDACTION_CLASSES"):
        PersonalValues(redaction_classes(setting))


def test_the_setting() -> None:
    assert redaction_classes("") == frozenset()
    assert redaction_classes(" IBAN, phone:de,") == frozenset({"iban", "phone:DE"})


def found_in(values: PersonalValues, one: Labelled) -> set[str]:
    kinds: set[str] = set()

    def note(kind: str, _: str) -> str:
        kinds.add(kind)
        return ""

    values.redact(one.text, note)
    return kinds


def test_recall_and_false_positives_on_labelled_texts() -> None:
    """The figures of docs/how-to/personal-data.md: 200 values of each class, 600 that are none."""
    values = PersonalValues(ALL)
    texts = labelled_texts(17)
    recall = {}
    for kind in sorted(ALL):
        of_kind = [one for one in texts if one.kind == kind]
        recall[kind] = sum(kind in found_in(values, one) for one in of_kind) / len(of_kind)
    harmless = [one for one in texts if not one.kind]
    wrong = sum(bool(found_in(values, one)) for one in harmless) / len(harmless)
    print(recall, wrong)
    assert recall["iban"] == recall["ssn"] == 1.0
    assert recall["phone"] >= 0.95
    assert wrong <= 0.02
    may_be = [values.may_be_in(one.text.encode()) for one in texts if one.kind]
    assert all(may_be)
