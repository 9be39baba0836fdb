"""References of PySpark and pandas scripts, worked out by hand."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from headwater.code_analysis.model import unknown_references
from headwater.code_analysis.pyspark.references import (
    Frame,
    _ScriptReader,
    references_in_python,
)
from headwater.code_analysis.steps import Steps

SCRIPT = '''
from pyspark.sql import functions as F
SRC = "shop.orders"
df = spark.table(SRC)
kept = df.filter(F.col("total") > 0).withColumn("ltv", F.sum("price"))\
.select("customer", df.status, df["qty"], "ltv")
keys = ["a", "b"]
kept.groupBy(*keys).agg({"z": "sum"}).selectExpr("sum(m) as k").where("p > 1")
kept.write.mode("overwrite").saveAsTable("marts.ltv")
spark.sql(f"""select c
  from {SRC}""").select("c")
'''


def test_pyspark() -> None:
    found = references_in_python(SCRIPT)
    sure = {(one.column, one.line) for one in found.read if one.sure}
    assert sure == {
        *(("total", 5), ("price", 5), ("customer", 5), ("status", 5), ("qty", 5)),
        *(("a", 7), ("b", 7), ("z", 7), ("m", 7), ("p", 7)),
        *(("c", 9), ("c", 10)),
    }
    assert {one.table for one in found.read} == {("shop", "orders")}
    # The script adds that column itself, so the table need not have it.
    assert {one.column for one in found.read if not one.sure} == {"ltv"}
    assert [(one.target, one.column, one.source, one.sure) for one in found.flows] == [
        (("marts", "ltv"), "*", ("shop", "orders"), False)
    ]
    assert found.unknown == ()


def test_pandas() -> None:
    found = references_in_python(
        'import pandas as pd\nd = pd.read_csv("/d/orders.csv")\nd["sum"] = d["price"] * d.qty\n'
        'e = d[d["ok"]].groupby("id").agg(n=("price", "sum"))\ne.to_parquet("/out/e.parquet")\n'
        'q = pd.read_sql("select u from users", connection)\n'
    )
    orders = {one.column for one in found.read if one.table == ("/d/orders.csv",)}
    assert orders == {"price", "qty", "ok", "id"}
    assert {one.column for one in found.read if one.table == ("users",)} == {"u"}
    assert ("/out/e.parquet",) in found.targets


@pytest.mark.parametrize(
    "text",
    [
        "def f(:",
        "x = " + "(" * 500 + "1" + ")" * 500,
        "x = 1" + " + 1" * 100_000,
        "spark.read.parquet(path)",
        "df = spark.table('t')\ndf.select(name)",
        "df = spark.table('t')\ndf.select(f'{prefix}_total')",
        "df = spark.table('t')\ndf[name]",
        "spark.sql(text)",
        "spark.sql(f'select {names} from t')",
        "spark.sql('no sql at all !!')",
        "x = 'nul\0byte'",
    ],
)
def test_python_known_only_at_run_time_is_unknown(text: str) -> None:
    assert references_in_python(text).unknown


def test_two_frames_joined_leave_a_name_unsure() -> None:
    found = references_in_python("a = spark.table('a')\na.join(spark.table('b'), 'id').select('v')")
    assert {(one.table, one.sure) for one in found.read if one.column == "v"} == {
        (("a",), False),
        (("b",), False),
    }


def test_words_in_which_a_name_may_hide() -> None:
    found = references_in_python("df = spark.table('t')\nuse(df, 'order_total')\n")
    assert "order_total" in found.words
    assert "price" not in found.words


DAG = """from airflow import DAG
def callback():
    \"\"\"Select nothing from nowhere.\"\"\"
with DAG("d"):
    SQLExecuteQueryOperator(task_id="a", sql=["select a from t where day = '{{ ds }}'", "select b from u"])
    Other(configuration={"query": {"query": "select c from v"}})
    hook.get_records(f"select d from {TABLE}")
"""


def test_sql_in_the_operators_of_a_dag() -> None:
    found = references_in_python(DAG)
    sure = {(one.table, one.column) for one in found.read if one.sure}
    assert sure >= {(("t",), "a"), (("t",), "day"), (("u",), "b"), (("v",), "c")}
    assert ("nowhere",) not in found.tables
    assert found.unknown == ("SQL is put together at run time at line 7",)


@pytest.mark.parametrize("value", ['"reports/day.sql"', "build()", "QUERY"])
def test_sql_of_an_operator_that_is_elsewhere(value: str) -> None:
    found = references_in_python(f"O(task_id='a', sql={value})\nO(sql='select a from t')")
    assert found.tables == {("t",)}
    assert len(found.unknown) == 1


def test_a_column_that_the_code_looks_for_is_an_option() -> None:
    found = references_in_python(
        "t = spark.table('t')\n"
        "x = F.col('a') if 'a' in t.columns else F.lit(0)\n"
        "t.select('b').agg(F.sum(x))\n"
    )
    assert {(one.column, one.sure) for one in found.read} == {("a", False), ("b", True)}
    assert found.unknown == ()


class CountedFrames(dict[str, Frame]):
    """Frames by name that count how often all names are asked for."""

    listings = 0

    def keys(self) -> Any:
        self.listings += 1
        return super().keys()


def test_an_argument_is_looked_up_without_a_list_of_all_frames() -> None:
    reader = _ScriptReader([], unknown_references, Steps())
    reader._frames = frames = CountedFrames()
    reader.read(ast.parse("a = spark.table('t')\nb = F.col('x')\na.select(a, b, c)"))
    assert frames.listings == 0
    assert list(reader.found.unknown) == ["a column is named by a variable at line 3"]
