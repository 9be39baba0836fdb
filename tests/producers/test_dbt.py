"""A real dbt builds a small shop twice: events from its artifacts, and from its structured logs.

The shop: payments are a source, customers and orders are seeds, with staging views.
`customer_orders` joins all three. `refunds` fails a test of its own, so `dbt build` never makes its
reader `refund_report`. All expected values follow from those files and from dbt's output.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.producers.conftest import Shop, run
from tests.producers.environments import plain_environment

pytestmark = [pytest.mark.neo4j, pytest.mark.producers, pytest.mark.slow, pytest.mark.timeout(600)]

PROJECT = Path(__file__).parent / "dbt_shop"
COLUMN_FLOWS = """MATCH (a:Column)-[:FEEDS]->(b:Column {namespace: $n})
RETURN a.dataset + '.' + a.name AS source, b.dataset + '.' + b.name AS target"""
NIGHTLY = str(uuid.uuid4())


class Built(NamedTuple):
    """The namespaces of the jobs and the tables that one kind of transport reports."""

    jobs: str
    tables: str


def build(shop: Shop, programs: Path, folder: Path, mode: str, **settings: str) -> Built:
    """Run `dbt-ol build`; assert that it has only the planned failure."""
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True)
    (folder / mode).mkdir()
    options = ["--consume-structured-logs"] if mode == "structured" else []
    done = dbt(shop, programs, folder, mode, *options, "build", **settings)
    assert done.returncode == 1
    assert "PASS=11 WARN=0 ERROR=1 SKIP=1" in done.stdout, done.stdout + done.stderr
    assert "failed to emit" not in done.stdout
    return Built(mode, f"duckdb://{mode}/shop.duckdb")


def dbt(
    shop: Shop, programs: Path, folder: Path, mode: str, *arguments: str, **settings: str
) -> Any:
    settings = {"OPENLINEAGE_URL": shop.url, "OPENLINEAGE_NAMESPACE": mode} | settings
    return run(
        programs, folder, "dbt-ol", *arguments, SHOP_DATABASE=f"{mode}/shop.duckdb", **settings
    )


@pytest.fixture(scope="module")
def classic(shop: Shop, dbt_programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Run a build, and then a run with a nightly job as its parent."""
    folder = tmp_path_factory.mktemp("classic")
    built = build(shop, dbt_programs, folder, "classic")
    parent = f"plans/nightly/{NIGHTLY}"
    done = dbt(shop, dbt_programs, folder, "classic", "run", OPENLINEAGE_PARENT_ID=parent)
    assert (done.returncode, "PASS=7 " in done.stdout) == (0, True), done.stdout + done.stderr
    return built


@pytest.fixture(scope="module")
def structured(shop: Shop, dbt_programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Run a build with structured logs, the asynchronous client and gzip."""
    transport = {"TYPE": "async_http", "URL": shop.url, "COMPRESSION": "gzip"}
    settings = {f"OPENLINEAGE__TRANSPORT__{name}": value for name, value in transport.items()}
    return build(
        shop, dbt_programs, tmp_path_factory.mktemp("structured"), "structured", **settings
    )


@pytest.fixture(scope="module")
def imported(shop: Shop, dbt_programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build with plain dbt, and import its artifacts twice."""
    folder = tmp_path_factory.mktemp("imported")
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True)
    (folder / "imported").mkdir()
    database = "imported/shop.duckdb"
    done = run(dbt_programs, folder, "dbt", "build", SHOP_DATABASE=database)
    assert "PASS=11 WARN=0 ERROR=1 SKIP=1" in done.stdout, done.stdout + done.stderr
    command = [sys.executable, "-m", "headwater", "import", "dbt", str(folder / "target")]
    options = ["--job-namespace", "imported", "--url", shop.url, "--json"]
    for _ in range(2):
        sent = subprocess.run(
            [*command, *options],
            env=plain_environment(SHOP_DATABASE=database),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert sent.returncode == 0, sent.stderr
        summary = json.loads(sent.stdout)
        assert (summary["refused"], summary["problems"]) == ([], [])
    return Built("imported", "duckdb://imported/shop.duckdb")


def names(*tables: str) -> set[str]:
    return {f"shop.{table}" for table in tables}


class TestFromItsArtifacts:
    def test_no_table_is_lost(self, shop: Shop, classic: Built) -> None:
        assert shop.datasets(classic.tables) >= names(
            "till.payments",
            "main.stg_orders",
            "main.stg_payments",
            "main.customer_orders",
            "main.refunds",
            "main.refund_report",
            "main.customers_kept",
        )

    def test_the_joined_table_comes_from_the_till(self, shop: Shop, classic: Built) -> None:
        upstream = shop.upstream(classic.tables, "shop.main.customer_orders")
        assert upstream >= names("main.stg_orders", "main.stg_payments", "till.payments")
        assert not upstream & names("main.refunds", "main.refund_report", "main.customers_kept")

    def test_the_report_comes_from_the_refunds(self, shop: Shop, classic: Built) -> None:
        upstream = shop.upstream(classic.tables, "shop.main.refund_report")
        assert upstream == names("main.refunds", "main.stg_payments", "till.payments")

    def test_columns_from_the_seeds_to_the_mart(self, shop: Shop, classic: Built) -> None:
        """dbt names no seed as an input, but it names the columns of seeds."""
        flows = {
            (row["source"], row["target"]) for row in shop.rows(COLUMN_FLOWS, n=classic.tables)
        }
        assert {
            (target.rpartition(".")[2], source)
            for source, target in flows
            if "customer_orders." in target
        } == {
            ("customer_id", "shop.main.raw_customers.customer_id"),
            ("name", "shop.main.raw_customers.name"),
            ("orders", "shop.main.stg_orders.order_id"),
            ("spent", "shop.main.stg_payments.amount"),
        }
        assert ("shop.main.raw_orders.order_id", "shop.main.stg_orders.order_id") in flows
        assert ("shop.till.payments.amount", "shop.main.stg_payments.amount") in flows

    def test_the_failed_test_and_its_invocation_stay_failed(
        self, shop: Shop, classic: Built
    ) -> None:
        assert shop.statuses(classic.jobs, "shop.main.shop.refunds.build.test") == ["FAIL"]
        assert shop.statuses(classic.jobs, "shop.main.shop.customer_orders.build.test") == [
            "COMPLETE"
        ]
        assert shop.statuses(classic.jobs, "dbt-run-shop") == ["FAIL"]
        assert shop.statuses(classic.jobs, "shop.main.shop.refunds.build.run") == ["COMPLETE"]

    def test_every_run_is_part_of_its_invocation(self, shop: Shop, classic: Built) -> None:
        (invocation,) = shop.runs_of(classic.jobs, "dbt-run-shop")
        for job in ("stg_orders.build.run", "customer_orders.build.run", "refunds.build.test"):
            (of_build,) = shop.runs_of(classic.jobs, f"shop.main.shop.{job}")
            assert [parent["runId"] for parent in of_build["parents"]] == [invocation["runId"]]

    def test_the_invocation_is_part_of_its_parent_run(self, shop: Shop, classic: Built) -> None:
        (invocation,) = shop.runs_of("plans", "dbt-run-shop")
        assert invocation["status"] == "COMPLETE"
        assert NIGHTLY in {parent["runId"] for parent in invocation["parents"]}
        (model,) = shop.runs_of(classic.jobs, "shop.main.shop.refund_report")
        assert invocation["runId"] in {parent["runId"] for parent in model["parents"]}

    def test_the_report_was_made_by_the_run_alone(self, shop: Shop, classic: Built) -> None:
        query = """query ($n: String!) { dataset(namespace: $n, name: "shop.main.refund_report") {
          versions { nodes { complete run { pipelineName } } } } }"""
        versions = shop.ask(query, n=classic.tables)["dataset"]["versions"]["nodes"]
        assert versions == [
            {"complete": True, "run": {"pipelineName": "shop.main.shop.refund_report"}}
        ]

    def test_the_statement_is_stored(self, shop: Shop, classic: Built) -> None:
        query = '{ job(namespace: "classic", name: "shop.main.shop.refunds") { sql type } }'
        assert classic.jobs == "classic"
        job = shop.ask(query)["job"]
        assert "refunded as amount" in job["sql"]
        assert job["type"] == "MODEL"


class TestFromItsStructuredLogs:
    def test_no_table_is_lost(self, shop: Shop, structured: Built) -> None:
        assert shop.datasets(structured.tables) >= names(
            "till.payments",
            "main.raw_customers",
            "main.raw_orders",
            "main.stg_orders",
            "main.stg_payments",
            "main.customer_orders",
            "main.refunds",
            "main.refund_report",
            "main.customers_kept",
            "main_dbt_test__audit.not_null_refunds_amount",
        )

    def test_the_mart_comes_from_its_seeds_and_the_till(
        self, shop: Shop, structured: Built
    ) -> None:
        assert shop.upstream(structured.tables, "shop.main.customer_orders") == names(
            "main.raw_customers",
            "main.raw_orders",
            "main.stg_orders",
            "main.stg_payments",
            "till.payments",
        )
        assert shop.upstream(structured.tables, "shop.main.customers_kept") == names(
            "main.raw_customers"
        )

    def test_seeds_are_made_by_their_jobs(self, shop: Shop, structured: Built) -> None:
        query = """query ($n: String!) { dataset(namespace: $n, name: "shop.main.raw_orders") {
          producedBy { name } readBy { name } } }"""
        assert shop.ask(query, n=structured.tables)["dataset"] == {
            "producedBy": [{"name": "seed.shop.raw_orders"}],
            "readBy": [{"name": "model.shop.stg_orders"}],
        }

    def test_the_failed_test_says_why(self, shop: Shop, structured: Built) -> None:
        (failed,) = shop.runs_of(structured.jobs, "test.shop.not_null_refunds_amount.13246d3811")
        assert (failed["status"], failed["attempts"]) == ("FAIL", 1)
        assert "Got 2 results, configured to fail if != 0" in failed["error"]
        (invocation,) = shop.runs_of(structured.jobs, "dbt-run-shop")
        assert invocation["status"] == "FAIL"
        assert invocation["runId"] in [parent["runId"] for parent in failed["parents"]]
        query = "{ failedRuns(first: 50) { edges { node { runId } } } }"
        failures = {edge["node"]["runId"] for edge in shop.ask(query)["failedRuns"]["edges"]}
        assert {failed["runId"], invocation["runId"]} <= failures

    def test_a_skipped_model_was_aborted_and_made_nothing(
        self, shop: Shop, structured: Built
    ) -> None:
        """Its START and its ABORT have the same instant."""
        assert shop.statuses(structured.jobs, "model.shop.refund_report") == ["ABORT"]
        query = """query ($n: String!) { dataset(namespace: $n, name: "shop.main.refund_report") {
          versions { nodes { complete } } } }"""
        versions = shop.ask(query, n=structured.tables)["dataset"]["versions"]["nodes"]
        assert not any(version["complete"] for version in versions)

    def test_every_statement_is_part_of_its_model(self, shop: Shop, structured: Built) -> None:
        (model,) = shop.runs_of(structured.jobs, "model.shop.customer_orders")
        assert model["status"] == "COMPLETE"
        for number in (1, 5):
            (statement,) = shop.runs_of(structured.jobs, f"model.shop.customer_orders.sql.{number}")
            assert statement["status"] == "COMPLETE"
            assert model["runId"] in [parent["runId"] for parent in statement["parents"]]

    def test_no_reported_run_is_left_running(self, shop: Shop, structured: Built) -> None:
        """dbt reports the runs of its hooks only as parents of statements, without any state."""
        rows = shop.rows(
            (
                "MATCH (r:PipelineRun {namespace: $n}) WHERE r.startedAt IS NOT NULL RETURN "
                "r.status AS status"
            ),
            n=structured.jobs,
        )
        states = [row["status"] for row in rows]
        assert (states.count("FAIL"), states.count("ABORT"), set(states)) == (
            2,
            1,
            {"FAIL", "ABORT", "COMPLETE"},
        )


def test_no_event_of_dbt_is_dead_lettered(shop: Shop, classic: Built, structured: Built) -> None:
    assert classic != structured
    assert shop.dead_letter_count() == 0


class TestImported:
    """`headwater import dbt` on the artifacts of a build, against what the wrapper sent of it."""

    def test_the_datasets_and_edges_are_those_of_the_wrapper(
        self, shop: Shop, structured: Built, imported: Built
    ) -> None:
        """But for the tables of tests, which the wrapper reports as written."""
        sent = shop.datasets(structured.tables)
        audits = {name for name in sent if "dbt_test__audit" in name}
        assert shop.datasets(imported.tables) == sent - audits
        for name in sorted(shop.datasets(imported.tables)):
            assert shop.upstream(imported.tables, name) == shop.upstream(structured.tables, name)

    def test_the_column_flows_are_those_of_the_wrapper(
        self, shop: Shop, classic: Built, imported: Built
    ) -> None:
        flows = [
            {(row["source"], row["target"]) for row in shop.rows(COLUMN_FLOWS, n=namespace)}
            for namespace in (classic.tables, imported.tables)
        ]
        assert flows[1] >= flows[0] != set()

    def test_each_run_ended_as_dbt_reported_it(self, shop: Shop, imported: Built) -> None:
        """Importing twice is importing once: each job has one run."""
        statuses = {
            "shop.main.shop.customer_orders": "COMPLETE",
            "shop.main.shop.customer_orders.test": "COMPLETE",
            "shop.main.shop.customers_kept.snapshot": "COMPLETE",
            "shop.main.shop.raw_orders.seed": "COMPLETE",
            "shop.main.shop.refund_report": "ABORT",
            "shop.main.shop.refunds": "COMPLETE",
            "shop.main.shop.refunds.test": "FAIL",
            "dbt-run-shop": "FAIL",
        }
        found = {name: shop.statuses(imported.jobs, name) for name in statuses}
        assert found == {name: [status] for name, status in statuses.items()}
        (failed,) = shop.runs_of(imported.jobs, "shop.main.shop.refunds.test")
        assert "Got 2 results, configured to fail if != 0" in failed["error"]
        (invocation,) = shop.runs_of(imported.jobs, "dbt-run-shop")
        assert [parent["runId"] for parent in failed["parents"]] == [invocation["runId"]]

    def test_an_exposure_is_traced_to_the_till(self, shop: Shop, imported: Built) -> None:
        query = """{ trace(answerId: "exposure.shop.spend_by_customer") {
          answer { type url owners } sources { name } } }"""
        assert imported.jobs == "imported"
        trace = shop.ask(query)["trace"]
        assert trace["answer"] == {
            "type": "dashboard",
            "url": "https://bi.example.com/spend",
            "owners": ["team:insight"],
        }
        assert [source["name"] for source in trace["sources"]] == ["shop.till.payments"]
