"""The CSV of Amundsen: tables, columns, and lineage between them, each once."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from headwater.exports.amundsen import amundsen_names, write_amundsen
from headwater.exports.part import find_part
from headwater.lineage.view import GraphView


@pytest.mark.neo4j
def test_tables_and_their_lineage(story: GraphView, tmp_path: Path) -> None:
    rows = write_amundsen(story, find_part(story), tmp_path)
    read = {}
    for path in tmp_path.rglob("*.csv"):
        with path.open(newline="") as file:
            read[path.relative_to(tmp_path).as_posix()] = list(csv.DictReader(file))
    assert rows == sum(map(len, read.values()))
    assert {row["KEY"] for row in read["nodes/Table.csv"]} == {
        *("db://default.default/raw", "db://default.default/clean", "s3://lake.default/mart")
    }
    lineage = read["relationships/Table_Table_HAS_DOWNSTREAM.csv"]
    assert {(row["START_KEY"], row["END_KEY"]) for row in lineage} == {
        ("db://default.default/raw", "db://default.default/clean"),
        ("db://default.default/clean", "s3://lake.default/mart"),
    }
    fields = read["relationships/Column_Column_HAS_DOWNSTREAM.csv"]
    assert ("db://default.default/raw/id", "db://default.default/clean/id") in {
        (row["START_KEY"], row["END_KEY"]) for row in fields
    }
    assert [row["KEY"] for row in read["nodes/Database.csv"]] == ["database://db", "database://s3"]


def test_a_key_has_four_parts() -> None:
    assert amundsen_names("postgres://h:5432", "shop.public.orders") == (
        *("postgres", "h:5432", "shop_public", "orders"),
    )
    assert amundsen_names("file", "/lake/orders") == ("file", "default", "lake", "orders")
    assert amundsen_names("", "/") == ("unknown", "default", "default", "/".replace("/", "%2F"))
