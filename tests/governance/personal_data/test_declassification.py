"""Declassifications as approvals under a policy of their own."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import msgspec

from headwater.governance.personal_data.declassification import (
    active_declassifications,
    declassification_policy,
)

DATASET = "dataset:db:orders"
TODAY = date(2026, 6, 1)


def approvals(*policies: str, **terms: Any) -> str:
    given = [
        {"policy": policy, "reason": "Hashed.", "at": "2026-01-01T00:00:00Z", **terms}
        for policy in policies
    ]
    return msgspec.json.encode(given).decode()


def classes(text: str | None, today: date = TODAY) -> dict[str, set[str]]:
    found = active_declassifications(DATASET, text, today)
    return {urn: set(approved) for urn, approved in found.items()}


def test_the_policy_names_the_class_and_the_column() -> None:
    assert declassification_policy("E-Mail", "mail") == "declassification:email:mail"
    assert declassification_policy("pii") == "declassification:pii"


def test_approvals_count_for_columns_and_whole_datasets() -> None:
    text = approvals("declassification:email:a:b", "declassification:pii", "retention")
    assert classes(text) == {"column:db:orders:a%3Ab": {"email"}, DATASET: {"pii"}}


def test_an_approval_ends_after_its_last_day() -> None:
    text = approvals("declassification:email", until="2026-06-01")
    assert classes(text) == {DATASET: {"email"}}
    assert classes(text, date(2026, 6, 2)) == {}
    assert classes(None) == {}


def test_the_approval_has_its_time_and_author() -> None:
    text = approvals("declassification:email", by="mia")
    approval = active_declassifications(DATASET, text, TODAY)[DATASET]["email"]
    assert (approval.at, approval.by) == (datetime(2026, 1, 1, tzinfo=UTC), "mia")
