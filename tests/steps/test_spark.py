"""Steps on real PySpark: plans by default, and rows, nulls and content if measured."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from headwater import steps
from headwater.steps import fingerprint, track_transformation
from tests.sparks import small_spark

# Spark's own Python leaves sockets to the garbage collector.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with small_spark() as session:
        yield session


@track_transformation(rows=steps.rows("id"))
def large(orders: DataFrame) -> DataFrame:
    return orders.where("amount > 2")


@track_transformation
def named(orders: DataFrame) -> DataFrame:
    return orders.withColumnRenamed("amount", "total")


def test_steps_on_frames_of_spark(spark: SparkSession) -> None:
    orders = spark.createDataFrame([(1, 1.0), (2, 3.0), (3, None)], "id int, amount double")
    with steps.run(job="daily", measure_spark=True) as run:
        named(large(orders))
    first, second = run.recorder.to_json()["steps"]
    assert first["inputs"][0]["rowCount"] == 3
    assert first["inputs"][0]["nullCounts"] == {"amount": 1}
    assert first["outputs"][0]["rowCount"] == 1
    assert first["rows"] == {"key": "id", "kept": 1, "dropped": 2, "added": 0}
    assert second["inputs"][0]["fromStep"] == 1
    assert [one["name"] for one in second["outputs"][0]["columns"]] == ["id", "total"]


def test_fingerprints_of_spark(spark: SparkSession) -> None:
    rows = [(1, "a", {"k": 1}), (2, None, None)]
    schema = "id int, `odd ``name` string, tags map<string,int>"
    frame = spark.createDataFrame(rows, schema)
    other = spark.createDataFrame(rows[::-1], schema).repartition(2)
    measured = fingerprint(frame, measure_spark=True)
    assert measured == fingerprint(other, measure_spark=True)
    assert measured.nulls == {"odd `name": 1, "tags": 1}
    # Without measuring nothing runs: the plan stands for the content.
    planned = fingerprint(frame)
    assert planned.rows is None
    assert planned.content == fingerprint(frame.select("*")).content != ""
    assert planned.id != fingerprint(frame.where("id > 1")).id
