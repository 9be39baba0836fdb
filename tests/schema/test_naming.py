"""Normalised names: different spellings of one location are one dataset, different datasets stay
different.
"""

from __future__ import annotations

import pickle
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.schema.facts import Name
from headwater.schema.naming import load_naming, normalise
from headwater.spark_hooks.naming import dataset_name

# (namespace, name) as stored, and its other spellings
NORMAL_AND_OTHERS: dict[tuple[str, str], list[tuple[str, str]]] = {
    ("file", "/a/b"): [
        ("file", "/a/b/"),
        ("file", "//a///b"),
        ("file:", "/a/b"),
        ("file:/", "/a/b"),
        ("file://", "/a/b"),
        ("file:///", "/a/b"),
        ("FILE:///", "/a/b"),
        ("file", "file:/a/b"),
        ("file", "file:///a/b/"),
        ("file:///", "file:/a/b"),
        ("file:///a", "b"),
        ("file:/a/", "b/"),
        ("file://localhost", "/a/b"),
        ("file", "file://localhost/a/b"),
    ],
    ("file://nas", "/a"): [("file://NAS/", "/a/"), ("file", "file://nas/a"), ("file://nas", "a")],
    ("file", "/"): [("file", "///"), ("file:///", "/"), ("file", "file:///")],
    ("s3://lake", "marts/sales"): [
        ("s3a://lake", "marts/sales"),
        ("s3n://lake", "/marts/sales/"),
        ("S3A://lake/", "marts//sales"),
        ("s3://lake/marts", "sales"),
        ("s3a://lake/marts/", "/sales"),
        ("s3://lake", "s3a://lake/marts/sales/"),
        ("s3://", "s3a://lake/marts/sales"),
    ],
    ("s3://lake", "/"): [("s3a://lake", ""), ("s3://lake", "s3://lake/"), ("s3://lake/", "//")],
    ("gs://lake", "x"): [("gcs://lake", "x/"), ("GS://Lake/", "/x"), ("gs://lake", "gs://lake/x")],
    ("abfss://box@one.dfs.core.windows.net", "x"): [
        ("abfs://box@one.dfs.core.windows.net/", "/x"),
        ("abfss://box@ONE.dfs.Core.windows.net", "x/"),
    ],
    ("wasbs://box@one.blob.core.windows.net", "x"): [
        ("wasb://box@one.blob.core.windows.net", "/x/")
    ],
    ("hdfs://node", "/x"): [
        ("hdfs://node:8020", "/x/"),
        ("hdfs://NODE:8020/", "x"),
        ("hdfs://node:", "/x"),
        ("hdfs://node", "hdfs://node:8020/x"),
        ("hdfs://node:8020", "hdfs:/x"),
    ],
    ("postgres://db:5432", "shop.public.orders"): [
        ("postgres://db", "shop.public.orders"),
        ("postgresql://DB:5432/", "shop.public.orders"),
        ("POSTGRES://db:", "shop.public.orders"),
    ],
    ("mysql://db:3306", "shop.orders"): [
        ("mysql://db", "shop.orders"),
        ("MySQL://DB/", "shop.orders"),
    ],
    ("sqlserver://db:1433", "dbo.orders"): [
        ("mssql://db:1433", "dbo.orders"),
        ("sqlserver://db", "dbo.orders"),
    ],
    ("sqlserver://db:1433;database=Sales", "t"): [("sqlserver://DB;database=Sales", "t")],
    ("hive://meta:10000", "shop.orders"): [("hive://meta", "shop.orders")],
    ("kafka://broker:9092", "orders"): [("kafka://Broker", "orders")],
    ("kafka://a:9092,b:9093", "orders"): [("kafka://A,b:9093", "orders")],
    ("redshift://c.us-east-1:5439", "d.s.t"): [("redshift://c.us-east-1", "d.s.t")],
    ("trino://t:8080", "c.s.t"): [("trino://t", "c.s.t")],
    ("oracle://h:1521", "s.t"): [("oracle://H", "s.t")],
    ("postgres://[::1]:5432", "t"): [("postgres://[::1]", "t")],
    ("bigquery", "p.d.t"): [("bigquery://", "p.d.t")],
    ("snowflake://org-acc", "D.S.T"): [("snowflake://ORG-ACC/", "D.S.T")],
    ("azurecosmos://host/dbs/Main", "colls/T"): [("azurecosmos://HOST/dbs/Main/", "colls/T")],
}
SPELLINGS = []
for _normal, _others in NORMAL_AND_OTHERS.items():
    SPELLINGS += [(spelling, _normal) for spelling in (_normal, *_others)]

# Each of these stays unchanged.
UNTOUCHED = [
    ("db", "public.orders_20260131"),
    ("db", "public/orders/dt=2026-01-31/"),
    ("db", "//a//"),
    ("default", "s3a://lake/x/"),
    ("postgres://db:5432", "Shop.Public.Orders"),
    ("postgres://db:5432", "orders/2026-01-31"),
    ("postgres://db:5433", "t"),
    ("hive://meta:9083", "shop.orders"),
    ("hdfs://node:9000", "/x"),
    ("arn:aws:glue:eu-west-1:1234", "table/shop/orders/"),
    ("bigquery", "project.dataset.orders_20260131"),
    ("snowflake://org-acc", 'DB."My Schema"."T%20"'),
    ("kafka://broker:9092", "orders/dt=1/"),
    ("team:Sales", "Orders"),
    ("C:\\data", "x\\y"),
    ("Lake", "X"),
    ("s3a", "a/b"),
    ("jdbc:postgresql://DB/x", "t"),
    ("file", '/With Space/a:b/%20/é日😀/"q"/it\'s'),
    ("file", "/A/b"),
    ("file", "a/b"),
    ("file", "/a/../b"),
    ("file", "/a\nb"),
    ("file", " "),
    ("s3://lake", "a:b#c?d=e&f"),
    ("s3://Lake", "x"),
    ("s3://lake", "s3://other/x"),
    ("s3://lake", "s3:/x"),
    ("s3://lake", "s3://lake/s3://lake/x"),
    ("gs://lake", "s3://lake/x"),
    ("file:///a", "/a/b"),
    ("answers", "worst-carrier-2013"),
]

PARTITIONS = [
    "dt=2026-01-31",
    "country=de/dt=2026-01-31",
    "year=2026/month=01/day=31",
    "year=2026/month=1/day=31/hour=7",
    "dt=2026-01-31 00%3A00%3A00",
    "region=__HIVE_DEFAULT_PARTITION__",
    "host=db.example.com",
    "dt=*",
    "2026-01-31",
    "20260131",
    "2026_01_31",
    "31.01.2026",
    "2026-01",
    "202601",
    "2026/01",
    "2026/01/31",
    "2026/01/31/13",
    "2026/01/31/13/59",
    "2026-01-31/hour=13",
    "2026-01-31T10:00:00Z",
    "2026-01-31T00:00:00+00:00",
    "2026-01-31 10:00:00.123",
    "2026-01-31-13",
    "20260131T0901Z",
    "2024-02-29",
]
NO_PARTITIONS = [
    "2026",
    "2026-13-31",
    "20261399",
    "2026-02-30",
    "2026/02/30",
    "2025-02-29",
    "build-20260131",
    "v20260131",
    "orders_20260131",
    "20260131.csv",
    "orders.csv",
    "part-00000",
    "part-00000-a1b2.snappy.parquet",
    "dt=2026-01-31.csv",
    "run=1.snappy.PARQUET",
    "dt=2026-01-31/part-00000.parquet",
    "a=b=c",
    "=x",
    "x=",
    "12345678",
    "123456",
    "20260131123456",
    "q1",
    "*",
]

PATH_NAMESPACES = [
    "file",
    "s3://lake",
    "gs://lake",
    "abfss://b@a.dfs.core.windows.net",
    "hdfs://node",
    "dbfs",
]


@pytest.mark.parametrize(("spelling", "normal"), SPELLINGS)
def test_spellings_of_one_location_are_one_dataset(
    spelling: tuple[str, str], normal: tuple[str, str]
) -> None:
    assert normalise(*spelling) == Name(*normal)


@pytest.mark.parametrize("name", UNTOUCHED)
def test_significant_differences_remain(name: tuple[str, str]) -> None:
    assert normalise(*name) == Name(*name)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_partition_is_its_table(partition: str) -> None:
    for namespace in PATH_NAMESPACES:
        table = normalise(namespace, "/marts/orders")
        assert table.name.strip("/") == "marts/orders"
        assert normalise(namespace, f"/marts/orders/{partition}") == table
        assert normalise(namespace, f"/marts/orders//{partition}/") == table


@pytest.mark.parametrize("folder", NO_PARTITIONS)
def test_a_possible_dataset_is_no_partition(folder: str) -> None:
    assert normalise("file", f"/marts/{folder}") == Name("file", f"/marts/{folder}")
    assert normalise("s3://lake", f"marts/{folder}") == Name("s3://lake", f"marts/{folder}")


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("2026-01-31", "2026-01-31"),
        ("dt=1", "dt=1"),
        ("dt=1/hour=2", "dt=1"),
        ("2026/01/31", "2026/01/31"),
        ("dt=1/orders", "dt=1/orders"),
        ("2026-01-31/orders/dt=1", "2026-01-31/orders"),
    ],
)
def test_a_folder_always_remains(name: str, normal: str) -> None:
    assert normalise("s3://lake", name) == Name("s3://lake", normal)
    assert normalise("file", f"/{name}") == Name("file", f"/{normal}")


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_location_of_spark_is_the_dataset_of_other_producers(partition: str) -> None:
    for start in (
        "/lake/orders",
        "s3a://lake/orders",
        "hdfs://node:8020/orders",
        "abfs://b@a.dfs.core.windows.net/o",
    ):
        assert normalise(*dataset_name(f"{start}/{partition}")) == normalise(*dataset_name(start))


def test_no_two_of_the_tables_above_are_one() -> None:
    names = [
        *NORMAL_AND_OTHERS,
        *UNTOUCHED,
        *(("file", f"/marts/{folder}") for folder in NO_PARTITIONS),
    ]
    assert len({normalise(*name) for name in names}) == len(names)


PIECES = """
/ // : :// file s3 s3a hdfs postgres lake Lake localhost @ , ; ? 8020 :5432 dt=1 2026 01 31 2026-01-31 x é İ [ ] %2F . =
"""
pieces = st.sampled_from([*PIECES.split(), " ", "\n", "\0"])
tricky = st.lists(pieces, min_size=1, max_size=9).map("".join)
words = st.one_of(tricky, st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
folder = st.text(
    st.characters(codec="utf-8", exclude_characters="/=", exclude_categories=["Nd"]), min_size=1
)


@given(words, words)
@example("s3://b/s3:", "/b/x")
@example("s3://", "/s3:/b")
@example("hdfs://n/hdfs:", "x")
@example("file", "file:/file:/x")
@example("postgres://", "/")
def test_normalising_twice_is_normalising_once(namespace: str, name: str) -> None:
    once = normalise(namespace, name)
    assert once.namespace
    assert once.name
    assert normalise(once.namespace, once.name) == once


@given(st.sampled_from(PATH_NAMESPACES), st.lists(folder, min_size=1, max_size=3), st.data())
def test_every_partition_of_one_table_is_that_table(
    namespace: str, folders: list[str], data: st.DataObject
) -> None:
    table = "/" + "/".join(folders)
    partitions = data.draw(st.lists(st.sampled_from(PARTITIONS), max_size=3))
    assert normalise(namespace, "/".join([table, *partitions])) == normalise(namespace, table)


@given(
    st.sampled_from(PATH_NAMESPACES),
    st.lists(folder, min_size=1, max_size=3),
    st.lists(folder, min_size=1),
)
def test_different_paths_stay_apart(namespace: str, one: list[str], other: list[str]) -> None:
    same = normalise(namespace, "/" + "/".join(one)) == normalise(namespace, "/" + "/".join(other))
    assert same == (one == other)


@given(words)
def test_names_of_tables_are_never_touched(name: str) -> None:
    assert normalise("postgres://db:5432", name).name == name
    assert normalise("db", name) == Name("db", name)


def test_a_very_long_name_is_normalised_like_a_short_one() -> None:
    deep = "/".join(["folder"] * 20_000)
    assert normalise("s3a://lake", f"{deep}/dt=1/") == Name("s3://lake", deep)
    assert normalise("s3a://lake", "x/" + "dt=1/" * 20_000) == Name("s3://lake", "x")


def test_rules_can_be_sent_to_another_process() -> None:
    for cloud, naming in product(
        ("s3a", "s3n"), (load_naming(), pickle.loads(pickle.dumps(load_naming())))
    ):
        assert naming.normalise(f"{cloud}://lake", "x/dt=1") == Name("s3://lake", "x")
