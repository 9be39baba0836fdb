"""`headwater pipeline analyse`: analyses of the whole run history in the lake, with Spark SQL.

Each table is a file of SQL in `analyses` and is written as Parquet to a folder of its name.
Findings that need attention, and one summary, become `Analysis` nodes, so dashboards need not read
the lake. The machine's clock plays no part: `until` is the time of the newest event, unless it is
given.
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
from headwater.pipelines.lake_folders import validate_address
from headwater.schema.naming import Naming
from headwater.schema.urns import dataset_urn, job_urn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = ("coverage", "row_counts", "schema_changes", "run_times", "dataset_use", "blast_radius")
# The costliest unused datasets, by seconds of run time, become findings in the graph.
UNUSED_MAX = 100
_BLAST = "node STRING, datasets BIGINT, jobs BIGINT"


@dataclass(frozen=True)
class AnalysisResult:
    """The tables of an analysis, the time it looks back from, and the number of events read."""

    until: datetime
    events: int
    tables: Mapping[str, DataFrame]


def analyse(
    spark: SparkSession, lake: str, naming: Naming, *, until: datetime | None = None
) -> AnalysisResult:
    """Compute every table from a folder of Parquet with a column `body`.

    Raises NotFoundError for an empty lake, and QueryError if its address may hold a secret.
    """
    validate_address(lake)
    table = spark.read.option("recursiveFileLookup", "true").parquet(lake)
    # A copy of an event, sent or archived twice, counts once.
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
    # The tables are small and are used twice: for Parquet and for the graph.
    tables = {name: _table(spark, name, until).cache() for name in TABLES if name != "blast_radius"}
    edges = [(edge["source"], edge["target"]) for edge in _sql(spark, "edges").collect()]
    reached = [(node, *counts) for node, counts in sorted(blast_radius(edges).items())]
    tables["blast_radius"] = spark.createDataFrame(reached, _BLAST)
    return AnalysisResult(until, row["events"], tables)


def _names(spark: SparkSession, naming: Naming) -> None:
    """Create views that map the names of datasets and jobs to their urns; both are small."""
    pairs = spark.sql(
        "SELECT one.namespace, one.name FROM (SELECT explode(inputs) AS one FROM events) "
        "UNION SELECT one.namespace, one.name FROM (SELECT explode(outputs) AS one FROM events)"
    ).collect()
    named = [(*pair, naming.normalise(*pair)) for pair in pairs if all(pair)]
    datasets = [
        (namespace, name, dataset_urn(canonical.namespace, canonical.name))
        for namespace, name, canonical in named
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


def write_tables(result: AnalysisResult, folder: str) -> None:
    """Write each table as Parquet to a folder of its name, in place of an older one."""
    for name, table in result.tables.items():
        table.coalesce(1).write.mode("overwrite").parquet(f"{folder.rstrip('/')}/{name}")


def findings(result: AnalysisResult) -> list[Finding]:
    """Return the findings for the graph.

    They are: row counts that drifted, jobs that became slower, the last change of each schema, the
    costliest unused datasets, and one summary.
    """
    tables = result.tables
    findings = [
        Finding("row_counts", row["dataset"], _plain(row))
        for row in tables["row_counts"].where("drifted").collect()
    ]
    findings += [
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
    findings += [Finding("dataset_use", row["dataset"], _plain(row)) for row in unused]
    changes: dict[str, dict[str, Any]] = {}
    for row in tables["schema_changes"].orderBy("at").collect():
        # The run is left out: not every reader of the dataset may see it.
        changes[row["dataset"]] = {key: value for key, value in _plain(row).items() if key != "run"}
    findings += [Finding("schema_changes", urn, values) for urn, values in sorted(changes.items())]
    return [*findings, Finding("summary", "", _summary(result))]


def _plain(row: Any) -> dict[str, Any]:
    return {key: value for key, value in row.asDict().items() if value is not None}


def _summary(result: AnalysisResult) -> dict[str, Any]:
    [sums] = result.tables["coverage"].groupBy().sum().collect()
    radii = [
        row["datasets"]
        for row in result.tables["blast_radius"].where("node LIKE 'dataset:%'").collect()
    ]
    totals = {
        key.removeprefix("sum(").removesuffix(")"): value for key, value in sums.asDict().items()
    }
    return {**totals, "median_blast_radius": float(median(radii)) if radii else 0.0}


def blast_radius(edges: Iterable[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Return for every node the number of datasets and of jobs downstream of it, without itself.

    All nodes of a cycle reach the same nodes, so the graph is condensed to strongly connected
    components. Each component unites the sets of its successors, as the bits of one integer. So
    every edge is followed once.
    """
    targets: dict[str, list[str]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
        targets.setdefault(target, [])
    names = sorted(targets)
    bit = {name: 1 << number for number, name in enumerate(names)}
    datasets = sum(bit[name] for name in names if name.startswith("dataset:"))
    reached: dict[str, int] = {}
    for component in _strong_components(targets):
        reach = sum(bit[name] for name in component)
        for name in component:
            for target in targets[name]:
                reach |= reached.get(target, 0) | bit[target]
        reached.update(dict.fromkeys(component, reach))
    return {
        name: (
            (reached[name] & ~bit[name] & datasets).bit_count(),
            (reached[name] & ~bit[name] & ~datasets).bit_count(),
        )
        for name in names
    }


def _strong_components(targets: Mapping[str, list[str]]) -> list[list[str]]:
    """Return the strongly connected components, downstream first (Tarjan 1972), iteratively."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    components: list[list[str]] = []
    for start in targets:
        if start in index:
            continue
        path = [(start, iter(targets[start]))]
        while path:
            name, successors = path[-1]
            if name not in index:
                index[name] = low[name] = len(index)
                stack.append(name)
                on_stack.add(name)
            for target in successors:
                if target not in index:
                    path.append((target, iter(targets[target])))
                    break
                if target in on_stack:
                    low[name] = min(low[name], index[target])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[name])
                if low[name] == index[name]:
                    component = [stack.pop()]
                    while component[-1] != name:
                        component.append(stack.pop())
                    on_stack.difference_update(component)
                    components.append(component)
    return components


if __name__ == "__main__":
    run_as_submitted("analyse")
