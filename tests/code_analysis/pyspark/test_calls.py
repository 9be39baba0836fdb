"""Calls by their effect: which read, which write, and which name columns."""

from __future__ import annotations

import ast

import pytest

from headwater.code_analysis.pyspark.calls import (
    SQL_TEXT,
    is_column_expression,
    is_read,
    is_write,
    names_column,
    table_name,
)


@pytest.mark.parametrize(
    ("method", "chain", "reads"),
    [
        ("parquet", ["spark", "read"], True),
        ("parquet", ["frame", "write"], False),
        ("table", ["spark"], True),
        ("read_csv", ["pd"], True),
        ("scan_parquet", ["pl"], True),
        ("select", ["frame"], False),
    ],
)
def test_reads(method: str, chain: list[str], reads: bool) -> None:
    assert is_read(method, chain) is reads


def test_writes() -> None:
    written = ("saveAsTable", "insertInto", "to_parquet", "write_delta")
    assert [name for name in written if not is_write(name)] == []
    assert [name for name in ("write_", "select", "read_csv", "table") if is_write(name)] == []


@pytest.mark.parametrize(
    ("text", "is_column"),
    [
        ("col('a') + 1", True),
        ("F.sum('a')", True),
        ("frame.filter(fn.lit(1) == x)", True),
        ("'a'", False),
        ("math.sqrt(2)", False),
    ],
)
def test_column_expressions(text: str, is_column: bool) -> None:
    assert is_column_expression(ast.parse(text, mode="eval").body) is is_column


def test_functions_that_take_names_of_columns() -> None:
    functions, other = ast.Name("F"), ast.Name("frame")
    assert names_column("col", None)
    assert names_column("sum", functions)
    assert not names_column("lit", functions)
    assert not names_column("sum", other)


def test_names_of_tables_and_texts_of_sql() -> None:
    assert table_name("`shop`.`orders`") == ("shop", "orders")
    assert table_name("s3://lake/orders.parquet") == ("s3://lake/orders.parquet",)
    assert SQL_TEXT.match("-- a note\n  INSERT INTO t select 1")
    assert not SQL_TEXT.match("selected columns")
