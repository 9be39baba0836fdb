"""A project of SQL models: the jobs of its files, their versions, and what git and SQL refuse."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from headwater.errors import ServerError
from headwater.scenarios.project import Model, Project, render, run_query
from headwater.scenarios.rows import Rows

ORDERS: Rows = [{"id": 1, "amount": 2.5}, {"id": 2, "amount": None}, {"id": 3, "amount": 4.0}]
MODEL = Model("stg", ("orders",), {"id": "int", "amount": "double", "total": "double"})
FIRST = "select id, amount from {{ source('shop', 'orders') }}"


def test_a_query_reads_its_tables_and_fails_as_sql_does() -> None:
    query = "select sum(amount) as total, count(*) as rows from orders"
    assert run_query(query, {"orders": ORDERS}) == [{"total": 6.5, "rows": 3}]
    with pytest.raises(sqlite3.Error, match="no such column: price"):
        run_query("select price from orders", {"orders": ORDERS})


def test_references_become_names_of_tables() -> None:
    assert render("select 1 from {{ ref('a') }} join {{source('s', 'b')}}\n") == (
        "select 1 from a join b"
    )


def test_a_job_runs_the_file_of_main_and_has_its_commit_as_version(tmp_path: Path) -> None:
    project = Project(tmp_path / "repository")
    project.create({"stg": FIRST, "other": "select 1 as one"})
    project.propose("rename", {"stg": FIRST.replace("amount", "amount as total")})
    before = project.job(MODEL)
    assert before.compute(ORDERS)[0] == {"id": 1, "amount": 2.5}
    assert before.sql == "select id, amount from orders"
    other = Model("other", (), {"one": "int"})
    other_version = project.job(other).version
    project.merge("rename")
    after = project.job(MODEL)
    assert after.compute(ORDERS)[0] == {"id": 1, "total": 2.5}
    assert after.version != before.version
    # The merge did not change this file.
    assert project.job(other).version == other_version


def test_what_git_refuses_names_the_command(tmp_path: Path) -> None:
    project = Project(tmp_path / "repository")
    project.create({"stg": FIRST})
    with pytest.raises(ServerError, match="git merge failed"):
        project.merge("nothing")


def test_a_gate_without_an_api_blocks(tmp_path: Path) -> None:
    project = Project(tmp_path / "repository")
    project.create({"stg": FIRST})
    project.propose("rename", {"stg": FIRST.replace("amount", "amount as total")})
    verdict = project.gate("rename", "http://127.0.0.1:9", "shop")
    assert verdict.exit_code == 2
    assert verdict.broken == []
    assert "blocked" in verdict.comment
    assert "amount" in (tmp_path / "repository/models/stg.sql").read_text()
