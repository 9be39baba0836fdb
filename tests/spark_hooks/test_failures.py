"""Drivers and statements that fail, under a real spark-submit with the flags of `spark-conf` only,
and in plain Python with `configure`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headwater.spark_hooks import as_submit_flags, spark_conf
from headwater.spark_hooks.listener import FAILURE_LISTENER_CLASS, jar_path
from scripts import listener_jar
from tests.spark_hooks import driver_jobs
from tests.spark_hooks.servers import recorder, silent_server
from tests.sparks import QUICK_JAVA

pytestmark = [pytest.mark.spark, pytest.mark.slow]

Event = dict[str, Any]
ROOT = Path(__file__).parents[2]
LOCAL = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}
JAVA_DRIVER = """
import org.apache.spark.sql.SparkSession;

public class Broken {
  public static void main(String[] arguments) {
    SparkSession session = SparkSession.builder().appName("broken").getOrCreate();
    session.range(1).count();
    throw new IllegalStateException("no such month");
  }
}
"""


def execute(*command: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        **QUICK_JAVA,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    return subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


def submit(flags: list[str], *program: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program under spark-submit, with flags and the settings of a small machine."""
    local = [word for key, value in LOCAL.items() for word in ("--conf", f"{key}={value}")]
    spark_submit = Path(sys.executable).parent / "spark-submit"
    return execute(spark_submit, *local, *flags, *program)


def flags_of(url: str) -> list[str]:
    """Return the flags that `headwater spark-conf` prints, as a shell splits them."""
    return shlex.split(as_submit_flags(spark_conf(url, namespace="tests")).replace("\\\n", ""))


def of_job(events: list[Event], name: str) -> list[Event]:
    return [event for event in events if event["job"]["name"] == name]


def errors(events: list[Event]) -> list[str]:
    facets = [event["run"]["facets"] for event in events]
    return [
        (one.get("errorMessage") or one.get("spark.exception"))["message"]
        for one in facets
        if "errorMessage" in one or "spark.exception" in one
    ]


class Submitted:
    """One job by flags only, which many tests examine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with recorder(201) as server:
            program = driver_jobs.__file__
            self.ended = submit(flags_of(server.url), program, "submitted", folder)
            self.events = server.events

    def writing(self, name: str) -> list[Event]:
        path = str(self.folder / name)
        return [
            event
            for event in self.events
            if any(output["name"] == path for output in event["outputs"])
        ]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Submitted:
    return Submitted(tmp_path_factory.mktemp("submitted"))


def test_a_driver_that_raises_fails_its_application(job: Submitted) -> None:
    assert job.ended.returncode == 1, job.ended.stderr[-4000:]
    application = of_job(job.events, "submitted")
    assert [event["eventType"] for event in application] == ["START", "COMPLETE", "FAIL"]
    assert len({event["run"]["runId"] for event in application}) == 1
    error = application[-1]["run"]["facets"]["errorMessage"]
    assert error["message"] == "ValueError: a bad day\nin two lines"
    assert error["programmingLanguage"] == "PYTHON"
    assert "driver_jobs.py" in error["stackTrace"]
    assert "ValueError: a bad day" in job.ended.stdout


def test_a_write_that_is_refused_fails(job: Submitted) -> None:
    assert job.ended.stdout.count("caught AnalysisException") == 1
    by_run: dict[str, list[Event]] = {}
    for event in job.writing("plain"):
        by_run.setdefault(event["run"]["runId"], []).append(event)
    written, refused = by_run.values()
    assert "FAIL" not in {event["eventType"] for event in written}
    assert "FAIL" in {event["eventType"] for event in refused}
    assert "PATH_ALREADY_EXISTS" in errors(refused)[0]


def test_a_query_that_fails_in_a_later_spark_job_fails(job: Submitted) -> None:
    failed = [event for event in job.writing("late") if event["eventType"] == "FAIL"]
    assert "an unwanted row" in errors(failed)[0]


def test_a_stream_into_files_names_its_input_and_no_output(job: Submitted) -> None:
    """As docs/how-to/spark.md says; a stream by foreachBatch names both (tests/producers)."""
    arriving = {str(job.folder / "arriving" / f"{number}.csv") for number in range(2)}
    read = {one["name"] for event in job.events for one in event["inputs"]}
    assert arriving <= read
    assert (job.folder / "arrived").is_dir()
    assert job.writing("arrived") == []


def test_a_java_driver_that_throws_fails_its_application(tmp_path: Path) -> None:
    source = tmp_path / "Broken.java"
    source.write_text(JAVA_DRIVER)
    jars = listener_jar.spark_jars()
    subprocess.run(["javac", "-cp", jars, "-d", tmp_path, source], check=True)
    subprocess.run(
        ["jar", "--create", "--file", tmp_path / "broken.jar", "-C", tmp_path, "Broken.class"],
        check=True,
    )
    with recorder(201) as server:
        ended = submit(flags_of(server.url), "--class", "Broken", tmp_path / "broken.jar")
        application = of_job(server.events, "broken")
    assert ended.returncode == 1
    assert {event["eventType"] for event in application} == {"START", "FAIL", "COMPLETE"}
    assert errors(application) == ["java.lang.IllegalStateException: no such month"]
    assert "no such month" in ended.stderr, "the exception is printed as without the listener"


def test_the_exit_code_of_plain_python_fails_its_application(tmp_path: Path) -> None:
    with recorder(201) as server:
        module = "tests.spark_hooks.driver_jobs"
        ended = execute(sys.executable, "-m", module, "configured", tmp_path, server.url)
        application = of_job(server.events, "configured")
    assert (ended.returncode, ended.stdout) == (1, "caught exit 1\n"), ended.stderr[-4000:]
    assert "the rows are too few" in ended.stderr
    assert {event["eventType"] for event in application} == {"START", "FAIL", "COMPLETE"}
    assert errors(application) == ["the rows are too few"]


@pytest.mark.parametrize("has_lineage", [True, False], ids=["silent server", "no other listener"])
def test_the_listener_changes_no_result_where_it_can_do_nothing(
    has_lineage: bool, tmp_path: Path
) -> None:
    with silent_server() as url:
        flags = flags_of(url)
        if not has_lineage:
            listener = f"spark.extraListeners={FAILURE_LISTENER_CLASS}"
            flags = ["--jars", str(jar_path()), "--conf", listener]
        ended = submit(flags, driver_jobs.__file__, "alone", tmp_path)
    assert ended.returncode == driver_jobs.REFUSED, ended.stderr[-4000:]
    lines = [line for line in ended.stdout.splitlines() if not line.startswith(" ")]
    assert lines[-1] == "10"
    assert sum(line.startswith("caught ") for line in lines) == 2
    assert "FailureListener threw an exception" not in ended.stderr


def test_the_jar_is_compiled_from_the_sources(job: Submitted) -> None:
    """The job has downloaded the OpenLineage listener, which the sources need."""
    assert job.events
    assert listener_jar.build() == jar_path().read_bytes(), (
        "the jar differs from its sources: run `python -m scripts.listener_jar`"
    )
