"""The kinds of datasets. `test_reach` reads whole graphs."""

from __future__ import annotations

import pytest

from headwater.governance.personal_data.propagate import Kind
from headwater.governance.personal_data.reader import kind_of


@pytest.mark.parametrize(
    ("type", "tags", "expected"),
    [
        (None, None, Kind.DATASET),
        ("TABLE", ["certified"], Kind.DATASET),
        ("Model", None, Kind.MODEL),
        ("MODEL", ["export"], Kind.MODEL),
        ("DASHBOARD", [], Kind.EXPORT),
        ("TABLE", ["Export"], Kind.EXPORT),
        (None, ["external-consumer"], Kind.EXPORT),
    ],
)
def test_a_type_or_a_tag_gives_the_kind(
    type: str | None, tags: list[str] | None, expected: Kind
) -> None:
    assert kind_of(type, tags) is expected
