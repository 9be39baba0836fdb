"""`headwater pipeline analyse`: what only the whole history can tell, from the lake of events, with Spark SQL.

Each table is a file of SQL in `analyses`, written as Parquet under a folder of its name; what of it asks for somebody's
attention, and one summary, become `Analysis` nodes, so that a dashboard need not read the lake. Nothing is judged by
the clock of this machine: `until` is the time of the newest event, unless it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from statistics import median
from typing import TYPE_CHECKING, Any

from headwater.errors import NotFoundError
from headwater.lineage.questions.analyses import Finding
from headwater.pipelines import run_as_submitted
from headwater.schema.naming import Naming
from headwater.schema.urns import dataset_urn, job_urn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = ("coverage", "row_counts", "schema_changes", "run_times", "dataset_use", "blast_radius")
# Of what is unused, the costliest become facts of the graph.
UNUSED_MAX = 100
_BLAST = "node STRING, datasets BIGINT, jobs BIGINT"


@dataclass(frozen=True)
class AnalysisResult:
    """The tables, where `until` stands, and how many events were read."""

    until: datetime
    events: int
    tables: Mapping[str, DataFrame]


def analyse(
    spark: SparkSession, lake: str, naming: Naming, *, until: datetime | None = None
) -> AnalysisResult:
    """Every table over the events in a folder of Parquet with a column `body`. Raises NotFoundError for an empty
    lake."""
    table = spark.read.option("recursiveFileLookup", "true").parquet(lake)
    # An event that was sent twice, or archived twice, counts once.
    bodies = table.selectExpr("cast(body AS STRING) AS body").distinct()
    bodies.createOrReplaceTempView("raw")
    _view(spark, "events").cache()
    [row] = spark.sql(
        "SELECT count(*) AS events, unix_micros(max(at)) AS newest FROM events"
    ).collect()
    if not row["events"]:
        raise NotFoundError(f"{lake} has no events of runs")
    if until is None:
        until = datetime.fromtimestamp(row["newest"] / 1_000_000, tz=UTC)
    _names(spark, naming)
    _view(spark, "runs").cache()
    _view(spark, "uses").cache()
    # They are small, and asked twice: for Parquet and for the graph.
    asked = {name: _table(spark, name, until).cache() for name in TABLES if name != "blast_radius"}
    edges = [(edge["source"], edge["target"]) for edge in _sql(spark, "edges").collect()]
    reached = [(node, *counts) for node, counts in sorted(blast_radius(edges).items())]
    asked["blast_radius"] = spark.createDataFrame(reached, _BLAST)
    return AnalysisResult(until, row["events"], asked)


def _names(spark: SparkSession, naming: Naming) -> None:
    """Views of the names of datasets and jobs with the urns they go by: there are few of them beside the events."""
    pairs = spark.sql(
        "SELECT one.namespace, one.name FROM (SELECT explode(inputs) AS one FROM events) "
        "UNION SELECT one.namespace, one.name FROM (SELECT explode(outputs) AS one FROM events)"
    ).collect()
    named = [(*pair, naming.normalise(*pair)) for pair in pairs if all(pair)]
    datasets = [
        (namespace, name, dataset_urn(one.namespace, one.name)) for namespace, name, one in named
    ]
    jobs = [
        tuple(row)
        for row in spark.sql("SELECT DISTINCT job_namespace, job_name FROM events").collect()
    ]
    frames = {
        "datasets": (datasets, "namespace STRING, name STRING, dataset STRING"),
        "jobs": (
            [(*pair, job_urn(*pair)) for pair in jobs if all(pair)],
            "job_namespace STRING, job_name STRING, job STRING",
        ),
    }
    for view, (rows, columns) in frames.items():
        spark.createDataFrame(rows, columns).createOrReplaceTempView(view)


def _view(spark: SparkSession, name: str) -> DataFrame:
    frame = _sql(spark, name)
    frame.createOrReplaceTempView(name)
    return frame


def _sql(spark: SparkSession, name: str, **values: datetime) -> DataFrame:
    text = files("headwater.pipelines.analyses").joinpath(f"{name}.sql").read_text(encoding="utf-8")
    return spark.sql(text, args=values)


def _table(spark: SparkSession, name: str, until: datetime) -> DataFrame:
    return _sql(spark, name) if name == "coverage" else _sql(spark, name, until=until)


def write_tables(found: AnalysisResult, folder: str) -> None:
    """Each table as Parquet in a folder of its name, in place of what was there."""
    for name, table in found.tables.items():
        table.coalesce(1).write.mode("overwrite").parquet(f"{folder.rstrip('/')}/{name}")


def findings(found: AnalysisResult) -> list[Finding]:
    """What of the tables becomes facts of the graph: what drifted, what is slower, the last change of each schema, the
    costliest of what nobody uses, and one summary."""
    tables = found.tables
    told = [
        Finding("row_counts", row["dataset"], _plain(row))
        for row in tables["row_counts"].where("drifted").collect()
    ]
    told += [
        Finding("run_times", row["job"], _plain(row))
        for row in tables["run_times"].where("slower").collect()
    ]
    unused = (
        tables["dataset_use"]
        .where("unused")
        .orderBy("seconds", ascending=False)
        .limit(UNUSED_MAX)
        .collect()
    )
    told += [Finding("dataset_use", row["dataset"], _plain(row)) for row in unused]
    changes: dict[str, dict[str, Any]] = {}
    for row in tables["schema_changes"].orderBy("at").collect():
        # By which run is for those who may see that run.
        changes[row["dataset"]] = {key: value for key, value in _plain(row).items() if key != "run"}
    told += [Finding("schema_changes", urn, values) for urn, values in sorted(changes.items())]
    return [*told, Finding("summary", "", _summary(found))]


def _plain(row: Any) -> dict[str, Any]:
    return {key: value for key, value in row.asDict().items() if value is not None}


def _summary(found: AnalysisResult) -> dict[str, Any]:
    [sums] = found.tables["coverage"].groupBy().sum().collect()
    radii = [
        row["datasets"]
        for row in found.tables["blast_radius"].where("node LIKE 'dataset:%'").collect()
    ]
    totals = {
        key.removeprefix("sum(").removesuffix(")"): value for key, value in sums.asDict().items()
    }
    return {**totals, "median_blast_radius": float(median(radii)) if radii else 0.0}


def blast_radius(edges: Iterable[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Of every node how many datasets and how many jobs lie downstream of it, itself left out.

    What goes round in a circle reaches the same; the circles are done away with, and each node unites what its
    neighbours reach, as bits of one number: no way is walked twice.
    """
    targets: dict[str, list[str]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
        targets.setdefault(target, [])
    names = sorted(targets)
    bit = {name: 1 << number for number, name in enumerate(names)}
    datasets = sum(bit[name] for name in names if name.startswith("dataset:"))
    reached: dict[str, int] = {}
    for circle in _strong_components(targets):
        inside = sum(bit[name] for name in circle)
        whole = inside
        for name in circle:
            for target in targets[name]:
                whole |= reached.get(target, 0) | bit[target]
        reached.update(dict.fromkeys(circle, whole))
    return {
        name: (
            (reached[name] & ~bit[name] & datasets).bit_count(),
            (reached[name] & ~bit[name] & ~datasets).bit_count(),
        )
        for name in names
    }


def _strong_components(targets: Mapping[str, list[str]]) -> list[list[str]]:
    """The strongly connected parts, those downstream first (Tarjan), without recursion."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    waiting: list[str] = []
    inside: set[str] = set()
    found: list[list[str]] = []
    for start in targets:
        if start in order:
            continue
        walk = [(start, iter(targets[start]))]
        while walk:
            name, below = walk[-1]
            if name not in order:
                order[name] = low[name] = len(order)
                waiting.append(name)
                inside.add(name)
            for target in below:
                if target not in order:
                    walk.append((target, iter(targets[target])))
                    break
                if target in inside:
                    low[name] = min(low[name], order[target])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[name])
                if low[name] == order[name]:
                    circle = [waiting.pop()]
                    while circle[-1] != name:
                        circle.append(waiting.pop())
                    inside.difference_update(circle)
                    found.append(circle)
    return found


if __name__ == "__main__":
    run_as_submitted("analyse")
