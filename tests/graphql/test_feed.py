"""A feed without Neo4j fails, and a subscriber keeps the newest state only."""

from __future__ import annotations

import asyncio

import pytest

from headwater.cypher.driver.database import Database, Row
from headwater.errors import UnavailableError
from headwater.graphql import feed as news
from headwater.graphql.feed import Subscriber, TooSlowError
from headwater.graphql.run_feed import RunFeed
from headwater.lineage.view import GraphView


def everything(_: Row) -> bool:
    return True


def test_without_neo4j_a_subscription_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "START_SECONDS_MAX", 0.3)

    async def listen(nowhere: GraphView) -> None:
        async with RunFeed(nowhere).subscribe(everything):
            raise AssertionError("nobody listens")

    nowhere = Database("bolt://127.0.0.1:1", "neo4j", "x")
    with pytest.raises(UnavailableError):
        asyncio.run(listen(GraphView(nowhere)))
    nowhere.close()


def test_only_the_newest_state_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "PENDING_MAX", 3)

    async def listen() -> None:
        subscriber = Subscriber(everything, "runs")
        for status in ("RUNNING", "COMPLETE"):
            for name in "abc":
                subscriber.offer({"urn": name, "status": status})
        assert [await subscriber.next() for _ in "abc"] == [
            {"urn": name, "status": "COMPLETE"} for name in "abc"
        ]
        for name in "abcde":
            subscriber.offer({"urn": name})
        with pytest.raises(TooSlowError):
            await subscriber.next()

    asyncio.run(listen())
