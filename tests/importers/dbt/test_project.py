"""The tables of a project: names, what stands behind a node, and columns in SQL."""

from __future__ import annotations

from pathlib import Path

from headwater.importers.dbt.artifacts import read_artifacts
from headwater.importers.dbt.project import Project
from headwater.importers.report import ImportReport
from tests.importers.dbt.artifact_builders import Fields, node, source, write_artifacts

EPHEMERAL = {"materialized": "ephemeral"}


def project(folder: Path, *nodes: Fields) -> Project:
    report = ImportReport()
    return Project(read_artifacts(write_artifacts(folder, *nodes), report), "db", report)


def test_tables_behind_nodes_that_are_none(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        source("orders"),
        node("model.shop.a", "source.shop.raw.orders"),
        node("model.shop.b", "model.shop.a", "source.shop.raw.orders", config=EPHEMERAL),
        node("model.shop.c", "model.shop.b", "model.shop.missing"),
    )
    assert found.tables_behind("model.shop.c") == ["model.shop.a", "source.shop.raw.orders"]
    assert found.tables_behind("model.shop.missing") == []
    assert list(found.lineage) == ["model.shop.a", "model.shop.c"]


def test_a_cycle_of_nodes_ends(tmp_path: Path) -> None:
    first, second = node("model.shop.a", "model.shop.b"), node("model.shop.b", "model.shop.a")
    assert set(project(tmp_path, first, second).lineage) == {"model.shop.a", "model.shop.b"}


def test_columns_are_spelled_as_the_sql_spells_them(tmp_path: Path) -> None:
    made = node("model.shop.a", sql='select "Id", customerName from raw.people')
    reader = node("model.shop.b", "model.shop.a", sql="select ID, CUSTOMERNAME as n from main.a")
    lineage = project(tmp_path, made, reader).lineage["model.shop.b"]
    assert lineage.direct == {
        "ID": {(("db", "shop.main.a"), "Id")},
        "n": {(("db", "shop.main.a"), "customerName")},
    }


def test_the_template_of_a_model_that_was_not_compiled(tmp_path: Path) -> None:
    """Without a database, `dbt parse` compiles nothing; a macro is not guessed at."""
    plain = "select id, total as t from {{ ref('a') }} join {{ source('raw', 'o') }} using (id)"
    found = project(
        tmp_path,
        source("o"),
        node("model.shop.a", sql="select id, total from raw.p"),
        node("model.shop.b", "model.shop.a", "source.shop.raw.o", raw_code=plain),
        node("model.shop.c", "model.shop.a", raw_code="select {{ columns() }} from {{ ref('a') }}"),
    )
    assert found.lineage["model.shop.b"].direct["t"] == {(("db", "shop.main.a"), "total")}
    assert found.lineage["model.shop.c"].direct == {}
    assert found.lineage["model.shop.c"].inputs == {("db", "shop.main.a")}


def test_an_incremental_model_does_not_read_itself(tmp_path: Path) -> None:
    sql = "select id from raw.o where id > (select max(id) from shop.main.a)"
    lineage = project(tmp_path, node("model.shop.a", sql=sql)).lineage["model.shop.a"]
    assert lineage.inputs == {("db", "shop.raw.o")}
    assert {name for (_, name), _ in lineage.indirect} == {"shop.raw.o"}
