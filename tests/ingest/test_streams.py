"""Endless runs and hourly partitions do not make the graph grow with their events."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema.facts import PARTITIONS_MAX
from tests.canonical import empty
from tests.event_builders import (
    columns,
    dataset,
    edge,
    node,
    run_event,
    schema,
    urns,
    write_batch,
    write_in_any_order,
)
from tests.run_builders import Event, ds, job, run_of, version

pytestmark = pytest.mark.neo4j

BATCHES = 5_000


def micro_batch(number: int, state: str = "RUNNING") -> Event:
    topic = dataset(
        "orders", schema(id="int"), usage={"inputStatistics": {"rowCount": number}}, side="input"
    )
    table = dataset(
        "lake/orders",
        {**schema(id="int"), **columns(id=[("orders", "id")])},
        usage={"outputStatistics": {"rowCount": number}},
    )
    facets = {"spark_properties": {"properties": {"batch": f"{number:06}"}}}
    event = run_event(
        "stream", state, 1, job="streaming", inputs=[topic], outputs=[table], facets=facets
    )
    return {
        **event,
        "eventTime": f"2026-01-01T{1 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
    }


def size(database: Database) -> tuple[int, int, int]:
    nodes = database.ask("MATCH (n) WHERE n.urn IS NOT NULL RETURN n.facts AS facts", {})
    (lines,) = database.ask("MATCH ()-[e]->() RETURN count(e) AS edges", {})
    return len(nodes), lines["edges"], sum(len(node["facts"] or "") for node in nodes)


def test_five_thousand_batches_leave_the_graph_as_large_as_two(database: Database) -> None:
    empty(database)
    write_batch(database, [micro_batch(0, "START"), micro_batch(1_000)])
    small = size(database)
    numbers = range(1_001, 1_000 + BATCHES)
    for start in range(0, len(numbers), 1_000):
        write_batch(database, [micro_batch(number) for number in numbers[start : start + 1_000]])
    assert size(database) == small
    run = node(database, run_of("stream"))
    assert (run["status"], run.get("attempts"), run["lastSeen"].hour) == ("RUNNING", None, 2)
    assert node(database, version("lake/orders", "stream"))["rowCount"] == numbers[-1]


def partition(hour: int) -> str:
    return f"lake/orders/dt=2026-01-{1 + hour // 24:02}/hour={hour % 24:02}"


def in_lake(name: str) -> Event:
    return dataset(f"/{name}", namespace="s3://lake")


def test_an_hourly_partition_is_not_a_separate_dataset(database: Database) -> None:
    hours = [
        run_event(f"h{hour:02}", "COMPLETE", hour, outputs=[in_lake(partition(hour))])
        for hour in range(30)
    ]
    write_in_any_order(database, *hours)
    assert urns(database, "Dataset") == {"dataset:s3%3A//lake:lake/orders"}
    assert len(urns(database, "Artifact")) == len(hours)
    made = edge(database, run_of("h25"), "PRODUCED", "artifact:s3%3A//lake:lake/orders:h25")
    assert made["partitions"] == ["dt=2026-01-02/hour=01"]


def test_the_stored_partitions_of_a_run_are_bounded_in_any_order(
    database: Database,
) -> None:
    hours = range(PARTITIONS_MAX + 20)
    datasets = [in_lake(partition(hour)) for hour in hours]
    halves = [datasets[0::2], datasets[1::2]]
    write_in_any_order(
        database,
        *(run_event("r", "RUNNING", minute, inputs=half) for minute, half in enumerate(halves)),
    )
    partitions = edge(database, "source:s3%3A//lake:lake/orders", "FEEDS", run_of("r"))[
        "partitions"
    ]
    assert len(partitions) == PARTITIONS_MAX
    assert partitions == sorted(partitions)


def test_edges_name_the_partitions_read_or_written(database: Database) -> None:
    offsets = {
        "subset": {"inputCondition": {"type": "partition", "partitions": [{"identifier": "0"}]}}
    }
    usage = {"subset": {"outputCondition": {"type": "location", "locations": ["/a"]}}}
    write_in_any_order(
        database,
        run_event(
            "r",
            "COMPLETE",
            1,
            inputs=[dataset("orders", usage=offsets, side="input")],
            outputs=[dataset("t", usage=usage)],
        ),
    )
    assert '"partition"' in edge(database, "source:db:orders", "FEEDS", run_of("r"))["subset"]
    assert '"/a"' in edge(database, run_of("r"), "PRODUCED", version("t", "r"))["subset"]


def test_a_stream_is_current_while_it_runs(database: Database) -> None:
    write_in_any_order(database, micro_batch(0, "START"), micro_batch(1))
    assert edge(database, ds("orders"), "FEEDS", job("streaming"))["current"] is True
    assert edge(database, job("streaming"), "PRODUCED", ds("lake/orders"))["current"] is True
