"""Differences between schemas."""

from __future__ import annotations

from headwater.schema.drift import Fields, drift


def test_changes_are_listed_by_kind_and_column() -> None:
    old: Fields = {"a": "int", "b": "int", "c": None}
    new: Fields = {"a": "int", "b": "string", "d": "date"}
    assert sorted(drift(old, new)) == ["added: d", "dropped: c", "retyped: b from int to string"]
    assert drift(old, old) == []
