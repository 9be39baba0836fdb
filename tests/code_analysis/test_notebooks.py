"""References of Jupyter and Databricks notebooks."""

from __future__ import annotations

import nbformat
import nbformat.v4 as notebook
import pytest

from headwater.code_analysis.files import CodeFile, read_file, read_files
from headwater.code_analysis.notebooks import parse_databricks


def one_of(path: str, text: str) -> CodeFile:
    (code,) = read_files({path: text})
    return code


def cells(*sources: str) -> str:
    code = [notebook.new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
    created = notebook.new_notebook(cells=code)  # type: ignore[no-untyped-call]
    return str(nbformat.writes(created))  # type: ignore[no-untyped-call]


def test_a_notebook() -> None:
    text = cells(
        "!pip install x\n%matplotlib inline\nfiles = !ls\ndf = spark.table('orders')\ndf?",
        "%%sql\nselect a\nfrom items",
        "x = %sql select b from other\ndf.select('total')",
        "%%time\ndf['k']",
        "%%html\n<b>",
    )
    found = one_of("n.ipynb", text).references
    assert {(one.table, one.column) for one in found.read} == {
        (("orders",), "total"),
        (("orders",), "k"),
        (("items",), "a"),
        (("other",), "b"),
    }
    assert found.unknown == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "not json",
        '{"cells": 3}',
        '{"cells": {}}',
        '{"cells": [{"cell_type": "code", "source": {"a": 1}}]}',
        '{"worksheets": 5}',
        '{"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": 5}]}',
        cells("%%scala\nval x = 1"),
    ],
)
def test_a_notebook_that_cannot_be_read_is_unknown(text: str) -> None:
    assert one_of("n.ipynb", text).references.unknown


def test_a_byte_order_mark_is_no_part_of_a_notebook() -> None:
    found = read_file("n.ipynb", "\ufeff" + cells("df = spark.table('a')")).references
    assert found.tables == {("a",)}
    assert found.unknown == ()


def test_a_notebook_of_databricks() -> None:
    python = "# Databricks notebook source\ndf = spark.table('a')\n\n"
    text = f"{python}# COMMAND ----------\n# MAGIC %sql\n# MAGIC select z from y\n"
    found = read_file("n.py", text).references
    assert found.tables == {("a",), ("y",)}
    assert {(one.table, one.column) for one in found.read} == {(("y",), "z")}


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("  %time", "  pass"),
        ("a, b\t= !ls", "pass"),
        ("  spark.table?? ", "  pass"),
        ("?x", "pass"),
        ("rows = %sql select a from b", "pass"),
        ("a % b", "a % b"),
        (" " * 100_000 + "x", " " * 100_000 + "x"),
        (" " * 100_000 + "!x", " " * 100_000 + "pass"),
        ("a, " * 100_000 + "x", "a, " * 100_000 + "x"),
        ("%sql" + " " * 100_000, "pass"),
    ],
)
def test_magics(line: str, script: str) -> None:
    """A line of 1,990 spaces took 7.5 seconds, and a longer line was never a magic."""
    assert parse_databricks(line).script == [script]
