"""The cost of the graph, and the savings of settings."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.pipelines.retention_cost import (
    GraphCost,
    Saving,
    Size,
    measure_cost,
    node_bytes,
    store_files,
)
from headwater.schema.retention import Rules
from tests.canonical import canonical
from tests.pipelines.test_rollup import daily
from tests.run_builders import write_events

RULES = Rules({"*": 90}, {"*": 0}, {"*": 0})


def test_bytes_of_a_node_follow_the_format_of_its_record() -> None:
    assert node_bytes({}) == 16
    # One block of a number: one record of properties.
    assert node_bytes({"runs": 3}) == 16 + 41
    # Sixteen letters are two blocks beside the one of the key; with a time that is six: two
    # records.
    assert node_bytes({"name": "x" * 16, "at": datetime(2026, 1, 1, tzinfo=UTC)}) == 16 + 2 * 41
    # A long text has records of its own, of 120 bytes each.
    assert node_bytes({"facts": "x" * 1_000}) == 16 + 41 + 9 * 128


def test_files_of_a_store_the_largest_first(tmp_path: Path) -> None:
    for name, size in (
        ("neostore.nodestore.db", 5),
        ("neostore", 9),
        ("schema/index/1", 4),
        ("schema/index/2", 3),
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * size)
    assert list(store_files(tmp_path).items()) == [
        ("neostore", 9),
        ("indexes", 7),
        ("neostore.nodestore.db", 5),
    ]
    assert store_files(tmp_path / "none") == {}


def test_a_graph_without_events_costs_nothing_a_million() -> None:
    empty = GraphCost(0, {"Job": Size(2, 0, 100)}, {}, [])
    assert empty.per_million(100) is None
    assert empty.as_json()["bytesPerMillionEvents"] is None


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_it_counts_and_estimates_the_savings_of_settings(database: Database) -> None:
    write_events(database, daily())
    before = canonical(database)
    now = int(datetime(2026, 2, 15, tzinfo=UTC).timestamp()) * 1_000_000
    found = measure_cost(database, RULES, now=now)
    assert canonical(database) == before
    # Eight runs of two events; each run makes a version.
    assert (found.events, found.sizes["PipelineRun"].nodes, found.sizes["Artifact"].nodes) == (
        16,
        8,
        8,
    )
    assert found.per_million(found.sizes["PipelineRun"].nodes) == 500_000
    printed = found.as_json()
    assert printed["labels"]["PipelineRun"]["nodesPerMillionEvents"] == 500_000
    # All but the newest of each job could go by 7 or 30 days, after 45; none by 90.
    by_setting = {(one.days, one.sample): one for one in found.savings}
    assert [by_setting[days, 0.0].runs for days in (7, 30, 90, 180, 365)] == [6, 6, 0, 0, 0]
    week = by_setting[7, 0.0]
    each = {label: size.bytes / size.nodes for label, size in found.sizes.items()}
    assert week == Saving(7, 0.0, 6, 6, round(6 * each["PipelineRun"] + 6 * each["Artifact"]))
    assert by_setting[7, 0.1].runs <= week.runs
