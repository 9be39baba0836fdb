"""The datasets of a contract by its servers."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.governance.contracts.names import named_datasets
from headwater.schema.naming import normalise

SQL = {"host": "DB.example.com", "port": 5432, "database": "shop", "schema": "public"}


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ({"type": "postgres", **SQL}, ("postgres://db.example.com:5432", "shop.public.orders")),
        ({"type": "sqlserver", **SQL}, ("sqlserver://db.example.com:5432", "shop.public.orders")),
        ({"type": "mysql", **SQL}, ("mysql://db.example.com:5432", "shop.orders")),
        (
            {"type": "snowflake", "account": "acme", "database": "SHOP", "schema": "PUBLIC"},
            ("snowflake://acme", "SHOP.PUBLIC.orders"),
        ),
        ({"type": "bigquery", "project": "p", "dataset": "d"}, ("bigquery", "p.d.orders")),
        (
            {"type": "trino", "host": "t", "catalog": "c", "schema": "s"},
            ("trino://t:8080", "c.s.orders"),
        ),
        ({"type": "kafka", "host": "k1:9092,k2:9092"}, ("kafka://k1:9092", "orders")),
        (
            {"type": "s3", "location": "s3://lake/shop/{model}/*.parquet"},
            ("s3://lake", "shop/orders"),
        ),
        ({"type": "s3", "location": "s3a://lake/shop/orders"}, ("s3://lake", "shop/orders")),
        ({"type": "local", "path": "/data/orders", "format": "csv"}, ("file", "/data/orders")),
        (
            {"type": "glue", "account": "12", "database": "d", "region": "eu-1"},
            ("arn:aws:glue:eu-1:12", "table/d/orders"),
        ),
        ({"type": "pubsub", "project": "p"}, ("pubsub", "topic:p:orders")),
        (
            {
                "type": "custom",
                "customProperties": [{"property": "openlineageNamespace", "value": "lab"}],
            },
            ("lab", "orders"),
        ),
    ],
)
def test_one_object(server: dict[str, Any], expected: tuple[str, str]) -> None:
    document = {"servers": [{"server": "one", **server}], "schema": [{"name": "orders"}]}
    [one] = named_datasets(document)
    named = normalise(one.namespace, one.name)
    assert (named.namespace, named.name) == expected
    assert (one.object, one.server) == ("orders", "one")


def test_objects_and_servers() -> None:
    servers = [
        {"server": "prod", "type": "kafka", "host": "a:1"},
        {"server": "test", "type": "kafka", "host": "b:1"},
        {"server": "nowhere", "type": "api", "location": ""},
    ]
    objects = [{"name": "orders", "physicalName": "shop.orders.v1"}, {"name": "refunds"}]
    document = {"servers": servers, "schema": objects}
    found = [(one.namespace, one.name) for one in named_datasets(document)]
    assert found == [
        ("kafka://a:1", "shop.orders.v1"),
        ("kafka://b:1", "shop.orders.v1"),
        ("kafka://a:1", "refunds"),
        ("kafka://b:1", "refunds"),
    ]
    chosen = [one.namespace for one in named_datasets(document, server="test")]
    assert chosen == ["kafka://b:1"] * 2
    named = [one.name for one in named_datasets(document, namespace="lab")]
    assert named == ["shop.orders.v1", "refunds"]
    assert list(named_datasets({})) == []


def test_a_folder_of_several_objects() -> None:
    document = {
        "servers": [{"type": "s3", "location": "s3://lake/shop/"}],
        "schema": [{"name": "orders"}, {"name": "refunds"}],
    }
    assert [one.name for one in named_datasets(document)] == ["shop/orders", "shop/refunds"]


def test_a_qualified_table_is_not_qualified_again() -> None:
    document = {
        "servers": [{"type": "postgres", **SQL}],
        "schema": [{"name": "orders", "physicalName": "sales.orders"}],
    }
    assert [one.name for one in named_datasets(document)] == ["shop.sales.orders"]
