"""The data source on a real Spark, Neo4j and API: a DataFrame has the contents of the graph."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from neo4j import Driver
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.schema.urns import answer_urn, job_urn
from headwater.server import create_app
from headwater.settings import Settings
from headwater.spark_source import register
from tests.conftest import Neo4jServer
from tests.event_builders import node, read_by
from tests.run_builders import ds, job, version
from tests.spark_source.story import RUNS, write_story
from tests.sparks import small_spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.neo4j,
    pytest.mark.usefixtures("graph"),
    # Sockets that Spark's own client leaves to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture(scope="module")
def graph(database: Database, graph_driver: Driver) -> Database:
    return write_story(database, graph_driver)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with small_spark() as session:
        register(session)
        yield session


@pytest.fixture
def read(spark: SparkSession, neo4j_server: Neo4jServer) -> Any:
    def table(kind: str, schema: str = "", **options: Any) -> DataFrame:
        reader = spark.read.format("headwater").option("kind", kind).option("url", neo4j_server.uri)
        reader = reader.option("user", neo4j_server.user).option("password", neo4j_server.password)
        reader = reader.options(**{name: str(value) for name, value in options.items()})
        return (reader.schema(schema) if schema else reader).load()

    return table


def column(frame: DataFrame, name: str) -> list[Any]:
    return sorted(row[0] for row in frame.select(name).collect())


def plan_of(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_a_query_reads_only_its_columns_in_parallel(read: Any) -> None:
    runs = read("runs", partitions=5)
    assert dict(runs.dtypes)["failedAt"] == "timestamp"
    filtered = runs.where("status = 'COMPLETE' AND startedAt >= timestamp'2026-01-01 06:20:00Z'")
    assert "Filter (" not in plan_of(filtered)
    rows = (
        filtered.withColumn("part", fn.spark_partition_id())
        .select("runId", "startedAt", "part")
        .collect()
    )
    # Spark hands times to Python in the time zone of the machine.
    assert {(row.runId, row.startedAt.astimezone(UTC)) for row in rows} == {
        ("r38", datetime(2026, 1, 1, 6, 20, tzinfo=UTC)),
        ("r39", datetime(2026, 1, 1, 6, 30, tzinfo=UTC)),
        ("report-1", datetime(2026, 1, 1, 8, 20, tzinfo=UTC)),
        ("e1", datetime(2026, 1, 1, 8, 40, tzinfo=UTC)),
    }
    assert {row.part for row in rows} <= set(range(5))
    assert filtered.rdd.getNumPartitions() == 5
    # Spark evaluates the filters that are not pushed down.
    by_status = runs.where("runId LIKE 'r%' AND NOT status = 'FAIL'").groupBy("status").count()
    assert "Filter (" in plan_of(by_status)
    assert [tuple(row) for row in by_status.collect()] == [("COMPLETE", RUNS + 1)]


def test_tables_join_each_other(read: Any) -> None:
    edges = read(
        "edges", "source STRING, type STRING, target STRING, current BOOLEAN", partitions=3
    )
    below = read("lineage", urn=ds("b"), direction="DOWNSTREAM")
    fed = edges.where("type = 'FEEDS' AND current").join(below, edges.target == below.urn)
    assert {(row.source, row.target, row.distance) for row in fed.collect()} == {
        (ds("b"), job("report"), 1),
        (ds("c"), job_urn("ops", "copy"), 2),
    }


@pytest.mark.parametrize(
    ("kind", "schema", "options", "message"),
    [
        ("dataset", "", {}, "option 'kind': 'dataset' is not one of .* Did you mean 'datasets'"),
        ("runs", "runid STRING", {}, "runs have no column 'runid'. Did you mean 'runUuid'"),
        ("runs", "", {"password": "wrong"}, "Neo4j refused the user name or password"),
    ],
)
def test_errors_appear_in_sparks_own_exceptions(
    read: Any, kind: str, schema: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(PySparkException, match=message):
        read(kind, schema, **options).collect()


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    server = uvicorn.Server(
        uvicorn.Config(create_app(settings), host="127.0.0.1", port=0, log_level="warning")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def test_answers_and_tags_that_are_written_are_read_back(
    spark: SparkSession, read: Any, graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    settings = Settings(
        home=str(tmp_path),
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=neo4j_server.password,
    )
    answers = spark.range(60).select(
        fn.format_string("w%02d", "id").alias("answerId"),
        fn.array(fn.lit(version("c", "report-1")), fn.lit(answer_urn("q1"))).alias("cites"),
        fn.lit("number").alias("type"),
        fn.col("id").cast("string").alias("content"),
        fn.expr("timestamp'2026-02-01 12:00:00Z' + make_interval(0, 0, 0, id)").alias(
            "generatedAt"
        ),
    )
    tags = spark.createDataFrame(
        [(ds("c"), ["certified", "tier=1"]), (job("report"), ["nightly"])],
        "urn STRING, tags ARRAY<STRING>",
    )
    with serving(settings) as url:
        for kind, frame in (("answers", answers), ("tags", tags)):
            frame.repartition(2).write.format("headwater").options(kind=kind, url=url).mode(
                "append"
            ).save()
        bad = answers.withColumn(
            "answerId", fn.expr("if(content = '59', ' ', answerId)")
        ).repartition(2)
        with pytest.raises(PySparkException, match="the column 'answerId' is empty"):
            bad.write.format("headwater").options(kind="answers", url=url).mode("append").save()
    with closing(Spool(settings.spool_path)) as spool:
        assert spool.last() == 62, "what fails sends nothing"
        Worker(graph, spool).run(until_done=True)
    back = read("answers").where(
        "type = 'number' AND generatedAt >= timestamp'2026-02-03 12:00:00Z'"
    )
    assert column(back, "answerId") == [f"w{k:02}" for k in range(2, 60)]
    assert read_by(graph, answer_urn("w07")) == {answer_urn("q1"), version("c", "report-1")}
    assert node(graph, ds("c"))["tags"] == ["certified", "tier=1"]
    assert (node(graph, job("report"))["tags"], node(graph, job("report"))["declaresInputs"]) == (
        ["nightly"],
        None,
    )


def test_a_write_that_cannot_be_is_refused_before_it_begins(spark: SparkSession) -> None:
    frame = spark.range(1).write.format("headwater").option("kind", "answers")
    with pytest.raises(PySparkException, match="a write of answers needs the column 'answerId'"):
        frame.mode("append").save()
