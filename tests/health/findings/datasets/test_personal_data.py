"""Personal data in the words about a dataset."""

from __future__ import annotations

import pytest

from headwater.health.findings.datasets.history import Described
from headwater.health.findings.datasets.personal_data import detect_personal_data
from tests.health.findings.datasets.histories import day, history


def places(*texts: Described) -> list[tuple[str, list[str]]]:
    found = detect_personal_data(history(descriptions=texts), day(9))
    return [(one["place"], one["kinds"]) for episode in found for one in episode.evidence["places"]]


@pytest.mark.parametrize(
    ("place", "text", "kinds"),
    [
        ("description", "Ask ann@shop.example for access.", ["email"]),
        ("description", "Ask <email:3f2a9c0d1e2f> for access.", ["email"]),
        ("columns.mail.description", "such as 4111 1111 1111 1111", ["card"]),
        ("name", "mails/ann@shop.example.csv", ["email"]),
        ("tags", "gold\nreviewer=ann@shop.example", ["email"]),
    ],
)
def test_personal_data(place: str, text: str, kinds: list[str]) -> None:
    assert places(Described("name", "orders"), Described(place, text)) == [(place, kinds)]


def test_the_evidence_never_has_the_value() -> None:
    column = "columns.ann@shop.example.name"
    given = history(descriptions=(Described(column, "ann@shop.example"),))
    [found] = detect_personal_data(given, day(9))
    assert found.evidence == {
        "places": [{"place": "name of a column", "kinds": ["email"]}],
        "count": 1,
    }
    assert (found.key, found.first_seen) == ("metadata", day(0))


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("description", "The orders of a day; 100 % of them."),
        ("tags", "owner=ann@shop.example"),
        ("name", "abfss://container@account.dfs.core.windows.net/orders"),
        ("name", "export_4111111111111111.csv"),
        ("columns.mail.name", "mail"),
    ],
)
def test_no_personal_data(place: str, text: str) -> None:
    assert places(Described(place, text)) == []
