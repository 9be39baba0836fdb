"""The events of Marquez' database, read from a real PostgreSQL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.errors import HeadwaterError, QueryError
from headwater.importers.marquez import PAGE_ROWS, MarquezEvents, parse_database_url
from headwater.importers.report import ImportReport
from tests.importers.postgres import binaries, closing_connection, insert, running

RUN = "0176a8c2-fe01-7439-87e6-56a1a1b4029f"


def event(number: int) -> dict[str, Any]:
    """Return an event as Marquez keeps it: with nulls where its producer sent nothing."""
    return {
        "run": {"runId": RUN, "facets": None},
        "job": {"name": f"j{number}", "facets": None, "namespace": "etl"},
        "inputs": [],
        "outputs": None,
        "producer": "https://example.com",
        "eventTime": f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "eventType": "COMPLETE",
    }


def rows(numbers: range) -> list[tuple[str | None, Any]]:
    return [(one["eventTime"], json.dumps(one)) for one in map(event, numbers)]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    if binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    with running() as port:
        yield port


@pytest.fixture
def marquez(port: int) -> Iterator[str]:
    yield f"postgresql://marquez@127.0.0.1:{port}/marquez"
    with closing_connection(port) as connection:
        connection.run("TRUNCATE lineage_events")


def read(url: str, since: datetime | None = None) -> tuple[list[str], ImportReport]:
    report = ImportReport()
    events = MarquezEvents(parse_database_url(url), since, report)
    return [one["job"]["name"] for one in events], report


def test_all_events_in_the_order_of_their_times(port: int, marquez: str) -> None:
    count = 2 * PAGE_ROWS + 5
    insert(port, rows(range(count))[::-1])
    names, report = read(marquez)
    assert names == [f"j{number}" for number in range(count)]
    assert report.to_json() == {"read": {"events": count}, "problems": [], "notes": []}


def test_events_since_an_instant_and_rows_without_an_event(port: int, marquez: str) -> None:
    insert(port, [*rows(range(5)), (None, '"no object"'), (None, None)])
    names, report = read(marquez)
    assert names == ["j0", "j1", "j2", "j3", "j4"]
    assert [(one.place, one.reason) for one in report.problems] == [
        ("row 6", "the event is no JSON object")
    ]
    assert read(marquez, datetime(2026, 1, 1, 0, 0, 3, tzinfo=UTC))[0] == ["j3", "j4"]


def test_a_row_that_cannot_be_read_stops_no_other(port: int, marquez: str) -> None:
    found = rows(range(4))
    time, text = found[1]
    found[1] = (time, text[:-1] + ', "x": NUMBER}')
    deep = found[1][1].replace("NUMBER", "[" * 3_000 + "]" * 3_000)
    large = found[1][1].replace("NUMBER", "9" * 5_000)
    insert(port, [found[0], (time, deep), (found[2][0], large), found[3]])
    names, report = read(marquez)
    assert names == ["j0", "j1", "j3"]
    assert [(one.place, one.reason) for one in report.problems] == [
        ("row 2", "the JSON is nested too deeply")
    ]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://marquez@127.0.0.1:{port}/nothing", 'database "nothing" does not exist'),
        ("postgresql://marquez@127.0.0.1:{port}/postgres", "postgres has no table lineage_events"),
        ("postgresql://stranger@127.0.0.1:{port}/marquez", "stranger may not read lineage_events"),
        ("postgresql://secured:wrong@127.0.0.1:{port}/marquez", "refuses secured: password"),
        ("postgresql://marquez@127.0.0.1:1/marquez", "127.0.0.1:1/marquez does not answer"),
        ("mysql://marquez@127.0.0.1/marquez", "the address names no PostgreSQL database"),
        ("postgresql://marquez@127.0.0.1", "the address names no PostgreSQL database"),
        ("postgresql://marquez@127.0.0.1:port/x", "the address of the database is malformed"),
        ("postgresql://marquez:secret/@127.0.0.1/x", "the address of the database is malformed"),
    ],
)
def test_a_wrong_address_has_a_plain_message(port: int, url: str, message: str) -> None:
    with pytest.raises(HeadwaterError) as caught:
        read(url.format(port=port))
    assert message in caught.value.message
    assert "secret" not in caught.value.message
    assert caught.value.hint


def test_a_password_of_the_environment(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "secret")
    with pytest.raises(QueryError, match="may not read"):
        read(f"postgresql://secured@127.0.0.1:{port}/marquez")


def test_an_import_that_is_stopped_names_where_to_go_on(port: int, marquez: str) -> None:
    insert(port, rows(range(3 * PAGE_ROWS)))
    command = [sys.executable, "-m", "headwater", "import", "marquez", marquez, "--dry-run"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )
    assert process.stdout is not None
    # A full pipe stops the import in the middle.
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, b"stopped after" in error) == (130, True), error
    assert b"Traceback" not in error
