"""The analyses of a small lake, with every number worked out by hand, on one real Spark."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from headwater.errors import NotFoundError
from headwater.ingest.fold import fold
from headwater.ingest.project import run_view
from headwater.pipelines.analyse import (
    AnalysisResult,
    analyse,
    blast_radius,
    findings,
    write_tables,
)
from headwater.pipelines.lake import SCHEMA
from headwater.schema.events import parse
from headwater.schema.facts import RunFacts
from headwater.schema.naming import load_naming
from tests.event_builders import columns, dataset, schema
from tests.run_builders import Event, ds, job
from tests.sparks import small_spark

# Spark's own client leaves the sockets of answers to the collector of garbage.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
ONE_TASK = {"spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1"}

CAPTURES = Path(__file__).parents[1] / "captures"
END = datetime(2026, 3, 31, 12, tzinfo=UTC)


def days_ago(days: float, seconds: float = 0) -> datetime:
    return END - timedelta(days=days) + timedelta(seconds=seconds)


def event(
    run: str,
    name: str,
    at: datetime,
    kind: str,
    *,
    inputs: Any = (),
    outputs: Any = (),
    producer: str = "spark",
) -> Event:
    return {
        "eventType": kind,
        "eventTime": at.isoformat().replace("+00:00", "Z"),
        "producer": producer,
        "run": {"runId": run},
        "job": {"namespace": "etl", "name": name},
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def rows(name: str, count: int, **types: str) -> Event:
    return dataset(
        name, schema(**(types or {"a": "int"})), usage={"outputStatistics": {"rowCount": count}}
    )


def history() -> list[Event]:
    """Return twenty days of two jobs.

    `build` makes mart from raw every day, in 100 s with 1,000 rows, one more or one less; in the
    last week in 200 s with 500 rows. `steady` makes log, which nothing reads, in 10 s with 50 rows.
    On the last day the schema of mart changes, and a run of another producer starts and never ends.
    """
    sent_events: list[Event] = []
    for day in range(20, 0, -1):
        recent = day < 7
        count = 500 if recent else 1_000 + day % 3 - 1
        fields = {"a": "string", "b": "int"} if day == 1 else {"a": "int", "c": "int"}
        at = days_ago(day)
        sent_events.append(event(f"b{day}", "build", at, "START", inputs=[dataset("raw")]))
        end = days_ago(day, 200 if recent else 100)
        written = rows("mart", count, **fields)
        sent_events.append(
            event(f"b{day}", "build", end, "COMPLETE", inputs=[dataset("raw")], outputs=[written])
        )
        sent_events.append(event(f"s{day}", "steady", at, "START"))
        sent_events.append(
            event(f"s{day}", "steady", days_ago(day, 10), "COMPLETE", outputs=[rows("log", 50)])
        )
    lineage = dataset("report", columns(a=[("mart", "a")]))
    sent_events.append(
        event(
            "lost",
            "publish",
            END,
            "START",
            inputs=[dataset("mart")],
            outputs=[lineage],
            producer="dbt",
        )
    )
    return sent_events


def lake(folder: Path, events: list[Event]) -> str:
    """Return a lake in the layout of `pipeline archive`; the first event is there twice."""
    bodies = [json.dumps(one).encode() for one in [*events, *events[:1]]]
    random.Random(1).shuffle(bodies)
    for number, half in enumerate((bodies[::2], bodies[1::2])):
        file = folder / f"date=2026-04-0{number + 1}" / "namespace=etl" / f"{number}.parquet"
        file.parent.mkdir(parents=True)
        rows = [{"spool": "s", "seq": seq, "body": body} for seq, body in enumerate(half)]
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), file)
    (folder / "_archived").mkdir()
    (folder / "_archived" / "1-2.json").write_text("{}")
    return str(folder)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with small_spark(ONE_TASK) as session:
        yield session


@pytest.fixture(scope="module")
def found(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> AnalysisResult:
    folder = lake(
        tmp_path_factory.mktemp("lake"), [*history(), {"eventTime": "never", "run": {"runId": "x"}}]
    )
    return analyse(spark, folder, load_naming())


def table(found: AnalysisResult, name: str, key: str) -> dict[str, dict[str, Any]]:
    return {row[key]: row.asDict() for row in found.tables[name].collect()}


def test_the_analysis_time_is_that_of_the_newest_event(found: AnalysisResult) -> None:
    assert (found.until, found.events) == (END, 81)


def test_coverage_by_day_and_producer(found: AnalysisResult) -> None:
    days = {
        (row["day"], row["producer"]): row.asDict() for row in found.tables["coverage"].collect()
    }
    assert len(days) == 21
    usual = days[date(2026, 3, 30), "spark"]
    # START of build names raw without a schema, START of steady names nothing. Both end events have
    # schema and rows.
    counts = {
        "events": 4,
        "with_datasets": 3,
        "with_schema": 2,
        "with_outputs": 2,
        "with_column_lineage": 0,
    }
    assert {key: usual[key] for key in counts} == counts
    assert (usual["with_statistics"], usual["runs"], usual["never_ended"]) == (2, 2, 0)
    lost = days[date(2026, 3, 31), "dbt"]
    assert (lost["events"], lost["with_column_lineage"], lost["runs"], lost["never_ended"]) == (
        1,
        1,
        1,
        1,
    )


def test_runs_without_an_end_are_those_of_the_graph(spark: SparkSession, tmp_path: Path) -> None:
    # Spark's own events: jobs on RDDs that list files or collect rows send only START.
    sent = [json.loads(line) for line in (CAPTURES / "spark_shop.jsonl").read_text().splitlines()]
    states = {urn: run_view(run, {}).node for urn, run in folded_runs(sent).items()}
    # One more listed files without a type of its own, one wrote, one belongs to another tool.
    listing, writing, other = (event(run, "j", END, "START") for run in ("x1", "x2", "x3"))
    listing["producer"] = writing["producer"] = "https://github.com/o/tree/1/integration/spark"
    writing["outputs"] = [dataset("mart")]
    sent += [listing, writing, other]

    found = analyse(spark, lake(tmp_path / "shop", sent), load_naming())
    runs = {row["run"]: row for row in spark.table("runs").collect()}
    unreported = {f"run:{run}" for run, row in runs.items() if row["end_unreported"]}
    of_the_graph = {urn for urn, node in states.items() if node["endUnreported"]}
    assert len(of_the_graph) == 4
    assert unreported == of_the_graph | {"run:x1"}
    [sums] = found.tables["coverage"].groupBy().sum("runs", "never_ended").collect()
    assert (sums[0], sums[1]) == (len(runs) - len(unreported), 2)


def folded_runs(sent: list[Event]) -> dict[str, RunFacts]:
    return fold(parse(json.dumps(one).encode(), received=0) for one in sent).runs


def test_row_counts_that_drift(found: AnalysisResult) -> None:
    by_dataset = table(found, "row_counts", "dataset")
    mart = by_dataset[ds("mart")]
    # Days 7 to 20 ended 100 s after that day began: 7 is within the week.
    assert (mart["recent_versions"], mart["before_versions"]) == (7, 13)
    assert (mart["recent_rows"], mart["before_rows"], mart["drifted"]) == (500, 1_000, True)
    # Of 13 counts 999, 1,000 and 1,001 more than half are one off.
    assert mart["spread"] == pytest.approx(1.4826)
    assert by_dataset[ds("log")]["drifted"] is False


def test_jobs_that_became_slower(found: AnalysisResult) -> None:
    by_job = table(found, "run_times", "job")
    build = by_job[job("build")]
    assert (build["recent_seconds"], build["before_seconds"], build["spread"], build["slower"]) == (
        200,
        100,
        0,
        True,
    )
    assert by_job[job("steady")]["slower"] is False
    assert job("publish") not in by_job


def test_schemas_that_changed(found: AnalysisResult) -> None:
    [change] = found.tables["schema_changes"].collect()
    assert (change["dataset"], change["run"], change["at"].replace(tzinfo=None)) == (
        ds("mart"),
        "b1",
        _local(days_ago(1, 200)),
    )
    assert (change["added"], change["removed"], change["retyped"]) == (["b"], ["c"], ["a"])


def _local(at: datetime) -> datetime:
    return at.astimezone().replace(tzinfo=None)


def test_unread_datasets_and_their_cost(found: AnalysisResult) -> None:
    use = table(found, "dataset_use", "dataset")
    assert {urn: one["unused"] for urn, one in use.items()} == {
        ds("raw"): False,
        ds("mart"): False,
        ds("log"): True,
        ds("report"): True,
    }
    # Six runs of 200 s and fourteen of 100 s.
    assert (use[ds("mart")]["seconds"], use[ds("mart")]["writes"], use[ds("mart")]["reads"]) == (
        2_600,
        20,
        1,
    )
    assert (use[ds("log")]["seconds"], use[ds("log")]["writes"]) == (200, 20)
    assert (use[ds("raw")]["reads"], use[ds("raw")]["readers"]) == (20, 1)


def test_blast_radius_and_the_results_that_become_facts(found: AnalysisResult) -> None:
    radius = table(found, "blast_radius", "node")
    reached = {
        urn: (one["datasets"], one["jobs"])
        for urn, one in radius.items()
        if urn.startswith("dataset:")
    }
    assert reached == {
        ds("raw"): (2, 2),
        ds("mart"): (1, 1),
        ds("report"): (0, 0),
        ds("log"): (0, 0),
    }
    values = {(one.table, one.subject): one.values for one in findings(found)}
    assert set(values) == {
        ("row_counts", ds("mart")),
        ("run_times", job("build")),
        ("dataset_use", ds("log")),
        ("dataset_use", ds("report")),
        ("schema_changes", ds("mart")),
        ("summary", ""),
    }
    summary = values["summary", ""]
    assert (summary["events"], summary["runs"], summary["never_ended"]) == (81, 41, 1)
    # Of 2, 1, 0 and 0.
    assert summary["median_blast_radius"] == 0.5


def test_tables_are_written_and_replaced(
    spark: SparkSession, found: AnalysisResult, tmp_path: Path
) -> None:
    for _ in range(2):
        write_tables(found, str(tmp_path / "out"))
    stored = spark.read.parquet(str(tmp_path / "out" / "run_times"))
    assert {row["job"] for row in stored.collect()} == {job("build"), job("steady")}


def test_an_empty_lake_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no events"):
        analyse(spark, lake(tmp_path / "empty", [{"job": {"name": "only"}}]), load_naming())


def test_circles_and_diamonds_are_counted_once() -> None:
    assert blast_radius([]) == {}
    edges = [
        ("dataset:a", "job:x"),
        ("job:x", "dataset:b"),
        ("dataset:b", "job:x"),
        ("job:x", "dataset:c"),
    ]
    assert blast_radius(edges) == {
        "dataset:a": (2, 1),
        "dataset:b": (1, 1),
        "dataset:c": (0, 0),
        "job:x": (2, 0),
    }
    diamond = [
        ("dataset:a", "job:l"),
        ("dataset:a", "job:r"),
        ("job:l", "dataset:z"),
        ("job:r", "dataset:z"),
    ]
    assert blast_radius(diamond)["dataset:a"] == (1, 2)


def test_reach_equals_a_walk_from_every_node() -> None:
    chance = random.Random(7)
    for _ in range(30):
        names = [f"{'dataset' if n % 2 else 'job'}:{n}" for n in range(9)]
        edges = [tuple(chance.choices(names, k=2)) for _ in range(chance.randint(1, 20))]
        expected = {}
        for start in {name for edge in edges for name in edge}:
            visited, waiting = set[str](), [start]
            while waiting:
                here = waiting.pop()
                fresh = {target for source, target in edges if source == here} - visited
                visited |= fresh
                waiting.extend(fresh)
            visited.discard(start)
            expected[start] = (
                sum(urn.startswith("dataset") for urn in visited),
                sum(urn.startswith("job") for urn in visited),
            )
        assert blast_radius([(source, target) for source, target in edges]) == expected
