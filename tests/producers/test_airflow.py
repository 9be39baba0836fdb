"""A real Airflow runs one day of a small shop, and then the same day again.

The day: load_orders -> sum_orders -> print_labels -> write_report. print_labels fails at the first
try of the first run only; write_report fails at both tries. Airflow derives run ids from the DAG,
the task, the day and the number of the try, so the second run of the day sends the ids of the first
again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.producers.conftest import Shop, run

pytestmark = [pytest.mark.neo4j, pytest.mark.producers, pytest.mark.slow, pytest.mark.timeout(600)]

DAGS = Path(__file__).parent / "airflow_shop"
JOBS = "airflow_shop"
TASKS = ("load_orders", "sum_orders", "print_labels", "write_report")


class Day(NamedTuple):
    """The runs of every task and of the DAG after one day, oldest first."""

    runs: dict[str, list[dict[str, Any]]]
    dag: list[dict[str, Any]]

    def statuses(self, task: str) -> list[str]:
        return [run["status"] for run in self.runs[task]]


class Airflow:
    """An Airflow in a folder that sends its events to the shop."""

    def __init__(self, shop: Shop, programs: Path, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(DAGS, folder / "dags")
        self._shop, self._programs = shop, programs
        till = {"conn_type": "sqlite", "host": str(folder / "till.db")}
        self._settings = {
            "SHOP": str(folder),
            "AIRFLOW_HOME": str(folder / "airflow"),
            "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
            "AIRFLOW__OPENLINEAGE__NAMESPACE": JOBS,
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(
                {"type": "http", "url": shop.url, "compression": "gzip"}
            ),
            "AIRFLOW_CONN_TILL": json.dumps(till),
        }

    def command(self, *arguments: str) -> str:
        done = run(self._programs, self.folder, "airflow", *arguments, **self._settings)
        return done.stdout + done.stderr

    def day(self) -> Day:
        output = self.command("dags", "test", "shop", "2026-01-15")
        assert "DagRun failed" in output, output[-4000:]
        runs = {task: self._shop.runs_of(JOBS, f"shop.{task}") for task in TASKS}
        return Day(runs, self._shop.runs_of(JOBS, "shop"))


@pytest.fixture(scope="module")
def airflow(
    shop: Shop, airflow_programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Airflow:
    built = Airflow(shop, airflow_programs, tmp_path_factory.mktemp("airflow"))
    output = built.command("db", "migrate")
    assert "migration done" in output, output[-4000:]
    return built


@pytest.fixture(scope="module")
def once(airflow: Airflow) -> Day:
    return airflow.day()


@pytest.fixture(scope="module")
def twice(airflow: Airflow, once: Day) -> Day:
    assert len(once.dag) == 1
    return airflow.day()


def test_successful_tasks(once: Day) -> None:
    assert once.statuses("load_orders") == once.statuses("sum_orders") == ["COMPLETE"]


def test_a_task_that_succeeds_at_its_second_try(once: Day) -> None:
    first, second = once.runs["print_labels"]
    assert (first["status"], first["error"]) == ("FAIL", "the printer is asleep")
    assert (second["status"], second["error"]) == ("COMPLETE", None)


def test_a_task_without_success_and_its_dag_stay_failed(once: Day) -> None:
    assert once.statuses("write_report") == ["FAIL", "FAIL"]
    assert {run["error"] for run in once.runs["write_report"]} == {"the printer is out of paper"}
    # `dags test` sends no START of the DAG's run.
    assert [run["status"] for run in once.dag] == ["FAIL"]


def test_every_try_is_part_of_the_run_of_the_dag(once: Day) -> None:
    (dag,) = once.dag
    for task in TASKS:
        for each in once.runs[task]:
            assert [parent["runId"] for parent in each["parents"]] == [dag["runId"]]


def test_statements_are_part_of_their_task(shop: Shop, once: Day) -> None:
    (load,) = once.runs["load_orders"]
    for number in (1, 2):
        (statement,) = shop.runs_of(JOBS, f"shop.load_orders.query.{number}")[-1:]
        assert load["runId"] in [parent["runId"] for parent in statement["parents"]]
    query = (
        'query ($n: String!) { job(namespace: $n, name: "shop.load_orders.query.2") { sql type } }'
    )
    job = shop.ask(query, n=JOBS)["job"]
    assert job["sql"].startswith("insert into orders values")
    assert job["type"] == "QUERY"


def test_the_report_comes_from_the_orders(shop: Shop, airflow: Airflow, once: Day) -> None:
    assert once.dag
    upstream = shop.upstream("file", f"{airflow.folder}/report")
    assert upstream == {
        f"{airflow.folder}/{name}" for name in ("orders", "spent", "prices", "labels")
    }


def test_only_the_labels_of_the_second_try_are_complete(
    shop: Shop, airflow: Airflow, once: Day
) -> None:
    query = """query ($name: String!) { dataset(namespace: "file", name: $name) {
      versions { nodes { complete status runId } } } }"""
    versions = shop.ask(query, name=f"{airflow.folder}/labels")["dataset"]["versions"]["nodes"]
    complete = {version["runId"] for version in versions if version["complete"]}
    assert once.runs["print_labels"][1]["runId"] in complete
    report = shop.ask(query, name=f"{airflow.folder}/report")["dataset"]["versions"]["nodes"]
    assert not any(version["complete"] for version in report)


def test_a_repeated_day_is_a_new_attempt_of_the_same_runs(once: Day, twice: Day) -> None:
    for task in TASKS:
        ids = {run["runId"] for run in twice.runs[task]}
        assert ids == {run["runId"] for run in once.runs[task]}
    first = next(
        run
        for run in twice.runs["print_labels"]
        if run["runId"] == once.runs["print_labels"][0]["runId"]
    )
    assert (first["status"], first["attempts"]) == ("COMPLETE", 2)
    assert twice.statuses("write_report") == ["FAIL", "FAIL"]
    assert {run["attempts"] for run in twice.runs["write_report"]} == {2}
    assert [run["status"] for run in twice.dag] == ["FAIL"]


def test_no_event_of_airflow_is_dead_lettered(shop: Shop, twice: Day) -> None:
    assert twice.dag
    assert shop.dead_letter_count() == 0
