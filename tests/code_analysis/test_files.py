"""Files of code by their kind: dbt models, manifests, catalogs and SQL."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater import bounded_process
from headwater.code_analysis.files import NO_TIME, CodeFile, read_files
from headwater.code_analysis.model import References
from headwater.errors import QueryError
from tests.code_analysis.slow_code import SLOW_SQL


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


def test_a_macro_may_hide_a_reference() -> None:
    code = one_of("m.sql", "select {{ cents('amount') }} as amount from {{ ref('a') }}")
    assert code.references.unknown == ("{{ cents('amount') }} is not run",)


def test_plain_sql_makes_its_target() -> None:
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
    # Its dependencies count by their full names too.
    assert second.makes == {("shop", "staging", "fct")}
    assert second.references.tables == {("stg",), ("shop", "staging", "stg_orders")}


def test_a_catalog_has_columns() -> None:
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
    schema = "https://x/dbt/manifest/v1.json"
    manifest = f'{{"metadata": {{"dbt_schema_version": "{schema}"'
    with pytest.raises(QueryError, match="is not JSON"):
        read_files({"manifest.json": manifest})


def test_other_files_are_unknown() -> None:
    assert one_of("job.scala", "val x = 1").references.unknown == (
        "files like *.scala are not read",
    )


def test_no_time_is_unknown() -> None:
    (code,) = read_files({"m.sql": "select a from t"}, timeout_seconds=-1)
    assert code.references.unknown == ("there was no time to read it",)


def test_a_file_that_is_being_read_at_the_deadline_is_unknown() -> None:
    slow, late = read_files({"s.sql": SLOW_SQL, "m.sql": "select a from t"}, timeout_seconds=1)
    assert slow.references.unknown == late.references.unknown == (NO_TIME,)


def test_a_file_that_takes_too_long_is_unknown_and_the_others_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounded_process, "CPU_SECONDS_MAX", 0)
    files = {"slow.sql": SLOW_SQL, "m.sql": "select a from t"}
    slow, quick = read_files(files)
    assert slow.references.unknown == ("it takes more than 0 s of processor time",)
    assert [one.column for one in quick.references.read] == ["a"]


@pytest.mark.parametrize("text", ["{{" * 50_000, "{{ a }}" * 5_000, "{# {{ {% " * 20_000])
def test_endless_braces_are_unknown(text: str) -> None:
    assert one_of("m.sql", text).references.unknown
