"""The command `policy competing` on the real Neo4j."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, schema
from tests.run_builders import ds, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("settings_of_tests", "estate")]


@pytest.fixture
def estate(database: Database) -> Iterator[None]:
    """raw -> sales, which is certified, and raw -> copy, with the same columns."""
    empty(database)
    certified = {"tags": {"tags": [{"key": "certified", "value": "true"}]}}
    columns = schema(day="date", revenue="int")
    events = [
        run_event(
            f"r{number}",
            "COMPLETE",
            number,
            job=f"make_{name}",
            inputs=["raw"],
            outputs=[dataset(name, columns)],
        )
        for number, name in enumerate(("sales", "copy"))
    ]
    write_events(database, [*events, dataset_event("sales", 3, certified)])
    yield
    empty(database)


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["policy", "competing", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_certified_dataset_is_preferred() -> None:
    text = shown()
    assert text.splitlines() == [
        "same columns: day, revenue",
        f"         {ds('copy')}",
        f"  prefer {ds('sales')} (certified)",
        f"  from   {ds('raw')}",
    ]
    (group,) = json.loads(shown("copy", "--json"))["competing"]
    assert (group["preferred"], group["sources"]) == (ds("sales"), [ds("raw")])
    assert shown("raw") == "no datasets compete\n"
