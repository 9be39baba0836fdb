"""Inventories of databases: a real PostgreSQL, SQLite files, and catalogues kept in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.errors import QueryError
from headwater.importers.inventory.assets import Asset
from headwater.importers.inventory.databases import (
    dataset_at,
    open_catalogue,
    read_hive,
    read_iceberg,
    read_tables,
)
from tests.importers import postgres

needs_postgres = pytest.mark.skipif(postgres.binaries() is None, reason="no PostgreSQL here")
# The tables of Hive's metastore that list tables, from hive-schema-4.0.0.postgres.sql.
METASTORE = """
CREATE TABLE "DBS" ("DB_ID" bigint PRIMARY KEY, "NAME" varchar(128));
CREATE TABLE "SDS" ("SD_ID" bigint PRIMARY KEY, "LOCATION" varchar(4000));
CREATE TABLE "TBLS" ("TBL_ID" bigint PRIMARY KEY, "DB_ID" bigint, "OWNER" varchar(767),
  "SD_ID" bigint, "TBL_NAME" varchar(256), "TBL_TYPE" varchar(128));
CREATE TABLE "TABLE_PARAMS" ("TBL_ID" bigint, "PARAM_KEY" varchar(256), "PARAM_VALUE" text);
INSERT INTO "DBS" VALUES (1, 'shop');
INSERT INTO "SDS" VALUES (1, 'hdfs://nn:8020/warehouse/shop.db/orders'), (2, NULL);
INSERT INTO "TBLS" VALUES (1, 1, 'hive', 1, 'orders', 'MANAGED_TABLE'),
  (2, 1, 'ann', 2, 'paid', 'VIRTUAL_VIEW');
INSERT INTO "TABLE_PARAMS" VALUES (1, 'comment', 'Orders of the shop'), (1, 'numRows', '7');
"""
# As the SQL catalogue of PyIceberg and the JdbcCatalog of Iceberg create it.
ICEBERG = """
CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL,
  table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
  metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),
  iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name));
INSERT INTO iceberg_tables VALUES
  ('lake', 'shop', 'orders', 's3://lake/shop/orders/metadata/00001-a.metadata.json', NULL, NULL),
  ('lake', 'shop', 'lines', 'file:///lake/shop/lines/metadata/00000-b.metadata.json', NULL, NULL);
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with postgres.running() as port:
        yield port


def run(port: int, script: str) -> None:
    with postgres.closing_connection(port) as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.run(statement)


@needs_postgres
def test_the_tables_and_views_of_postgresql(port: int) -> None:
    run(
        port,
        """CREATE SCHEMA shop; CREATE TABLE shop.orders (id int);
        COMMENT ON TABLE shop.orders IS 'Orders of the shop';
        ALTER TABLE shop.orders OWNER TO stranger; CREATE VIEW shop.paid AS SELECT * FROM
        shop.orders; CREATE TABLE shop.days (d date) PARTITION BY RANGE (d);
        CREATE TABLE shop.days_1 PARTITION OF shop.days
        FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')""",
    )
    url = f"jdbc:postgresql://marquez@127.0.0.1:{port}/marquez"
    namespace = f"postgres://127.0.0.1:{port}"
    found = [one for one in read_tables(open_catalogue(url)) if ".shop." in one.name]
    assert found == [
        Asset(namespace, "marquez.shop.days", "TABLE", ("marquez",)),
        Asset(namespace, "marquez.shop.orders", "TABLE", ("stranger",), "Orders of the shop"),
        Asset(namespace, "marquez.shop.paid", "VIEW", ("marquez",)),
    ]


@needs_postgres
def test_the_tables_of_a_hive_metastore(port: int) -> None:
    run(port, METASTORE)
    url = f"postgresql://marquez@127.0.0.1:{port}/marquez"
    namespace = "hive://metastore:9083"
    assert list(read_hive(open_catalogue(url, namespace))) == [
        Asset(
            "hdfs://nn:8020",
            "warehouse/shop.db/orders",
            "TABLE",
            ("hive",),
            "Orders of the shop",
            (namespace, "shop.orders"),
        ),
        Asset(namespace, "shop.paid", "VIEW", ("ann",)),
    ]


@needs_postgres
def test_a_database_that_is_no_catalogue_is_refused(port: int) -> None:
    url = f"postgresql://marquez@127.0.0.1:{port}/postgres"
    with pytest.raises(QueryError, match='relation "iceberg_tables" does not exist'):
        list(read_iceberg(open_catalogue(url)))


def test_the_tables_and_views_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT);"
            "CREATE VIEW paid AS SELECT * FROM orders;"
        )
    namespace = f"sqlite://{path}"
    assert list(read_tables(open_catalogue(f"sqlite:///{path}"))) == [
        Asset(namespace, "orders", "TABLE"),
        Asset(namespace, "paid", "VIEW"),
    ]


def test_the_tables_of_an_iceberg_catalogue(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(ICEBERG)
    found = list(read_iceberg(open_catalogue(f"sqlite:///{path}", "http://catalog:8181")))
    assert found == [
        Asset(
            "file", "/lake/shop/lines", "TABLE", other_name=("http://catalog:8181", "shop.lines")
        ),
        Asset(
            "s3://lake", "shop/orders", "TABLE", other_name=("http://catalog:8181", "shop.orders")
        ),
    ]


def test_a_database_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match=r"'\.\.\.' is no database that can be read"):
        open_catalogue("jdbc:oracle:thin:@host:1521/db")
    with pytest.raises(QueryError, match="no such file"):
        open_catalogue(f"sqlite:///{tmp_path}/none.db")
    (tmp_path / "text.db").write_text("not a database")
    with pytest.raises(QueryError, match="SQLite cannot list the tables"):
        list(read_tables(open_catalogue(f"sqlite:///{tmp_path}/text.db")))


@pytest.mark.parametrize(
    ("location", "dataset"),
    [
        ("/lake/a b", ("file", "/lake/a b")),
        ("file:/lake/t", ("file", "/lake/t")),
        ("s3://bucket/path/t/", ("s3://bucket", "path/t")),
        (
            "abfss://c@account.dfs.core.windows.net/t",
            ("abfss://c@account.dfs.core.windows.net", "t"),
        ),
    ],
)
def test_the_dataset_at_a_location(location: str, dataset: tuple[str, str]) -> None:
    assert dataset_at(location) == dataset
