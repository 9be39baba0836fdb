"""Tables of the data source: names of kinds, columns of a schema, and converted values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.errors import SettingsError
from headwater.spark_source.tables import convert, resolve_kind, select_columns, to_ddl

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_a_kind_is_found_in_any_case() -> None:
    assert resolve_kind(" LineageEdges ") == "lineageEdges"
    with pytest.raises(SettingsError, match="Did you mean 'datasets'"):
        resolve_kind("dataset")


def test_a_schema_selects_columns_of_the_right_type() -> None:
    columns = select_columns("runs", [("status", "string"), ("attempts", "bigint")])
    assert to_ddl(columns) == "`status` STRING, `attempts` BIGINT"
    with pytest.raises(SettingsError, match="'attempts' of runs is BIGINT, not STRING"):
        select_columns("runs", [("attempts", "string")])
    with pytest.raises(SettingsError, match="Did you mean 'status'"):
        select_columns("runs", [("state", "string")])


@pytest.mark.parametrize(
    ("type", "value", "converted"),
    [
        ("STRING", "a", "a"),
        ("STRING", {"b": NOON}, '{"b": "2026-01-01T12:00:00Z"}'),
        ("BIGINT", 1, 1),
        ("BIGINT", True, None),
        ("DOUBLE", 1, 1.0),
        ("BOOLEAN", 1, None),
        ("TIMESTAMP", NOON, NOON),
        ("TIMESTAMP", datetime(2026, 1, 1), None),
        ("ARRAY<STRING>", ["a", 1], ["a", "1"]),
        ("ARRAY<STRING>", "a", ["a"]),
        ("STRING", None, None),
    ],
)
def test_values_fit_their_column(type: str, value: Any, converted: Any) -> None:
    assert convert(type, value) == converted
