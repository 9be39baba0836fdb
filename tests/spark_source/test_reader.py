"""Reads of the tasks on a real Neo4j: every node and edge once, filters with Spark's results.

The tests call the reader as Spark does: filters, then partitions, then each partition. They need no
Spark.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neo4j import Driver
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringEndsWith,
)
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from headwater.cypher.driver.database import Database
from headwater.errors import HeadwaterError
from headwater.schema.derived_properties import with_derived_properties
from headwater.schema.urns import answer_urn, column_urn, dataset_urn, job_urn, run_urn
from headwater.spark_source.options import ReadOptions, read_options
from headwater.spark_source.reader import HeadwaterReader, RangePartition
from headwater.spark_source.tables import TABLES
from tests.conftest import Neo4jServer
from tests.run_builders import at, ds, job, version
from tests.spark_source.story import LONG, RUNS, write_story

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("graph")]

TYPES: dict[str, DataType] = {
    "STRING": StringType(),
    "BIGINT": LongType(),
    "DOUBLE": DoubleType(),
    "BOOLEAN": BooleanType(),
    "TIMESTAMP": TimestampType(),
    "ARRAY<STRING>": ArrayType(StringType()),
}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def graph(database: Database, graph_driver: Driver) -> Database:
    return write_story(database, graph_driver)


def schema(kind: str, *names: str) -> StructType:
    return StructType(
        [StructField(name, TYPES[TABLES[kind][name]]) for name in names or TABLES[kind]]
    )


class Table:
    """One read: the filters left to Spark, and the rows of each partition."""

    def __init__(self, options: ReadOptions, names: tuple[str, ...], filters: list[Filter]) -> None:
        reader = HeadwaterReader(options, schema(options.kind, *names))
        self.left = list(reader.pushFilters(filters))
        self.parts = reader.partitions()
        # Spark pickles the reader and its partitions for the executors.
        elsewhere = pickle.loads(pickle.dumps(reader))
        self.by_part = [
            [row for batch in elsewhere.read(part) for row in batch.to_pylist()]
            for part in pickle.loads(pickle.dumps(self.parts))
        ]
        self.rows: list[Row] = [row for rows in self.by_part for row in rows]

    def column(self, name: str) -> list[Any]:
        return sorted(row[name] for row in self.rows)


Read = Callable[..., Table]


@pytest.fixture(scope="module")
def read(neo4j_server: Neo4jServer) -> Read:
    own = {"url": neo4j_server.uri, "user": neo4j_server.user, "password": neo4j_server.password}

    def table(kind: str, *names: str, where: list[Filter] | None = None, **options: Any) -> Table:
        message = {name: str(value) for name, value in options.items()}
        return Table(read_options({**own, **message, "kind": kind}, {}), names, where or [])

    return table


def test_every_node_is_in_the_table_of_its_kind_once(read: Read) -> None:
    runs = [*(f"r{k:02}" for k in range(RUNS)), "e1", "report-1", "report-2"]
    assert read("runs", "urn", partitions=3).column("urn") == sorted(map(run_urn, runs))
    assert read("jobs").column("urn") == sorted(
        [job("clean"), job("report"), job_urn("ops", "copy")]
    )
    datasets = [*map(ds, ("a", "b", "c", LONG)), dataset_urn("db2", "plain")]
    assert read("datasets", "urn", partitions=2).column("urn") == sorted(datasets)
    assert read("answers").column("urn") == [answer_urn("q1")]
    versions = [version("b", f"r{k:02}") for k in range(RUNS)]
    assert read("artifacts", partitions=4).column("urn") == sorted(
        [*versions, version("c", "report-1"), version("c", "report-2")]
    )
    assert read("columns").column("urn") == [
        column_urn("db", "b", "id"),
        column_urn("db", "c", "id"),
    ]
    assert read("symlinks").rows == read("schemas").rows == []


def test_the_parts_are_of_one_size_and_hold_everything(read: Read) -> None:
    table = read("runs", "urn", partitions=5)
    assert [len(rows) for rows in table.by_part] == [9, 9, 9, 9, 7]
    assert len(read("runs", "urn", partitions=43).parts) == 43
    assert len(read("runs", "urn", partitions=500).parts) == 43
    assert len(read("runs", "urn").parts) == 1


def test_rows_written_after_planning_are_in_the_last_partition(read: Read) -> None:
    parts = [
        part for part in read("runs", "urn", partitions=5).parts if isinstance(part, RangePartition)
    ]
    ends = [one for part in parts for one in part.ranges]
    assert ends[0][0] == ""
    assert ends[-1][1] > "schema:zzz"
    assert [after for after, _ in ends[1:]] == [upto for _, upto in ends[:-1]]


def test_the_properties_are_those_of_the_graph(read: Read, graph: Database) -> None:
    for kind, label in (
        ("runs", "PipelineRun"),
        ("artifacts", "Artifact"),
        ("datasets", "Dataset"),
        ("jobs", "Job"),
    ):
        rows = graph.ask(
            "MATCH (n) WHERE $label IN labels(n)"
            " RETURN properties(n) AS p,"
            " [(n)-[:DERIVED_FROM]->(v:Source|Artifact) | v.dataset] AS came,"
            " [(n:Artifact)<-[:PRODUCED]-(r) | r.startedAt][0] AS began",
            {"label": label},
        )
        stored = [
            with_derived_properties(label, row["p"], row["came"], row["began"]) for row in rows
        ]
        expected = {one["urn"]: {name: one.get(name) for name in TABLES[kind]} for one in stored}
        assert {row["urn"]: row for row in read(kind).rows} == expected
    made = [row for row in read("artifacts").rows if row["complete"]]
    assert made
    assert all(row["run"] == run_urn(row["runId"]) for row in made)
    assert all(row["startedAt"] is not None for row in made)
    assert [row["derivedFrom"] for row in made if row["derivedFrom"]] == [[ds("b")]]
    ended = [
        row
        for row in read("runs", where=[GreaterThan(("lastSeen",), minute(0))]).rows
        if row["finishedAt"]
    ]
    assert ended
    assert {row["attempts"] for row in ended} == {1}


def test_spark_evaluates_filters_on_omitted_properties(read: Read) -> None:
    where = [EqualTo(("run",), run_urn("r00")), IsNotNull(("derivedFrom",))]
    assert read("artifacts", "urn", where=where).left == where


def test_summaries_of_old_runs_are_a_table_and_have_an_edge(
    read: Read, graph: Database, graph_driver: Driver
) -> None:
    summed = {"day": "2025-01-01", "status": "COMPLETE", "reads": [ds("a")], "version": "1"}
    row: Row = {
        "urn": "summary:clean:2025-01-01",
        "properties": {"job": job("clean"), **summed},
        "job": job("clean"),
    }
    counts = {
        "runs": 2,
        "timed": 2,
        "seconds": 3.5,
        "errors": 0,
        "rowsRead": 5,
        "rowsWritten": 4,
        "bytesWritten": 1,
    }
    row |= {**counts, "first": minute(0), "last": minute(9), "secondsMin": 1.5, "secondsMax": 2.0}
    with graph.write() as transaction:
        transaction.run("write/maintenance/run_summaries", rows=[row])
    try:
        (found,) = read("summaries").rows
        assert {name: found[name] for name in (*summed, *counts, "job")} == {
            **summed,
            **counts,
            "job": job("clean"),
        }
        assert (found["first"], found["last"], found["secondsMax"]) == (minute(0), minute(9), 2.0)
        (edge,) = read(
            "edges", "source", "layer", "targetKind", where=[EqualTo(("type",), "SUMMARY_OF")]
        ).rows
        assert edge == {"source": row["urn"], "layer": "between", "targetKind": "JOB"}
    finally:
        graph_driver.execute_query("MATCH (s:RunSummary) DETACH DELETE s")


def minute(number: int) -> datetime:
    return datetime.fromisoformat(at(number))


COMPARISONS: dict[Any, Callable[[Any, Any], bool]] = {
    EqualTo: lambda a, b: a == b,
    GreaterThan: lambda a, b: a > b,
    GreaterThanOrEqual: lambda a, b: a >= b,
    LessThan: lambda a, b: a < b,
    LessThanOrEqual: lambda a, b: a <= b,
}


def compared(column: str, kind: Any, value: Any) -> Any:
    return kind((column,), value)


times = st.sampled_from([minute(10 * k) for k in range(4)]).flatmap(
    lambda time: st.sampled_from([time, time + timedelta(microseconds=1), time.astimezone()])
)
columns = st.sampled_from(
    [("startedAt", times), ("attempts", st.integers(0, 2)), ("failedAt", times)]
)
comparisons = columns.flatmap(
    lambda column: st.builds(
        compared, st.just(column[0]), st.sampled_from([*COMPARISONS]), column[1]
    )
)
texts = st.sampled_from(["r00", "r01", "report-1", "report-2", "no"])
sets = st.builds(
    lambda values: In(("runId",), tuple(values)), st.lists(texts, min_size=1, max_size=3)
)
ids = st.builds(
    lambda values: In(("urn",), tuple(map(run_urn, values))),
    st.lists(texts, min_size=1, max_size=3),
)
kinds = st.sampled_from(["COMPLETE", "FAIL"]).map(lambda status: EqualTo(("status",), status))
known = st.sampled_from(["failedAt", "error", "urn"]).map(lambda name: IsNotNull((name,)))


def holds(one: Any, row: Row) -> bool:
    value = row[one.attribute[0]]
    if value is None:
        return False
    if isinstance(one, IsNotNull):
        return True
    return value in one.value if isinstance(one, In) else COMPARISONS[type(one)](value, one.value)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(comparisons | sets | ids | kinds | known, max_size=3))
def test_neo4j_filters_as_spark_would(read: Read, where: list[Filter]) -> None:
    names = ("urn", "runId", "status", "startedAt", "failedAt", "attempts", "error")
    table = read("runs", *names, where=where)
    assert table.left == []
    expected = [row for row in read("runs", *names).rows if all(holds(one, row) for one in where)]
    assert sorted(table.rows, key=str) == sorted(expected, key=str)


def test_filters_that_neo4j_does_not_get_are_left_to_spark(read: Read) -> None:
    left = [
        Not(EqualTo(("status",), "FAIL")),
        StringEndsWith(("name",), "x"),
        EqualTo(("tags",), ["a"]),
        EqualTo(("status", "part"), "x"),
    ]
    table = read("runs", "urn", where=[*left, EqualTo(("status",), "FAIL")])
    assert table.left == left
    assert table.rows == [{"urn": run_urn("report-2")}]


def test_a_namespace_narrows_the_scan_and_misses_no_hashed_urn(read: Read) -> None:
    mine = read("datasets", partitions=2, where=[EqualTo(("namespace",), "db")])
    assert mine.column("urn") == sorted(map(ds, ("a", "b", "c", LONG)))
    assert ds(LONG).startswith("dataset:#")
    looked = {one for part in mine.parts if isinstance(part, RangePartition) for one in part.ranges}
    assert all(after.startswith(("dataset:db:", "dataset:#")) for after, _ in looked)
    assert read("datasets", where=[In(("namespace",), ("db2", "none"))]).column("name") == ["plain"]
    assert read("datasets", where=[EqualTo(("namespace",), "d")]).rows == []
    assert read("runs", where=[EqualTo(("namespace",), "ops")]).column("runId") == ["e1"]


def test_every_edge_is_in_the_table_once(read: Read, graph: Database) -> None:
    edges = graph.ask(
        "MATCH (a)-[e]->(b) RETURN a.urn AS source, type(e) AS type, b.urn AS target", {}
    )
    for partitions in (1, 7):
        table = read("edges", "source", "type", "target", partitions=partitions)
        assert sorted(table.rows, key=str) == sorted(edges, key=str)
    assert len(table.parts) >= 7


def test_edges_of_the_lineage_graph_have_their_properties(read: Read) -> None:
    where = [
        In(("type",), ("FEEDS", "PRODUCED")),
        EqualTo(("layer",), "lineage"),
        EqualTo(("current",), True),
    ]
    table = read("edges", where=where)
    assert table.left == [where[1]]
    jobs = {
        tuple(row[name] for name in ("source", "type", "target"))
        for row in table.rows
        if row["layer"] == "lineage"
    }
    assert jobs == {
        (ds("a"), "FEEDS", job("clean")),
        (job("clean"), "PRODUCED", ds("b")),
        (ds("b"), "FEEDS", job("report")),
        (job("report"), "PRODUCED", ds("c")),
        (ds("c"), "FEEDS", job_urn("ops", "copy")),
    }
    (row,) = read(
        "edges", where=[EqualTo(("type",), "FEEDS"), EqualTo(("job",), job("report"))]
    ).rows
    assert (row["source"], row["target"]) == (
        column_urn("db", "b", "id"),
        column_urn("db", "c", "id"),
    )
    assert (row["sourceKind"], row["targetKind"], row["job"]) == ("COLUMN", "COLUMN", job("report"))
    (fed,) = (row for row in table.rows if row["target"] == job("clean"))
    assert (fed["firstSeen"], fed["lastSeen"]) == (minute(0), minute(10 * (RUNS - 1) + 1))
    assert '"current": true' in fed["properties"]


def test_edges_know_their_layer(read: Read) -> None:
    rows = read("edges", "type", "layer", "sourceKind", "targetKind").rows
    layers = {(row["sourceKind"], row["type"], row["targetKind"]): row["layer"] for row in rows}
    assert (
        layers["SOURCE", "FEEDS", "PIPELINE_RUN"]
        == layers["PIPELINE_RUN", "PRODUCED", "ARTIFACT"]
        == "history"
    )
    assert layers["ARTIFACT", "CITED_BY", "ANSWER"] == "history"
    assert (
        layers["PIPELINE_RUN", "RUN_OF", "JOB"]
        == layers["DATASET", "HAS_COLUMN", "COLUMN"]
        == "between"
    )
    assert (
        layers["DATASET", "DERIVED_FROM", "DATASET"]
        == layers["DATASET", "FEEDS", "JOB"]
        == "lineage"
    )
    cited = read("edges", "source", "target", where=[EqualTo(("type",), "CITED_BY")]).rows
    assert {(row["source"], row["target"]) for row in cited} == {
        (version("c", "report-1"), answer_urn("q1")),
        (version("c", "report-2"), answer_urn("q1")),
    }
    of_b = read(
        "edges", "target", where=[EqualTo(("source",), ds("b")), EqualTo(("type",), "FEEDS")]
    )
    assert of_b.rows == [{"target": job("report")}]


def test_lineage_is_that_of_the_house(read: Read) -> None:
    down = read("lineage", urn=ds("a"), direction="downstream", depth=2).rows
    assert {(row["urn"], row["kind"], row["name"], row["distance"]) for row in down} == {
        (ds("a"), "DATASET", "a", 0),
        (job("clean"), "JOB", "clean", 1),
        (ds("b"), "DATASET", "b", 1),
        (job("report"), "JOB", "report", 2),
        (ds("c"), "DATASET", "c", 2),
    }
    up = read(
        "lineageEdges", urn=ds("b"), direction="UPSTREAM", where=[EqualTo(("type",), "FEEDS")]
    )
    assert len(up.left) == 1
    assert {tuple(row.values()) for row in up.rows} == {
        (ds("a"), job("clean"), "FEEDS"),
        (job("clean"), ds("b"), "PRODUCED"),
    }


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("lineage", {"urn": "dataset:db:none"}, "there is no dataset"),
        ("lineage", {"urn": "none"}, "is not a urn"),
        ("runs", {"password": "wrong"}, "refused the user name or password"),
        ("runs", {"database": "other"}, "other"),
    ],
)
def test_an_error_of_neo4j_is_shown(
    read: Read, kind: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(HeadwaterError, match=message):
        read(kind, **options)


def test_a_lineage_that_is_cut_short_is_no_lineage(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.spark_source.reader.LINEAGE_NODES_MAX", 2)
    with pytest.raises(HeadwaterError, match="exceeds the limit of nodes"):
        read("lineage", urn=ds("a"))
