"""The dataset and the direction of a span, by its attributes."""

from __future__ import annotations

import pytest

from headwater.ingest.receive.spans.datasets import DatasetUse, dataset_uses
from headwater.ingest.receive.spans.otlp import CLIENT, CONSUMER, PRODUCER, Attributes, Span

POSTGRES: Attributes = {"db.system": "postgresql", "net.peer.name": "pg", "db.name": "shop"}
MYSQL: Attributes = {"db.system.name": "mysql", "server.address": "my", "server.port": "3307"}


def uses(attributes: Attributes, kind: int = CLIENT) -> list[DatasetUse]:
    return list(dataset_uses(Span({}, "", kind, 1, 2, attributes)))


def test_a_dataset_by_its_urn() -> None:
    one = DatasetUse("s3://b", "a/b", False)
    urn = "dataset:s3%3A//b:a/b"
    assert uses({"dataset.urn": urn}) == [one]
    assert uses({"dataset.urn": [urn, "job:a:b", "x"]}) == [one]
    assert uses({"dataset.urn": urn}, PRODUCER) == [one._replace(is_write=True)]
    assert uses({"dataset.urn": urn, "dataset.operation": "write"}) == [one._replace(is_write=True)]
    assert uses({"dataset.namespace": "s3://b", "dataset.name": "a/b"}) == [one]


@pytest.mark.parametrize("urn", ["", "x", "dataset:a", "job:a:b", "dataset:#abc", "dataset::", []])
def test_a_malformed_urn_names_nothing(urn: str | list[str]) -> None:
    assert uses({"dataset.urn": urn}) == []


@pytest.mark.parametrize(
    ("attributes", "namespace", "name"),
    [
        ({**POSTGRES, "db.sql.table": "carts"}, "postgres://pg:5432", "shop.public.carts"),
        ({**POSTGRES, "db.sql.table": "a.carts"}, "postgres://pg:5432", "shop.a.carts"),
        (
            {**POSTGRES, "db.namespace": "shop|b", "db.collection.name": "carts"},
            "postgres://pg:5432",
            "shop.b.carts",
        ),
        ({**MYSQL, "db.namespace": "s", "db.collection.name": "t"}, "mysql://my:3307", "s.t"),
        ({**MYSQL, "db.namespace": "s", "db.collection.name": "s.t"}, "mysql://my:3307", "s.t"),
    ],
)
def test_tables(attributes: Attributes, namespace: str, name: str) -> None:
    assert uses(attributes) == [DatasetUse(namespace, name, False)]


@pytest.mark.parametrize("operation", ["INSERT", "update", "Delete", "publish"])
def test_operations_that_write(operation: str) -> None:
    attributes = {**MYSQL, "db.collection.name": "t", "db.operation.name": operation}
    assert [one.is_write for one in uses(attributes)] == [True]


def test_messages_by_the_kind_of_span() -> None:
    topic: Attributes = {
        "messaging.system": "kafka",
        "messaging.destination.name": "orders",
        "server.address": "b",
    }
    assert uses(topic, PRODUCER) == [DatasetUse("kafka://b:9092", "orders", True)]
    assert uses(topic, CONSUMER) == [DatasetUse("kafka://b:9092", "orders", False)]
    assert uses({**topic, "server.address": ""}) == []


def test_without_a_table_or_a_known_system_there_is_no_dataset() -> None:
    assert uses({}) == []
    assert uses(POSTGRES) == []
    assert uses({**MYSQL, "db.system.name": "redis", "db.collection.name": "t"}) == []
    assert uses({"dataset.namespace": "a", "dataset.name": "x" * 501}) == []
