"""One poll serves all subscribers, misses and repeats no change, and survives Neo4j's absence."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

import pytest

from headwater.cypher.driver.database import Database, Row
from headwater.errors import UnavailableError
from headwater.graphql import run_feed
from headwater.graphql.feed import Subscriber
from headwater.graphql.run_feed import RunFeed
from headwater.lineage.questions import changed_runs as asking
from headwater.lineage.view import GraphView
from tests.run_builders import run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph", "quick")]


def everything(_: Row) -> bool:
    return True


async def taken(subscriber: Subscriber, seconds: float = 1.0) -> list[str]:
    """Return the delivered runs, until none arrives for a while."""
    found: list[str] = []
    try:
        while True:
            found.append((await asyncio.wait_for(subscriber.next(), seconds))["runId"])
    except TimeoutError:
        return found


def test_every_change_is_delivered_once_in_pages_of_any_size(
    database: Database, view: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listen(rows_max: int) -> list[str]:
        monkeypatch.setattr(asking, "ROWS_MAX", rows_max)
        monkeypatch.setattr(run_feed, "ROWS_MAX", rows_max)
        async with RunFeed(view).subscribe(everything) as subscriber:
            for batch in range(3):
                runs = (run(f"{rows_max}-{batch}-{n}", "load") for n in range(7))
                await asyncio.to_thread(write_events, database, *runs)
            return await taken(subscriber)

    for rows_max in (3, 7, 8, 1_000):
        expected = [f"{rows_max}-{batch}-{n}" for batch, n in product(range(3), range(7))]
        assert sorted(asyncio.run(listen(rows_max))) == expected


def test_listeners_share_the_reads(database: Database) -> None:
    class Counted(Database):
        def __init__(self) -> None:
            self.__dict__.update(database.__dict__)
            self.statements: list[str] = []

        def read(self, name: str, /, **options: Any) -> list[Row]:
            self.statements.append(name)
            return super().read(name, **options)

    async def listen(counted: Counted) -> list[list[str]]:
        shared = RunFeed(GraphView(counted))
        async with (
            shared.subscribe(everything) as one,
            shared.subscribe(lambda row: row["runId"] == "b") as other,
        ):
            await asyncio.to_thread(write_events, database, run("a", "load"), run("b", "load"))
            return [sorted(await taken(one)), await taken(other)]

    counted = Counted()
    assert asyncio.run(listen(counted)) == [["a", "b"], ["b"]]
    assert (
        counted.statements.count("read/state/clock"),
        counted.statements.count("read/nodes/properties"),
    ) == (1, 1)


def test_nothing_is_missed_while_neo4j_is_away(database: Database) -> None:
    class Away(Database):
        def __init__(self) -> None:
            self.__dict__.update(database.__dict__)
            self.away = False

        def read(self, name: str, /, **options: Any) -> list[Row]:
            if self.away:
                raise UnavailableError("away")
            return super().read(name, **options)

    async def listen(sometimes: Away) -> list[str]:
        async with RunFeed(GraphView(sometimes)).subscribe(everything) as subscriber:
            sometimes.away = True
            await asyncio.to_thread(write_events, database, run("meanwhile", "load"))
            assert await taken(subscriber) == []
            sometimes.away = False
            return await taken(subscriber)

    assert asyncio.run(listen(Away())) == ["meanwhile"]
