"""The commands about the estate on the real Neo4j: exit codes, tables for people, JSON for
programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cli import render as show
from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event
from tests.run_builders import ds, job, write_events

pytestmark = pytest.mark.neo4j
NOW = datetime.now(UTC)


def hours_ago(hours: int) -> str:
    return (NOW - timedelta(hours=hours)).isoformat()


def happened(event: dict[str, Any], hours: int) -> dict[str, Any]:
    return {**event, "eventTime": hours_ago(hours)}


@pytest.fixture(scope="module")
def estate(database: Database) -> Iterator[Database]:
    """Write crm (captured 30 hours ago) -> load -> a (20 hours ago) -> build -> b (an hour ago),
    and bare -> copy -> copied.
    """
    empty(database)
    owned = {"ownership": {"owners": [{"name": "[ann]"}]}}
    size = {"outputStatistics": {"size": 1_500_000}}
    tags = {"tags": {"tags": [{"key": "certified", "value": "true"}]}}
    write_events(
        database,
        [native.source_event("crm", namespace="db", captured_at=hours_ago(30))],
        [
            happened(run_event("l", "START", job="load", inputs=["crm"]), 21),
            happened(run_event("l", job="load", outputs=["a"]), 20),
            happened(run_event("b", "START", job="build", inputs=["a"], job_facets=owned), 2),
            happened(run_event("b", job="build", outputs=[dataset("b", usage=size)]), 1),
            happened(run_event("c", job="copy", inputs=["bare"], outputs=["copied"]), 1),
            happened(run_event("o", job="old", outputs=[dataset("old", usage=size)]), 72),
            happened(dataset_event("lone", 0, tags), 1),
        ],
        [
            native.answer_event(
                "report", cites=[{"namespace": "db", "name": "b"}], generated_at=hours_ago(1)
            )
        ],
    )
    yield database
    empty(database)


@pytest.fixture(autouse=True)
def own_graph(estate: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def run(*arguments: str, ends_with: int = 0) -> str:
    result = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert result.exit_code == ends_with, result.output
    return result.output


def data(*arguments: str, ends_with: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", ends_with=ends_with))


@pytest.mark.parametrize(
    ("name", "within", "code", "state", "because"),
    [
        ("b", "31h", 0, "FRESH", []),
        ("b", "29h", 1, "STALE", ["crm"]),
        ("crm", "2d", 0, "FRESH", []),
        ("copied", "24h", 2, "UNKNOWN", ["bare"]),
        ("copied", "30m", 1, "STALE", ["bare"]),
        ("bare", "24h", 2, "UNKNOWN", ["bare"]),
    ],
)
def test_the_freshness_gate(
    name: str, within: str, code: int, state: str, because: list[str]
) -> None:
    shown = run("freshness", ds(name), "--within", within, ends_with=code)
    assert shown.startswith(state)
    assert all(ds(one) in shown for one in because)
    found = data("freshness", ds(name), "--within", within, ends_with=code)
    assert (found["state"], [one["dataset"] for one in found["causes"]]) == (
        state,
        [ds(one) for one in because],
    )


def test_the_freshness_gate_lists_each_dataset_with_its_age() -> None:
    assert "1d 6h old" in run("freshness", ds("b"), "--within", "29h", ends_with=1)
    assert re.search(
        r"at least 1h \d+m old", run("freshness", ds("copied"), "--within", "24h", ends_with=2)
    )
    assert "age unknown" in run("freshness", ds("bare"), "--within", "24h", ends_with=2)


def test_the_freshness_gate_refuses_a_malformed_age() -> None:
    with pytest.raises(NotFoundError):
        run("freshness", ds("unknown"), "--within", "1h")
    with pytest.raises(QueryError, match="--within"):
        run("freshness", ds("b"), "--within", "soon")
    with pytest.raises(QueryError, match="dataset"):
        run("freshness", job("load"), "--within", "1h")


def test_coverage() -> None:
    shown = run("coverage", "--days", "9")
    for words in (
        "lineage coverage",
        "unknown downstreams",
        "median blast radius",
        "certified-path integrity",
        "broken",
    ):
        assert words in shown
    found = data("coverage", "--days", "9")
    assert (found["total"]["datasets"], found["total"]["connected"], found["total"]["runs"]) == (
        7,
        6,
        4,
    )
    # load, build and copy have both inputs and outputs, `old` has not.
    assert found["total"]["shares"]["lineage"] == (6 + 3) / (7 + 4)
    assert found["blastRadius"]["largest"] == 4
    assert found["certifiedPaths"] == {
        "integrity": 0.0,
        "datasets": 1,
        "sampleSize": 1,
        "broken": [{"dataset": ds("lone"), "ends": [ds("lone")]}],
    }
    assert "\n" in run("coverage", "--namespace", "nowhere")
    assert data("coverage", "--namespace", "nowhere")["total"]["shares"]["lineage"] is None


def test_unused() -> None:
    shown = run("unused", "--days", "2")
    assert "1.5 MB to reclaim in 1 dataset" in shown
    assert "never" in shown
    found = data("unused", "--days", "2")
    assert (found["totalCount"], found["bytes"], found["hasNextPage"]) == (1, 1_500_000, False)
    assert (found["datasets"][0]["dataset"], found["datasets"][0]["lastReadAt"]) == (
        ds("old"),
        None,
    )


def test_usage() -> None:
    shown = run("usage", ds("a"))
    assert "3,600.0 s [ann]" in shown
    found = data("usage", ds("a"))
    assert found["chargeback"] == [{"owner": "[ann]", "jobs": 1, "seconds": 3600.0}]
    [consumer] = found["consumers"]
    assert (consumer["job"], consumer["runs"], consumer["lastReadAt"][:10]) == (
        job("build"),
        1,
        hours_ago(2)[:10],
    )
    assert "answer:report" in data("usage", ds("b"))["answers"]
    assert "cited by answer:report" in run("usage", ds("b"))


def test_owners() -> None:
    assert "[ann]" in run("owners")
    found = data("owners")
    assert (found["totalCount"], found["unownedDatasets"], found["unownedJobs"]) == (1, 7, 3)
    assert [one["urn"] for one in data("owners", "[ann]")["owned"]] == [job("build")]
    shown = run("owners", "", "--first", "1")
    assert ds("a") in shown
    assert "--after" in shown


def test_search() -> None:
    assert "1 row" in run("search", "copied")
    found = data("search", "db", "--kind", "dataset", "--tag", "certified")
    assert [hit["urn"] for hit in found["hits"]] == [ds("lone")]
    assert (found["totalCount"], found["kinds"][0]) == (1, {"value": "DATASET", "count": 7})
    assert "of 7 in all; continue with --after" in run("search", "db", "--first", "1")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, ""),
        (0, "0 B"),
        (999, "999 B"),
        (1_500, "1.5 kB"),
        (2 * 10**15, "2.0 PB"),
        (10**19, "10000.0 PB"),
    ],
)
def test_sizes_as_people_read_them(count: int | None, text: str) -> None:
    assert show.bytes_of(count) == text


@pytest.mark.parametrize(
    ("minutes", "text"), [(0, "0m"), (59, "59m"), (61, "1h 1m"), (1_500, "1d 1h")]
)
def test_ages_as_people_read_them(minutes: int, text: str) -> None:
    assert show.age_of(timedelta(minutes=minutes)) == text
