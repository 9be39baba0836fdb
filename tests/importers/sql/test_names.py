"""The datasets of tables that SQL names, with the database and schema in use."""

from __future__ import annotations

import pytest

from headwater.importers.sql.names import NameRules


@pytest.mark.parametrize(
    ("rules", "table", "name"),
    [
        (NameRules("n", "postgres", "shop"), "orders", "shop.public.orders"),
        (NameRules("n", "postgres", "shop", "raw"), "orders", "shop.raw.orders"),
        (NameRules("n", "postgres", "shop", "raw"), "mart.orders", "shop.mart.orders"),
        (NameRules("n", "postgres", "shop"), "other.mart.orders", "other.mart.orders"),
        (NameRules("n", "postgres"), "orders", "orders"),
        (NameRules("n", "postgres"), "raw.orders", "raw.orders"),
        (NameRules("n", "mysql", "shop"), "orders", "shop.orders"),
        (NameRules("n", "spark", "shop"), "raw.orders", "raw.orders"),
        (NameRules("n", "bigquery", "project", "raw"), "orders", "project.raw.orders"),
        (NameRules("n", "bigquery", "project"), "raw.orders", "project.raw.orders"),
    ],
)
def test_a_table(rules: NameRules, table: str, name: str) -> None:
    assert rules.dataset(tuple(table.split("."))) == ("n", name)


@pytest.mark.parametrize(
    ("path", "dataset"),
    [
        ("s3://bucket/key/a.parquet", ("s3://bucket", "key/a.parquet")),
        ("/data/a.csv", ("file", "/data/a.csv")),
        ("a.csv", ("file", "a.csv")),
    ],
)
def test_a_file(path: str, dataset: tuple[str, str]) -> None:
    assert NameRules("n", "duckdb").dataset((path,)) == dataset


def test_use() -> None:
    rules = NameRules("n", "snowflake", "SHOP", "RAW")
    assert rules.use("", "MART").dataset(("T",)) == ("n", "SHOP.MART.T")
    assert rules.use("OTHER", "").dataset(("T",)) == ("n", "OTHER.PUBLIC.T")
    assert NameRules("n", "mysql", "shop").use("", "raw").dataset(("t",)) == ("n", "raw.t")
