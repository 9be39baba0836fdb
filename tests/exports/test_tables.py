"""The tables in SQLite and DuckDB: equal rows, replaced as a whole."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

from headwater.errors import QueryError
from headwater.exports.part import Part, find_part
from headwater.exports.tables import TABLES, write_duckdb, write_sqlite
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.exports.story import LOAD, RANK
from tests.run_builders import ds, job, run_of

pytestmark = pytest.mark.neo4j


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path), read_only=True) as file:
            return file.execute(query).fetchall()
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_both_files_have_the_same_rows(story: GraphView, tmp_path: Path) -> None:
    lite, duck = tmp_path / "lineage.sqlite", tmp_path / "lineage.duckdb"
    counts = write_sqlite(story, find_part(story), lite)
    assert write_duckdb(story, find_part(story), duck) == counts
    for path in (lite, duck):
        for table in TABLES:
            [(count,)] = rows(path, f"SELECT count(*) FROM {table.name}")
            assert count == counts[table.name]
        assert rows(path, "SELECT urn FROM datasets ORDER BY urn") == [
            *((ds("clean"),), (ds("raw"),), ("dataset:s3%3A//lake:mart",))
        ]
        assert rows(path, "SELECT urn, job, status FROM runs ORDER BY urn") == [
            (run_of(LOAD), job("load"), "COMPLETE"),
            (run_of(RANK), job("rank"), "FAIL"),
        ]
        assert rows(path, "SELECT job, direction FROM edges WHERE dataset LIKE '%clean'") == [
            *((job("rank"), "reads"), (job("load"), "writes"))
        ]
        assert (ds("clean"), "team:sales") in rows(path, "SELECT * FROM owners")
        assert rows(path, "SELECT tag FROM tags") == [("certified",)]
        assert ("column:db:raw:id", "column:db:clean:id") in rows(
            path, "SELECT source, target FROM column_edges"
        )
    assert sorted(one.name for one in tmp_path.iterdir()) == ["lineage.duckdb", "lineage.sqlite"]


def test_a_refresh_replaces_the_file(story: GraphView, tmp_path: Path) -> None:
    path = tmp_path / "lineage.sqlite"
    write_sqlite(story, find_part(story), path)
    reader = sqlite3.connect(path)
    cursor = reader.execute("SELECT count(*) FROM datasets")
    write_sqlite(story, Part(Visibility(("db",))), path)
    assert cursor.fetchall() == [(3,)]
    reader.close()
    assert rows(path, "SELECT count(*) FROM datasets") == [(2,)]
    assert rows(path, "SELECT * FROM runs") == []
    assert rows(path, "SELECT is_whole FROM export") == [(0,)]


def test_a_folder_that_does_not_exist_is_named(story: GraphView, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="none"):
        write_sqlite(story, find_part(story), tmp_path / "none" / "x.sqlite")
