"""Tables that PySpark scripts and notebooks write, with their columns."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import Any

import pytest

from headwater.code_analysis.model import UnreadableError
from headwater.code_analysis.pyspark.writes import read_script
from tests.gate.files import changes_of, one_file, problem, table_changes

SPARK = """
from pyspark.sql import functions as F
raw = spark.read.table("raw.orders")
df = raw.select("id", F.col("a").alias("b"), raw.c)
df = df.withColumn("total", F.lit(1)).filter("id > 0")
df.write.mode("overwrite").saveAsTable("marts.orders")
"""
CODE = {"type": "semantics_change", "description": "the code that writes it changed"}


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ('.alias("b")', '.alias("x")', [{"type": "column_rename", "from": "b", "to": "x"}, CODE]),
        ('"id", F', "F", [{"type": "column_drop", "column": "id"}, CODE]),
        (
            ", raw.c",
            ", raw.c, raw.d",
            [{"type": "column_add", "column": "d", "nullable": True}, CODE],
        ),
        (
            '.filter("id > 0")',
            '.withColumnRenamed("c", "d")',
            [{"type": "column_rename", "from": "c", "to": "d"}, CODE],
        ),
        ('.filter("id > 0")', '.drop("c")', [{"type": "column_drop", "column": "c"}, CODE]),
        ("id > 0", "id > 1", [CODE]),
        ("\ndf.write", "\n# a remark\ndf.write", []),
    ],
)
def test_changes_of_a_spark_job(old: str, new: str, changes: list[dict[str, Any]]) -> None:
    assert old in SPARK
    assert changes_of(SPARK, SPARK.replace(old, new), "jobs/orders.py") == changes


def test_a_frame_with_unlisted_columns() -> None:
    job = 'df = spark.read.parquet("s3://raw/t")\ndf.write.parquet("s3://lake/t")\n'
    found = table_changes(
        one_file(
            job, job.replace("df.write", 'df.drop("ssn").withColumnRenamed("a", "b").write'), "j.py"
        )
    )
    assert [(delta.table, dict(delta.change)) for delta in found] == [
        ("s3://lake/t", {"type": "column_rename", "from": "a", "to": "b"}),
        ("s3://lake/t", {"type": "column_drop", "column": "ssn"}),
        ("s3://lake/t", CODE),
    ]


def test_sql_within_code_and_targets_only_known_when_it_runs() -> None:
    job = 'spark.sql("select 1")\n'
    (delta,) = table_changes(
        one_file(job, job + "\nspark.sql('''\nalter table t drop column a''')\n", "j.py")
    )
    assert (delta.table, dict(delta.change), delta.line) == (
        "t",
        {"type": "column_drop", "column": "a"},
        3,
    )
    assert (
        "only known when it runs"
        in problem("df = spark.table('t')\ndf.write.saveAsTable(name)\n", "j.py")[0]
    )
    assert "put together when it runs" in problem("spark.sql(f'drop table {name}')\n", "j.py")[0]
    assert changes_of("import os", "import os; open('x').write('spark')", "j.py") == []


def test_code_that_has_nothing_to_do_with_spark_need_not_even_be_python() -> None:
    assert changes_of("print 'python 2'", "print 'python 3'", "j.py") == []
    assert "cannot be parsed as Python" in problem("spark = (", "j.py")[0]


def test_notebooks() -> None:
    def notebook(*cells: str) -> str:
        shown = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
        return json.dumps(
            {"cells": [*shown, {"cell_type": "markdown", "source": "spark"}], "nbformat": 4}
        )

    before = notebook("%pip install x", SPARK, "!ls")
    assert changes_of(before, notebook("%pip install y", SPARK), "n.ipynb") == []
    assert changes_of(before, notebook(SPARK.replace('"id", F', "F")), "n.ipynb")[0] == {
        "type": "column_drop",
        "column": "id",
    }
    assert changes_of(before, notebook(SPARK, "%%sql\nalter table t drop column a"), "n.ipynb") == [
        {"type": "column_drop", "column": "a"}
    ]
    assert "not a notebook" in problem('{"spark": 1}', "n.ipynb")[0]


def test_notebooks_of_databricks() -> None:
    cells = [
        "# Databricks notebook source",
        SPARK,
        "# COMMAND ----------",
        "# MAGIC %md",
        "# MAGIC to drop",
        "",
    ]
    before = "\n".join(cells)
    sql = "# COMMAND ----------\n# MAGIC %sql\n# MAGIC alter table t\n# MAGIC drop column a\n"
    assert changes_of(before, before + sql, "n.py") == [{"type": "column_drop", "column": "a"}]
    assert changes_of(before, before.replace('"id", F', "F"), "n.py")[0] == {
        "type": "column_drop",
        "column": "id",
    }
    scala = '# COMMAND ----------\n# MAGIC %scala\n# MAGIC df.write.saveAsTable("t")\n'
    assert "a cell of scala" in problem(before + scala, "n.py", before)[0]


def test_the_tree_of_a_script_is_walked_some_times(monkeypatch: pytest.MonkeyPatch) -> None:
    walks = 0
    walk = ast.walk

    def counted(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal walks
        walks += isinstance(node, ast.Module)
        return walk(node)

    monkeypatch.setattr(ast, "walk", counted)
    script = (
        "d = spark.table('t').select('a')\n" + "d = d.drop('b')\nd.write.saveAsTable('u')\n" * 99
    )
    contents = read_script(script, "x.py")
    assert list(contents.tables["u"].columns) == ["a"]
    assert walks < 5


def test_the_columns_of_all_writes_together_are_bounded() -> None:
    columns = ", ".join(f"'c{number}'" for number in range(1_000))
    script = f"d = spark.table('t').select({columns})\n" + "d.write.saveAsTable('u')\n" * 1_000
    with pytest.raises(UnreadableError, match="steps to read"):
        read_script(script, "x.py")
    few = "\n".join(script.splitlines()[:9])
    assert len(read_script(few, "x.py").tables["u"].columns) == 1_000
