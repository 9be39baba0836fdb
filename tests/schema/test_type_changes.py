"""Which changes of type lose something."""

from __future__ import annotations

import pytest

from headwater.schema.type_changes import is_narrowing

WIDE = [
    ("int", "bigint"),
    ("INTEGER", "int"),
    ("int", "double"),
    ("int", "decimal(12,2)"),
    ("float", "double"),
    ("decimal(10,2)", "decimal(12,2)"),
    ("varchar(10)", "varchar(20)"),
    ("varchar(10)", "text"),
    ("date", "timestamp"),
    ("string", "STRING"),
    ("int", "int"),
]
NARROW = [
    ("bigint", "int"),
    ("int", "decimal(10,2)"),
    ("bigint", "double"),
    ("double", "float"),
    ("double", "int"),
    ("decimal(10,2)", "decimal(10,3)"),
    ("decimal(12,2)", "decimal(10,2)"),
    ("decimal(10,2)", "int"),
    ("int", "string"),
    ("string", "int"),
    ("varchar(20)", "varchar(10)"),
    ("text", "varchar(10)"),
    ("timestamp", "date"),
    ("int", "boolean"),
    ("uuid", "string"),
]


@pytest.mark.parametrize(("before", "after"), WIDE)
def test_wide(before: str, after: str) -> None:
    assert is_narrowing(before, after) is False


@pytest.mark.parametrize(("before", "after"), NARROW)
def test_narrow(before: str, after: str) -> None:
    assert is_narrowing(before, after) is True


@pytest.mark.parametrize(
    ("before", "after"), [(None, "int"), ("int", "struct<a:int>"), ("geometry", "int"), ("", "")]
)
def test_unknown_types_have_no_result(before: str | None, after: str) -> None:
    assert is_narrowing(before, after) is None


def test_long_spaces_and_sizes_are_no_type() -> None:
    """The spaces took cubic time, and Python reads no number of more than 4,300 digits."""
    assert is_narrowing("int" + " " * 100_000 + "!", "int") is None
    assert is_narrowing(f"decimal({'9' * 5_000})", "int") is None
    assert is_narrowing(f"int{' ' * 100_000}", "bigint") is False
    assert is_narrowing("double  precision", "float") is None
