"""Promised and observed types of columns."""

from __future__ import annotations

import pytest

from headwater.governance.contracts.types import keeps_type
from headwater.schema.facets.contracts import ContractColumn


@pytest.mark.parametrize(
    ("physical", "logical", "observed", "expected"),
    [
        ("BIGINT", None, "bigint", True),
        ("bigint", None, "int", True),
        ("int", None, "bigint", False),
        ("varchar(18)", "string", "string", True),
        ("varchar(18)", None, "varchar(20)", False),
        ("varchar(18)", None, "varchar(10)", True),
        ("int", None, "string", False),
        ("decimal(10, 2)", None, "decimal(10,2)", True),
        ("GEOGRAPHY", None, "string", None),
        ("GEOGRAPHY", "string", "int", False),
        (None, "string", "varchar(3)", True),
        (None, "number", "decimal(10,2)", True),
        (None, "integer", "double", False),
        (None, "date", "timestamp", False),
        (None, "timestamp", "timestamp with time zone", True),
        (None, "timestamp", "timestamptz", True),
        (None, "array", "array<string>", True),
        (None, "object", "struct<a:int>", True),
        (None, "object", "string", False),
        (None, "boolean", "bool", True),
        (None, "string", "hyperloglog", None),
        (None, None, "int", None),
    ],
)
def test_types(
    physical: str | None, logical: str | None, observed: str, expected: bool | None
) -> None:
    column = ContractColumn("a", logical_type=logical, physical_type=physical)
    assert keeps_type(column, observed) is expected
