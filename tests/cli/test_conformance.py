"""`headwater conformance` on the real Neo4j: a table for people, JSON for programs."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from headwater.cli import app, conformance
from headwater.cypher.driver.database import Database
from headwater.ingest.producer_stats import count_event
from headwater.ingest.producer_stats_writer import write_producer_stats
from headwater.schema.events import parse

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("settings_of_tests")]

BODY = (
    b'{"eventTime": "2026-01-31T12:00:00Z", "job": {"namespace": "etl", "name": '
    b'"[load]"}, "producer": "a:[b]"}'
)
RECEIVED = 1_769_860_803_000_000


@pytest.fixture(autouse=True)
def counted(database: Database, clean_graph: object) -> None:
    """Count one event, and let the command ask the tests' own graph."""
    del clean_graph
    with database.write() as transaction:
        write_producer_stats(
            transaction,
            count_event(RECEIVED, 4, BODY, parse(BODY, received=RECEIVED), future_seconds=60),
        )


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["conformance", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.01, "0.010 s"), (42, "42 s"), (146_252, "1d 16h"), (-7_260, "-2h 1m"), (-3, "-3.000 s")],
)
def test_a_difference_of_times_is_for_people(seconds: float, shown: str) -> None:
    assert conformance._length_of(seconds) == shown


def test_a_table_for_people() -> None:
    shown = run()
    for words in (
        "a:[b]",
        "1 event\n",
        "received 3.000 s after",
        "missing-schema-url",
        "Send `schemaURL`",
        "1 producer",
    ):
        assert words in shown


def test_json_for_programs() -> None:
    [found] = json.loads(run("--json"))
    assert (found["producer"], found["events"], found["skewSeconds"]["median"]) == ("a:[b]", 1, 3.0)
    assert [(finding["rule"], finding["sequence"]) for finding in found["findings"]] == [
        ("missing-schema-url", 4)
    ]


def test_only_one_producer() -> None:
    assert "0 producers" in run("--producer", "b:")
