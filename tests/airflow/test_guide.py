"""The DAGs of docs/how-to/airflow.md in a real Airflow, against a real Headwater.

revenue comes from raw.sales, and churn is made from the column email of customers. First all is
well; then build_revenue fails, and customers loses the column email.
"""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.sweep import sweep
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import Running, started
from tests.producers.environments import plain_environment, programs_of
from tests.repo.repository import ROOT
from tests.run_builders import FACET, Event

pytestmark = [pytest.mark.neo4j, pytest.mark.producers, pytest.mark.slow, pytest.mark.timeout(600)]

GUIDE = ROOT / "docs" / "how-to" / "airflow.md"
DAGS = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
KEPT = {"customer_id": "long", "email": "string"}


class Shop:
    """A Headwater with its detector, which makes a pass after each group of events."""

    def __init__(self, running: Running) -> None:
        self.url = running.url
        self._running = running

    def send(self, *events: Event) -> None:
        """Send events, and wait until the graph and the findings have them."""
        for event in events:
            request = urllib.request.Request(
                f"{self.url}/api/v1/lineage",
                json.dumps(event).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                assert answer.status == 201
        self._running.wait_folded()
        sweep(GraphView(self._running.database), None, datetime.now(UTC))


class Airflow:
    """An Airflow in a folder, with the DAGs of the guide and a connection to the shop."""

    def __init__(self, url: str, folder: Path) -> None:
        self.programs = programs_of("airflow")
        (folder / "dags").mkdir()
        for number, code in enumerate(DAGS.findall(GUIDE.read_text(encoding="utf-8"))):
            (folder / "dags" / f"guide_{number}.py").write_text(code, encoding="utf-8")
        self.environment = plain_environment(
            PATH=f"{self.programs}:{plain_environment()['PATH']}",
            PYTHONPATH=str(ROOT),
            AIRFLOW_HOME=str(folder / "airflow"),
            AIRFLOW__CORE__DAGS_FOLDER=str(folder / "dags"),
            AIRFLOW__CORE__LOAD_EXAMPLES="false",
            AIRFLOW__OPENLINEAGE__DISABLED="true",
            AIRFLOW_CONN_HEADWATER=json.dumps({"conn_type": "http", "host": url}),
        )
        self._folder = folder

    def run(self, *command: str) -> str:
        """Run a command in Airflow's environment, and return all that it prints."""
        with self.begin(*command) as process:
            output, _ = process.communicate(timeout=300)
        return output

    def begin(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self._folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def test(self, dag: str) -> str:
        return self.run("airflow", "dags", "test", dag)


def now() -> str:
    return datetime.now(UTC).isoformat()


def source(name: str) -> Event:
    return native.source_event(name, namespace="db", captured_at=now())


def run(
    number: int,
    job: str,
    reads: str,
    writes: str,
    schema: dict[str, str],
    columns: Sequence[tuple[str, str]] = (),
    state: str = "COMPLETE",
) -> Event:
    """Return the end of a run; `columns` are pairs of an output's and an input's column."""
    lineage = {
        output: {"inputFields": [{"namespace": "db", "name": reads, "field": column}]}
        for output, column in columns
    }
    fields = [{"name": name, "type": type} for name, type in schema.items()]
    facets = {
        "schema": {**FACET, "fields": fields},
        "columnLineage": {**FACET, "fields": lineage},
    }
    return {
        "eventType": state,
        "eventTime": now(),
        "producer": FACET["_producer"],
        "run": {"runId": f"{job}-{number}", "facets": {}},
        "job": {"namespace": "etl", "name": job, "facets": {}},
        "inputs": [{"namespace": "db", "name": reads}],
        "outputs": [{"namespace": "db", "name": writes, "facets": facets}],
    }


@pytest.fixture(scope="module")
def shop(
    neo4j_server: Neo4jServer, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    with started(neo4j_server, database, tmp_path_factory.mktemp("headwater")) as running:
        found = Shop(running)
        found.send(
            source("raw.sales"),
            source("raw.customers"),
            run(1, "build_revenue", "raw.sales", "revenue", {"revenue": "double"}),
            run(1, "load_customers", "raw.customers", "customers", KEPT),
            run(1, "train_churn", "customers", "churn", {"risk": "double"}, [("risk", "email")]),
            run(1, "report", "revenue", "report", {"revenue": "double"}),
        )
        yield found


@pytest.fixture(scope="module")
def airflow(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Airflow:
    built = Airflow(shop.url, tmp_path_factory.mktemp("airflow"))
    output = built.run("airflow", "db", "migrate")
    assert "migration done" in output, output[-4000:]
    output = built.run("airflow", "dags", "reserialize")
    assert "Traceback" not in output, output[-4000:]
    return built


@pytest.fixture(scope="module")
def published(airflow: Airflow) -> str:
    return airflow.test("publish_revenue")


def test_fresh_data_without_findings_is_published(published: str) -> None:
    assert "the revenue is published" in published, published[-4000:]


def test_a_finding_stops_the_publication_and_is_named(
    shop: Shop, airflow: Airflow, published: str
) -> None:
    assert published
    shop.send(run(2, "build_revenue", "raw.sales", "revenue", {"revenue": "double"}, state="FAIL"))
    output = airflow.test("publish_revenue")
    assert "the revenue is published" not in output
    assert re.search(r"1 finding is open: P\d failed-run on job:etl:build_revenue since", output)


def test_a_waiting_task_gets_the_change_of_the_schema(shop: Shop, airflow: Airflow) -> None:
    with airflow.begin("airflow", "dags", "test", "watch_customers") as process:
        assert process.stdout is not None
        seen = []
        for line in process.stdout:
            seen.append(line)
            if "running trigger in line" in line:
                break
        shop.send(run(2, "load_customers", "raw.customers", "customers", {"customer_id": "long"}))
        rest, _ = process.communicate(timeout=200)
    output = "".join(seen) + rest
    assert "changed: dataset:db:customers" in output, output[-4000:]


CHECKS = """
import asyncio, json, sys
from headwater.airflow.freshness import FreshLineageSensor, FreshLineageTrigger
from headwater.airflow.schema_changes import SchemaChangeTrigger

url = sys.argv[1]
old = FreshLineageSensor(task_id="old", dataset="revenue", within="1s", url=url)
print("old:", old.poke({}))
trigger = FreshLineageTrigger("revenue", "24h", url=url)
path, arguments = SchemaChangeTrigger(
    ["customers"], since="2026-01-01T00:00:00Z", url=url, once=True
).serialize()
again = SchemaChangeTrigger(**arguments)

async def first(trigger):
    async for event in trigger.run():
        return event.payload

print("fresh:", json.dumps(asyncio.run(first(trigger))))
print("path:", path)
print("change:", asyncio.run(first(again))["rule"])
"""


def test_triggers_and_sensors_alone(shop: Shop, airflow: Airflow) -> None:
    output = airflow.run(str(airflow.programs / "python"), "-c", CHECKS, shop.url)
    assert "old: False" in output, output[-4000:]
    assert 'fresh: {"dataset": "revenue", "state": "FRESH"}' in output
    assert "path: headwater.airflow.schema_changes.SchemaChangeTrigger" in output
    assert "change: schema-drift" in output
