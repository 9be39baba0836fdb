"""The tables of a project: names, what stands behind a node, and columns in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.code_analysis.names import fold_case
from headwater.importers.dbt import project as module
from headwater.importers.dbt.artifacts import Node, read_artifacts
from headwater.importers.dbt.project import Project
from headwater.importers.report import ImportReport, Problem
from tests.importers.dbt.artifact_builders import Fields, node, source, write_artifacts

EPHEMERAL = {"materialized": "ephemeral"}


def project(folder: Path, *nodes: Fields, report: ImportReport | None = None) -> Project:
    report = report or ImportReport()
    return Project(read_artifacts(write_artifacts(folder, *nodes), report), "db", report)


def counted(function: Callable[..., Any], calls: list[None]) -> Callable[..., Any]:
    """Return a function that adds to `calls` each time."""

    def call(*arguments: Any) -> Any:
        calls.append(None)
        return function(*arguments)

    return call


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


@pytest.mark.parametrize("name", ["main.a", "a"])
def test_a_wide_table_costs_the_same_for_each_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folds: list[None] = []
    monkeypatch.setattr(module, "fold_case", counted(fold_case, folds))
    names = [f"c{number}" for number in range(200)]
    columns = {one: {"name": one} for one in names}
    made = node("model.shop.a", sql=f"select {', '.join(names)} from raw.p", columns=columns)
    sql = f"select {', '.join(names)} from {name}"
    found = project(tmp_path, made, node("model.shop.b", "model.shop.a", sql=sql))
    assert len(found.lineage["model.shop.b"].direct) == 200
    assert len(folds) < 30 * 200


def test_a_chain_of_ephemeral_models_is_walked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[None] = []
    monkeypatch.setattr(Node, "parents", property(counted(Node.parents.fget, reads)))  # type: ignore[attr-defined]
    chain = [node("model.shop.e0", "model.shop.a", config=EPHEMERAL)]
    chain += [
        node(f"model.shop.e{number}", f"model.shop.e{number - 1}", config=EPHEMERAL)
        for number in range(1, 200)
    ]
    ends = [node(f"model.shop.r{number}", "model.shop.e199") for number in range(200)]
    along = [node(f"model.shop.s{number}", f"model.shop.e{number}") for number in range(200)]
    found = project(tmp_path, *ends, *along, *reversed(chain), node("model.shop.a"))
    inputs = {frozenset(found.lineage[one["unique_id"]].inputs) for one in (*ends, *along)}
    assert inputs == {frozenset({("db", "shop.main.a")})}
    assert len(reads) < 10 * 601


def test_a_cycle_of_ephemeral_models_ends(tmp_path: Path) -> None:
    nodes = [
        node("model.shop.a"),
        node("model.shop.x", "model.shop.y", "model.shop.a", config=EPHEMERAL),
        node("model.shop.y", "model.shop.x", config=EPHEMERAL),
        node("model.shop.b", "model.shop.x"),
        node("model.shop.c", "model.shop.y"),
    ]
    lineage = project(tmp_path, *nodes).lineage
    for reader in ("model.shop.b", "model.shop.c"):
        assert lineage[reader].inputs == {("db", "shop.main.a")}


def test_a_model_compares_a_name_with_few_of_its_parents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names_read: list[None] = []
    monkeypatch.setattr(Project, "dataset", counted(Project.dataset, names_read))
    parents = [node(f"model.shop.p{number}") for number in range(200)]
    names = [f"c{number}" for number in range(200)]
    sql = f"select {', '.join(names)} from p7"
    reader = node("model.shop.b", *[one["unique_id"] for one in parents], sql=sql)
    lineage = project(tmp_path, *parents, reader).lineage["model.shop.b"]
    assert lineage.direct["c9"] == {(("db", "shop.main.p7"), "c9")}
    assert len(names_read) < 10 * 200


class ProblemsInOrder(list[Problem]):
    """Problems that nobody may compare with each other: that takes the square of their number."""

    def __iter__(self) -> Iterator[Problem]:
        raise AssertionError("the problems are read before all of them are known")


def test_each_malformed_declaration_is_listed_once(tmp_path: Path) -> None:
    nodes = [node(f"model.shop.m{number}", meta={"lineage": 5}) for number in range(50)]
    report = ImportReport(problems=ProblemsInOrder())
    found = project(tmp_path, *nodes, report=report)
    assert len(found.lineage) == 50
    assert found.declared_elsewhere == {}
    places = [report.problems[number].place for number in range(len(report.problems))]
    assert places == [f"models/m{number}.sql" for number in range(50)]
