"""Values that are written to Neo4j and read back, and the private parts of the driver."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from neo4j import READ_ACCESS, Driver, GraphDatabase

from headwater.cypher.driver.bolt import (
    PRIVATE_PARTS,
    ByteCounter,
    Structure,
    _ReadAhead,
    bound_answers,
    connect,
)
from headwater.cypher.driver.database import Database
from headwater.errors import QueryError, UnavailableError
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

INSTANTS = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2026, 2, 28, 23, 59, 59, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]


def test_an_instant_is_read_back_unchanged(database: Database) -> None:
    value = {"at": INSTANTS[3], "all": INSTANTS, "within": [{"at": INSTANTS[1]}]}
    [row] = database.ask("RETURN $sent AS came", {"sent": value})
    assert row["came"] == value
    assert row["came"]["at"].tzinfo is UTC


def test_in_an_open_transaction_too(database: Database) -> None:
    with database.write() as transaction:
        [row] = transaction.run("read/state/clock")
    assert row["now"].tzinfo is UTC
    [streamed] = database.stream("read/state/clock", seconds=5.0)
    assert streamed["now"] >= row["now"]


def test_an_instant_with_offset_is_read_in_utc_floored_to_microseconds(database: Database) -> None:
    text = (
        "RETURN datetime('2026-03-01T01:30:00.123456999+02:00') AS offset, datetime($sent) AS zone"
    )
    [row] = database.ask(text, {"sent": "2026-03-01T01:30:00[Europe/Berlin]"})
    assert row["offset"] == datetime(2026, 2, 28, 23, 30, 0, 123_456, tzinfo=UTC)
    assert row["zone"] == datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
    value = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert database.ask("RETURN $at AS at", {"at": value}) == [{"at": value}]


def test_other_temporal_values_are_read_as_text(database: Database) -> None:
    [row] = database.ask(
        "RETURN date('2026-03-01') AS day, duration('PT90S') AS took, null AS none", {}
    )
    assert row == {"day": "2026-03-01", "took": "PT1M30S", "none": None}


def test_more_rows_than_one_pull_arrive_in_order(database: Database) -> None:
    rows = database.ask("UNWIND range(1, 2500) AS n RETURN n", {})
    assert [row["n"] for row in rows] == list(range(1, 2501))


@pytest.mark.parametrize("length", [1, 65_500, 65_536, 65_540, 300_000])
def test_a_value_longer_than_one_read_arrives_complete(database: Database, length: int) -> None:
    value = "".join(chr(97 + n % 26) for n in range(length))
    assert database.ask("UNWIND [1, 2, 3] AS n RETURN $sent AS came, n", {"sent": value}) == [
        {"came": value, "n": n} for n in (1, 2, 3)
    ]


def test_a_statement_ends_with_its_time(database: Database) -> None:
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b) AS n"
    with pytest.raises(UnavailableError, match="terminated"):
        database.ask(slow, {}, seconds=0.5)
    assert database.ask("RETURN 1 AS one", {}) == [{"one": 1}]


def test_private_parts_of_the_driver_are_in_their_places(graph_driver: Driver) -> None:
    """Check the private parts of the driver; if a new version moves them, adapt `bolt` and the pin
    in pyproject.toml.
    """
    assert Structure is not None
    with graph_driver.session() as session:
        assert hasattr(session, "_connect")
        connect(session, READ_ACCESS)
        missing = []
        for part in PRIVATE_PARTS:
            value: Any = session
            for name in part.split("."):
                value = getattr(value, name, None)
            if value is None:
                missing.append(part)
    assert missing == []


def test_driver_without_its_private_parts_still_answers() -> None:
    class Opened:
        """A session of a driver without the private parts."""

    opened: Any = Opened()
    connect(opened, READ_ACCESS)
    bound_answers(opened, 1.0)
    counter = ByteCounter(0)
    with counter.counting(opened):
        assert not counter.is_exceeded


def test_connection_reads_ahead_and_unpacks_instants_itself(neo4j_server: Neo4jServer) -> None:
    # A driver of its own: the connection keeps these settings.
    credentials = (neo4j_server.user, neo4j_server.password)
    with (
        GraphDatabase.driver(neo4j_server.uri, auth=credentials) as driver,
        driver.session() as session,
    ):
        connect(session, READ_ACCESS)
        bound_answers(session, 7.0)
        connection: Any = vars(session)["_connection"]
        assert isinstance(connection.socket.recv_into, _ReadAhead)
        [row] = session.run("RETURN datetime('1970-01-01T00:00:01Z') AS at").data()
    assert row["at"] == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)


def test_counter_breaks_off_an_answer_beyond_its_limit(database: Database) -> None:
    with pytest.raises(QueryError, match="larger than 100 bytes"):
        database.ask_bounded(
            "RETURN reduce(t = 'x', i IN range(1, 20) | t + t) AS text",
            {},
            seconds=20.0,
            rows_max=5,
            bytes_max=100,
        )
