"""Files of code: models of dbt with their Jinja, manifests and catalogs, Python and notebooks."""

from __future__ import annotations

import json
import time
from typing import Any

import nbformat
import nbformat.v4 as notebook
import pytest

from headwater.code_analysis.dbt.jinja import render
from headwater.code_analysis.files import CodeFile, read_file, read_files
from headwater.code_analysis.model import References
from headwater.code_analysis.pyspark.references import references_in_python
from headwater.errors import QueryError


def refers(found: References) -> set[tuple[str, str, int]]:
    return {(".".join(one.table), one.column, one.line) for one in found.read}


def one_of(path: str, text: str) -> CodeFile:
    (code,) = read_files({path: text})
    return code


MODEL = """{{ config(materialized='incremental', unique_key='id') }}
with o as (select * from {{ ref('raw_orders') }})  {# the orders #}
select
  o.id,
  i.price
from o join {{ source('shop', 'items') }} i on i.id = o.id
{% if is_incremental() %} where o.updated > 1 {% else %} where o.created > 1 {% endif %}
"""


def test_a_model_of_dbt() -> None:
    code = one_of("models/staging/stg_orders.sql", MODEL)
    assert (code.makes, code.references.unknown) == (frozenset({("stg_orders",)}), ())
    assert code.references.tables == {("raw_orders",), ("shop", "items")}
    # Both ways through the `if`, and the lines of the model as it is written.
    assert refers(code.references) == {
        ("raw_orders", "*", 2),
        ("raw_orders", "id", 4),
        ("shop.items", "price", 5),
        ("shop.items", "id", 6),
        ("raw_orders", "id", 6),
        ("raw_orders", "updated", 7),
        ("raw_orders", "created", 7),
    }
    (line,) = {one.text for one in code.references.read if one.line == 6}
    assert line == "from o join {{ source('shop', 'items') }} i on i.id = o.id"


@pytest.mark.parametrize(
    ("text", "rendered", "unknown"),
    [
        ("select * from {{ ref('pkg', 'a') }}", "select * from a", False),
        ("select * from {{ ref('a', v=2) }}", "select * from a", False),
        ("{% set t = 'orders' %}select * from {{ t }}", "select * from orders", False),
        ("select {{ dbt_utils.star(from=ref('a')) }} from a", "select * from a", False),
        (
            "select {{ dbt_utils.generate_surrogate_key(['x', 'y']) }} from a",
            "select concat(x, y) from a",
            False,
        ),
        ("select '{{ var('day') }}' from a", "select 'headwater_unknown' from a", False),
        ("select {{ cents('amount') }} from a", "select headwater_unknown from a", True),
        (
            "{% macro f(x) %}select {{ x }} from b{% endmacro %}select 1 from a",
            "select 1 from a",
            False,
        ),
        ("{% snapshot s %}select x from a{% endsnapshot %}", "select x from a", False),
        ("{% for m in ms %}{% if not loop.first %}, {% endif %}x{% endfor %}", "x", True),
        ("select {{ broken from a", "select {{ broken from a", True),
        ("{{ log('x') }}select 1 from a", "select 1 from a", False),
    ],
)
def test_jinja(text: str, rendered: str, unknown: bool) -> None:
    found = render(text)
    assert found.texts == [rendered]
    assert bool(found.unknown) is unknown


def test_a_macro_may_hide_a_reference() -> None:
    code = one_of("m.sql", "select {{ cents('amount') }} as amount from {{ ref('a') }}")
    assert code.references.unknown == ("{{ cents('amount') }} is not run",)


def test_plain_sql_makes_what_it_says() -> None:
    assert one_of("etl/load.sql", "create table mart.o as select a from t").makes == {("mart", "o")}
    assert one_of("etl/report.sql", "select a from t").makes == {("report",)}


def manifest(**nodes: dict[str, Any]) -> str:
    schema = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    return json.dumps({"metadata": {"dbt_schema_version": schema}, "nodes": nodes, "sources": {}})


def test_a_manifest_of_dbt() -> None:
    stg: dict[str, Any] = {
        "resource_type": "model",
        "name": "stg",
        "alias": "stg_orders",
        "database": "shop",
        "schema": "staging",
        "original_file_path": "models/stg.sql",
        "compiled_code": 'select id, total from "shop"."raw"."orders"',
        "raw_code": "select {{ nothing }}",
        "depends_on": {"nodes": []},
        "columns": {"id": {}},
    }
    fct = {
        **stg,
        "name": "fct",
        "alias": None,
        "original_file_path": "models/fct.sql",
        "compiled_code": None,
    }
    fct |= {"raw_code": "select id from {{ ref('stg') }}", "depends_on": {"nodes": ["stg"]}}
    test = {**stg, "resource_type": "test"}
    first, second = read_files({"target/manifest.json": manifest(stg=stg, fct=fct, test=test)})
    assert (first.path, set(first.makes)) == ("models/stg.sql", {("shop", "staging", "stg_orders")})
    assert refers(first.references) == {
        ("shop.raw.orders", "id", 1),
        ("shop.raw.orders", "total", 1),
    }
    # What it depends on counts by its whole name too.
    assert second.makes == {("shop", "staging", "fct")}
    assert second.references.tables == {("stg",), ("shop", "staging", "stg_orders")}


def test_a_catalog_tells_columns() -> None:
    table = {
        "metadata": {"database": "shop", "schema": "raw", "name": "orders"},
        "columns": {"TOTAL": {"name": "total", "index": 2}, "ID": {"name": "id", "index": 1}},
    }
    schema = "https://schemas.getdbt.com/dbt/catalog/v1.json"
    catalog = json.dumps({"metadata": {"dbt_schema_version": schema}, "nodes": {"o": table}})
    files = {
        "catalog.json": catalog,
        "m.sql": "select total from raw.orders join raw.items on orders.id = items.id",
    }
    (code,) = read_files(files)
    assert all(one.sure for one in code.references.read)
    (unaided,) = read_files({"m.sql": files["m.sql"]})
    assert not all(one.sure for one in unaided.references.read)


def test_a_manifest_that_is_none_is_refused() -> None:
    with pytest.raises(QueryError, match="is not JSON"):
        read_files(
            {
                "manifest.json": '{"metadata": {"dbt_schema_version": "https://x/dbt/manifest/v1.json"'
            }
        )


SCRIPT = '''
from pyspark.sql import functions as F
SRC = "shop.orders"
df = spark.table(SRC)
kept = df.filter(F.col("total") > 0).withColumn("ltv", F.sum("price")).select("customer", df.status, df["qty"], "ltv")
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
    # It was given that column, so it need not have had it.
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
def test_python_that_cannot_be_told_is_unknown(text: str) -> None:
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


def cells(*sources: str) -> str:
    made = notebook.new_notebook(cells=[notebook.new_code_cell(source) for source in sources])  # type: ignore[no-untyped-call]
    return str(nbformat.writes(made))  # type: ignore[no-untyped-call]


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
    "text", ["", "{}", "not json", '{"cells": 3}', cells("%%scala\nval x = 1")]
)
def test_a_notebook_that_cannot_be_read_is_unknown(text: str) -> None:
    assert one_of("n.ipynb", text).references.unknown


def test_a_notebook_of_databricks() -> None:
    python = "# Databricks notebook source\ndf = spark.table('a')\n\n"
    text = f"{python}# COMMAND ----------\n# MAGIC %sql\n# MAGIC select z from y\n"
    found = read_file("n.py", text).references
    assert found.tables == {("a",), ("y",)}
    assert {(one.table, one.column) for one in found.read} == {(("y",), "z")}


def test_other_files_are_unknown() -> None:
    assert one_of("job.scala", "val x = 1").references.unknown == (
        "files like *.scala are not read",
    )


def test_no_time_is_unknown() -> None:
    (code,) = read_files({"m.sql": "select a from t"}, timeout_seconds=-1)
    assert code.references.unknown == ("there was no time to read it",)


@pytest.mark.parametrize("text", ["{{" * 50_000, "{{ a }}" * 5_000, "{# {{ {% " * 20_000])
def test_braces_without_end_cost_no_time(text: str) -> None:
    began = time.monotonic()
    assert one_of("m.sql", text).references.unknown
    assert time.monotonic() - began < 5
