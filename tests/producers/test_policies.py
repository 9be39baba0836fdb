"""A real dbt and a real Airflow ask the policies of a running Headwater before they act.

dbt: `customer_orders`, in the region us, reads `stg_payments`, in the region eu. Airflow: a DAG
drops a table that a job reads. A steward approves each, and each then goes on.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from headwater.local.ports import free_port
from headwater.schema.urns import dataset_urn
from tests.end_to_end.conftest import wait_for
from tests.event_builders import dataset_event, run_event
from tests.producers.conftest import Shop, run
from tests.producers.environments import plain_environment
from tests.run_builders import Event

pytestmark = [pytest.mark.neo4j, pytest.mark.producers, pytest.mark.slow, pytest.mark.timeout(600)]

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
TABLES = "duckdb://ruled/shop.duckdb"
POLICIES = """
policies:
- {name: eu-stays, rule: allowed-flows, with: {from_regions: eu, to_regions: [eu]}}
- {name: read-tables-stay, rule: no-delete-with-consumers}
"""
REGIONS = {"stg_payments": "eu", "refunds": "eu", "refund_report": "eu", "customer_orders": "us"}


@pytest.fixture(scope="module")
def ruled(shop: Shop) -> Iterator[Shop]:
    """A Headwater with policies in its home."""
    folder = shop.home / "policies"
    (folder / "all.yaml").write_text(POLICIES)
    wait_for(lambda: len(policies_of(shop)) == 2)
    yield shop
    (folder / "all.yaml").unlink()


def policies_of(shop: Shop) -> list[Any]:
    found: list[Any] = shop.ask("{ policies { policies { name } } }")["policies"]["policies"]
    return found


def headwater(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headwater", *arguments],
        env=plain_environment(SHOP_DATABASE="ruled/shop.duckdb"),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def approve(shop: Shop, urn: str, policy: str) -> None:
    done = headwater("approve", urn, "--policy", policy, "--reason", "Agreed.", "--url", shop.url)
    assert done.returncode == 0, done.stderr
    shop.wait_folded()


def now(event: Event) -> Event:
    return {**event, "eventTime": datetime.now(UTC).isoformat()}


@pytest.fixture(scope="module")
def manifest(ruled: Shop, dbt_programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build with dbt, import its artifacts, and tag the regions of its tables."""
    folder = tmp_path_factory.mktemp("ruled")
    shutil.copytree(HERE / "dbt_shop", folder, dirs_exist_ok=True)
    (folder / "ruled").mkdir()
    done = run(dbt_programs, folder, "dbt", "build", SHOP_DATABASE="ruled/shop.duckdb")
    assert "PASS=11 WARN=0 ERROR=1 SKIP=1" in done.stdout, done.stdout + done.stderr
    options = ["--job-namespace", "ruled", "--url", ruled.url]
    sent = headwater("import", "dbt", str(folder / "target"), *options)
    assert sent.returncode == 0, sent.stderr
    for name, region in REGIONS.items():
        tags = {"tags": {"tags": [{"key": "region", "value": region}]}}
        ruled.send(now(dataset_event(f"shop.main.{name}", 1, tags, namespace=TABLES)))
    ruled.wait_folded()
    return folder / "target/manifest.json"


class TestDbt:
    def ask(self, manifest: Path, url: str, *options: str) -> subprocess.CompletedProcess[str]:
        return headwater(
            "policy", "dbt", str(manifest), "--namespace", TABLES, "--url", url, *options
        )

    def test_a_refused_model_is_named_until_a_steward_approves(
        self, ruled: Shop, manifest: Path
    ) -> None:
        asked = self.ask(manifest, ruled.url)
        assert asked.returncode == 1, asked.stdout + asked.stderr
        [refused] = [line for line in asked.stdout.splitlines() if line.startswith("refused")]
        assert refused.startswith("refused: customer_orders: eu-stays: ")
        assert "stg_payments" in refused
        asked = self.ask(manifest, ruled.url, "--json")
        rows = {row["model"]: row["allowed"] for row in json.loads(asked.stdout)["models"]}
        assert {name for name, allowed in rows.items() if not allowed} == {"customer_orders"}
        assert {"stg_payments", "stg_orders", "refunds", "refund_report"} <= rows.keys()
        assert self.ask(manifest, ruled.url, "--model", "refunds").returncode == 0
        approve(ruled, dataset_urn(TABLES, "shop.main.customer_orders"), "eu-stays")
        assert self.ask(manifest, ruled.url).returncode == 0

    def test_what_cannot_be_known(self, ruled: Shop, manifest: Path) -> None:
        assert self.ask(manifest, f"http://127.0.0.1:{free_port()}").returncode == 2
        assert self.ask(manifest.with_name("missing.json"), ruled.url).returncode == 2
        assert self.ask(manifest, ruled.url, "--model", "nothing").returncode == 2


class TestAirflow:
    def test_a_dag_stops_before_the_drop_until_a_steward_approves(
        self, ruled: Shop, airflow_programs: Path, tmp_path: Path
    ) -> None:
        urn = dataset_urn("db", "retired")
        reading = run_event("reading", job="daily-report", inputs=["retired"], outputs=["board"])
        ruled.send(now(reading))
        ruled.wait_folded()
        dropped = tmp_path / "dropped"
        # What `pip install headwater[airflow]` adds to the packages of Airflow.
        packages = tmp_path / "packages"
        shutil.copytree(Path(platformdirs.__file__).parent, packages / "platformdirs")
        settings = {
            "PYTHONPATH": f"{REPOSITORY}:{packages}",
            "AIRFLOW_HOME": str(tmp_path / "airflow"),
            "AIRFLOW__CORE__DAGS_FOLDER": str(HERE / "airflow_policies"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
            "AIRFLOW__OPENLINEAGE__DISABLED": "true",
            "HEADWATER_URL": ruled.url,
            "RETIRED": urn,
            "DROPPED": str(dropped),
        }

        def airflow(*arguments: str) -> str:
            done = run(airflow_programs, tmp_path, "airflow", *arguments, **settings)
            return done.stdout + done.stderr

        assert "migration done" in airflow("db", "migrate")
        output = airflow("dags", "test", "retire", "2026-01-15")
        assert "policies refuse to drop" in output, output[-4_000:]
        assert "read-tables-stay: retired has 1 active consumers: job:etl:daily-report" in output
        assert not dropped.exists()
        approve(ruled, urn, "read-tables-stay")
        output = airflow("dags", "test", "retire", "2026-01-15")
        assert dropped.exists(), output[-4_000:]
