"""Rule `personal-data-in-metadata`: words about a dataset contain personal data.

Names of datasets and columns, descriptions and tags are searched with the patterns by which events
are redacted. An address that the redaction removed from a description counts as well: its producer
still has it. The evidence has the place and the kind, never the value. A text has no time of its
own, so the finding begins with the first event of the dataset. It is gone with the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headwater.health.findings.datasets.history import DatasetHistory, Described
from headwater.health.findings.models import Episode
from headwater.ingest.receive.redact import find_personal_data

RULE = "personal-data-in-metadata"
KEY = "metadata"
PLACES_MAX = 20
# Tags with these keys name who is responsible.
_CONTACTS = ("owner", "contact", "steward", "maintainer")


def detect_personal_data(history: DatasetHistory, _: datetime) -> Iterator[Episode]:
    """Yield the episode of personal data in the words about a dataset."""
    found = [
        {"place": _place(one), "kinds": sorted(kinds)}
        for one in history.descriptions
        if (kinds := _kinds(one))
    ]
    first, last = history.first_seen, history.last_seen
    if history.is_gone or not found or first is None:
        return
    evidence = {"places": found[:PLACES_MAX], "count": len(found)}
    yield Episode(RULE, history.urn, KEY, first, last or first, evidence=evidence)


def _kinds(one: Described) -> frozenset[str]:
    if one.place.endswith("description"):
        return find_personal_data(one.text)
    lines = [line for line in one.text.splitlines() if not line.casefold().startswith(_CONTACTS)]
    return find_personal_data("\n".join(lines), is_name=True)


def _place(one: Described) -> str:
    """Return the place, without the name of a column that may itself be the personal data."""
    column = one.place.startswith("columns.")
    if column and find_personal_data(one.place, is_name=True):
        return "name of a column" if one.place.endswith(".name") else "description of a column"
    return one.place
