"""The classes that tags and names of columns give."""

from __future__ import annotations

import pytest

from headwater.governance.personal_data.classes import (
    canonical_class,
    class_of_name,
    class_of_tag,
    classes,
    classes_of_tags,
    covers,
)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("pii", "pii"),
        ("PII=true", "pii"),
        ("contains_pii=yes", "pii"),
        ("pii=email", "email"),
        ("pii=E-Mail", "email"),
        ("classification=pii", "pii"),
        ("classification=SSN", "ssn"),
        ("sensitivity=dateOfBirth", "birth-date"),
        ("gdpr", "pii"),
        ("tier=gdpr", "pii"),
        ("pii=loyalty_card", "loyalty_card"),
        ("pii=false", None),
        ("pii=none", None),
        ("classification=confidential", None),
        ("classification=public", None),
        ("owner=email", None),
        ("email", None),
        ("certified", None),
        ("", None),
        ("=", None),
        ("=pii", "pii"),
        ("pii=" + "x" * 600, "pii"),
    ],
)
def test_a_tag_names_a_class(tag: str, expected: str | None) -> None:
    assert class_of_tag(tag) == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("email", "email"),
        ("customer_email_address", "email"),
        ("contactEMail", "email"),
        ("phone_number", "phone"),
        ("mobile", "phone"),
        ("firstName", "name"),
        ("customer_name", "name"),
        ("product_name", None),
        ("DateOfBirth", "birth-date"),
        ("dob", "birth-date"),
        ("ssn", "ssn"),
        ("iban", "iban"),
        ("credit_card_number", "card"),
        ("shipping_address", "address"),
        ("client_ip", "ip-address"),
        ("person.address.zip_code", "address"),
        ("zip", None),
        ("description", None),
        ("flight", None),
        ("tailnum", None),
        ("x" * 10_000, None),
        ("_".join(["a"] * 49), None),
    ],
)
def test_the_name_of_a_column_suggests_a_class(column: str, expected: str | None) -> None:
    assert class_of_name(column) == expected


def test_tags_name_several_classes() -> None:
    assert classes_of_tags(["pii=email", "gdpr", "certified"]) == {"email", "pii"}


def test_words_for_a_class_are_one_class() -> None:
    assert canonical_class("E-Mail") == "email"
    assert canonical_class(" Credit Card ") == "card"
    assert canonical_class("loyalty") == "loyalty"


def test_the_generic_class_covers_every_class() -> None:
    assert covers("pii", "email")
    assert covers("email", "email")
    assert not covers("email", "phone")
    assert not covers("email", "pii")


def test_the_documented_classes_are_known_by_their_own_names() -> None:
    assert {"email", "phone", "ssn", "iban", "name", "birth-date"} <= classes().keys()
    assert all(one.title and canonical_class(name) == name for name, one in classes().items())
