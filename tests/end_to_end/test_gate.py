"""The gate and evidence packs as CI runs them: processes, a real repository, the real API."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from headwater.cli import main
from headwater.schema.urns import dataset_urn
from tests import event_builders as scenes
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import Running
from tests.gate.repositories import GitRepository

pytestmark = pytest.mark.neo4j
Gate = Callable[..., tuple[int, dict[str, Any], str]]

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOP = "postgres://shop:5432"
ORDERS = "select id as order_id, amount, note from {{ source('raw', 'orders') }}\n"
REVENUE = "select order_id, sum(amount) as revenue from {{ ref('stg_orders') }} group by order_id\n"
FILES: dict[str, str | bytes] = {
    "dbt/models/stg_orders.sql": ORDERS,
    "dbt/models/revenue.sql": REVENUE,
    "README.md": "shop",
}


def model(
    name: str, sql: str, source: str, lineage: dict[str, list[tuple[str, str]]], **more: Any
) -> dict[str, Any]:
    """Return one run of a dbt model: its source, its columns and their sources, and its SQL."""
    fields = {}
    for column, sources in lineage.items():
        inputs = [{"namespace": SHOP, "name": one, "field": field} for one, field in sources]
        fields[column] = {"inputFields": inputs}
    facets = {
        "columnLineage": {"fields": fields},
        **scenes.schema(**dict.fromkeys(lineage, "text")),
        **more,
    }
    return scenes.run_event(
        f"run-{name}",
        job=f"shop.analytics.{name}",
        inputs=[scenes.dataset(source, namespace=SHOP)],
        outputs=[scenes.dataset(f"shop.analytics.{name}", facets, namespace=SHOP)],
        job_facets={"sql": {"query": sql}},
    )


@pytest.fixture(scope="module")
def shop(running: Running) -> Running:
    stg, revenue = "shop.analytics.stg_orders", "shop.analytics.revenue"
    events = [
        model(
            "stg_orders",
            "select id as order_id, amount, note from shop.raw.orders",
            "shop.raw.orders",
            {
                name: [("shop.raw.orders", field)]
                for name, field in (("order_id", "id"), ("amount", "amount"), ("note", "note"))
            },
        ),
        model(
            "revenue",
            f"select order_id, sum(amount) as revenue from {stg} group by order_id",
            stg,
            {"order_id": [(stg, "order_id")], "revenue": [(stg, "amount")]},
            ownership={"owners": [{"name": "team:finance", "type": "OWNER"}]},
        ),
        model(
            "board", f"select revenue from {revenue}", revenue, {"revenue": [(revenue, "revenue")]}
        ),
    ]
    body = json.dumps(events).encode()
    subprocess.run(
        [sys.executable, "-m", "headwater", "ingest", "-", "--url", running.url],
        input=body,
        check=True,
        capture_output=True,
    )
    running.wait_folded()
    return running


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    created = GitRepository(tmp_path / "repository", FILES)
    created.branch()
    return created


@pytest.fixture
def gate(
    shop: Running,
    repository: GitRepository,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Gate:
    """Run the command within this process, so that only one test starts another process."""

    def run(
        *options: str, url: str = shop.url, **environment: str
    ) -> tuple[int, dict[str, Any], str]:
        monkeypatch.chdir(repository.folder / "dbt")
        for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(
            sys, "argv", ["headwater", "gate", "--base", "main", "--url", url, "--json", *options]
        )
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return int(str(ended.value.code)), json.loads(out) if out else {}, err

    return run


def shell(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script of CI, with the `headwater` of this environment on its path."""
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={
            **os.environ,
            **environment,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_action_of_github_and_the_docs(
    shop: Running, repository: GitRepository, tmp_path: Path
) -> None:
    repository.write({"dbt/models/stg_orders.sql": ORDERS.replace("amount, ", "")})
    action = yaml.safe_load((EXAMPLES / "github-action/action.yml").read_text())
    (step,) = (one for one in action["runs"]["steps"] if one["id"] == "gate")
    inputs = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
    variables = {"URL": shop.url, "BASE": "main", "REPORTS": str(tmp_path), "HEADWATER_API_KEY": ""}
    variables |= {
        "MAX_DOWNSTREAM": inputs["max-downstream"],
        "MANIFEST": "",
        "POLICIES": "",
        "DIALECT": inputs["dialect"],
    }
    assert set(variables) == set(step["env"])
    ended = shell(step["run"], repository.folder, **variables)
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    docs = (EXAMPLES.parent / "docs/how-to/gate.md").read_text()
    assert ended.stdout.strip() in docs
    assert (tmp_path / "headwater-gate.md").read_text().strip() in docs
    assert (tmp_path / "headwater-gate.sarif").is_file()


def test_the_job_of_gitlab(shop: Running, repository: GitRepository) -> None:
    repository.write({"dbt/models/stg_orders.sql": ORDERS.replace(", note", "")})
    (job,) = yaml.safe_load((EXAMPLES / "gitlab/.gitlab-ci.yml").read_text()).values()
    variables = {
        "HEADWATER_URL": shop.url,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.git("rev-parse", "main"),
    }
    ended = shell("\n".join(job["script"]), repository.folder, **variables)
    assert (ended.returncode, ended.stderr.count("Traceback")) == (0, 0)
    reports = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert [name for name in reports if not (repository.folder / name).is_file()] == []


def test_a_violated_policy_fails_and_the_docs_show_it(
    gate: Gate, shop: Running, repository: GitRepository, tmp_path: Path
) -> None:
    policies = tmp_path / "policies"
    policies.mkdir()
    file = policies / "orders.yaml"
    file.write_text(
        "name: far-reach\nrule: approval-for-blast-radius\nwith: {over: 1}\nowners: dana\n"
    )
    repository.write({"dbt/models/stg_orders.sql": ORDERS.replace(", note", "")})
    assert gate()[0] == 0
    code, report, _ = gate("--policies", str(policies))
    assert (code, report["reasons"]) == (1, ["violated policies: far-reach"])
    (violation,) = report["policyViolations"]
    assert (violation["enforce"], violation["file"]) == ("block", "dbt/models/stg_orders.sql")
    docs = (EXAMPLES.parent / "docs/how-to/gate.md").read_text()
    command = "headwater gate --base main --policies policies"
    variables = {"HEADWATER_URL": shop.url, "HEADWATER_API_KEY": ""}
    shutil.copytree(policies, repository.folder / "policies")
    ended = shell(command, repository.folder, **variables)
    shown = f"$ {command}\n{ended.stdout}"
    assert shown.replace("\n", "\n    ").strip() in docs
    file.write_text("name: far-reach\nrule: none-such\n")
    code, report, _ = gate("--policies", str(policies))
    assert (code, report["verdict"]) == (2, "blocked")
    assert "none-such" in report["problems"][0]["message"]


def test_a_branch_without_table_changes_passes(gate: Gate, repository: GitRepository) -> None:
    repository.write(
        {"README.md": "changed", "dbt/models/stg_orders.sql": f"-- better said\n{ORDERS}"}
    )
    code, report, _ = gate()
    assert (code, report["verdict"], report["changes"]) == (0, "passed", [])


def test_a_dropped_column_that_is_read_fails(
    gate: Gate, repository: GitRepository, tmp_path: Path
) -> None:
    repository.write({"dbt/models/stg_orders.sql": ORDERS.replace("amount, ", "")})
    files = {name: tmp_path / f"report.{name}" for name in ("markdown", "sarif", "junit")}
    summary = tmp_path / "summary"
    options: list[str] = []
    for name, path in files.items():
        options += [f"--{name}", str(path)]
    code, report, annotations = gate(
        *options, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary)
    )
    assert (code, report["verdict"]) == (1, "failed")
    (change,) = report["changes"]
    assert (change["file"], change["dataset"]) == (
        "dbt/models/stg_orders.sql",
        dataset_urn(SHOP, "shop.analytics.stg_orders"),
    )
    assert change["change"]["type"] == "column_drop"
    broken = {one["name"]: one for one in report["affected"] if one["severity"] == "breaking"}
    # The branch changes the job that makes stg_orders: that job does not break.
    assert set(broken) == {"shop.analytics.revenue", "shop.analytics.board"}
    assert broken["shop.analytics.revenue"]["references"] == ["amount"]
    assert broken["shop.analytics.revenue"]["evidence"] != []
    assert "::error file=dbt/models/stg_orders.sql,line=1,title=" in annotations
    assert files["markdown"].read_text() == summary.read_text()
    assert "`shop.analytics.revenue`" in summary.read_text()
    assert (
        json.loads(files["sarif"].read_text())["runs"][0]["results"][0]["ruleId"]
        == "breaking-change"
    )
    assert b'failures="1"' in files["junit"].read_bytes()


def test_an_unused_column_may_be_dropped(gate: Gate, repository: GitRepository) -> None:
    repository.write({"dbt/models/stg_orders.sql": ORDERS.replace(", note", "")})
    code, report, _ = gate()
    assert [one["change"]["type"] for one in report["changes"]] == ["column_drop"]
    assert (code, [one for one in report["affected"] if one["severity"] == "breaking"]) == (0, [])


def test_a_reader_that_the_branch_fixes_too_does_not_break(
    gate: Gate, repository: GitRepository
) -> None:
    repository.write({"dbt/models/stg_orders.sql": ORDERS.replace("amount", "amount as total")})
    code, report, _ = gate()
    assert (code, report["changes"][0]["change"]["type"]) == (1, "column_rename")
    repository.write({"dbt/models/revenue.sql": REVENUE.replace("sum(amount)", "sum(total)")})
    _, report, _ = gate()
    severities = {one["name"]: one["severity"] for one in report["affected"]}
    assert severities["shop.analytics.revenue"] == "warning"


def test_a_reader_whose_code_is_not_known_blocks(
    gate: Gate, repository: GitRepository, shop: Running
) -> None:
    """Register a reader of the raw orders without its code, and drop a column that it may use."""
    blind = {
        "asset_type": "spark_job",
        "name": "blind",
        "source_ref": "jobs/blind.py",
        "upstream_assets": [dataset_urn(SHOP, "shop.analytics.stg_orders")],
    }
    request = urllib.request.Request(
        f"{shop.url}/v1/lineage/trace",
        data=json.dumps(blind).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 201
    shop.wait_folded()
    try:
        repository.write({"dbt/models/stg_orders.sql": ORDERS.replace(", note", "")})
        code, report, _ = gate()
        assert (code, report["verdict"], report["unassessedAssets"]) == (2, "blocked", ["blind"])
        assert [one["evidence"] for one in report["affected"] if one["name"] == "blind"] == [
            ["shop.analytics.stg_orders → blind (its code is not known)"]
        ]
        code, report, _ = gate("--allow-unknown")
        assert (code, report["verdict"], report["unassessedAssets"]) == (0, "passed", [])
    finally:
        withdrawn = json.dumps({**blind, "upstream_assets": []}).encode()
        with urllib.request.urlopen(
            urllib.request.Request(request.full_url, data=withdrawn, headers=request.headers),
            timeout=30,
        ):
            shop.wait_folded()


def test_too_many_assets_and_a_reason_to_allow_them(gate: Gate, repository: GitRepository) -> None:
    repository.write(
        {"dbt/models/stg_orders.sql": ORDERS.replace("amount,", "amount * 2 as amount,")}
    )
    code, report, _ = gate("--max-downstream", "1")
    assert (code, report["reasons"]) == (
        1,
        ["2 assets downstream are affected, more than 1"],
    )
    code, report, _ = gate("--max-downstream", "1", "--allow", "agreed with finance")
    assert (code, report["verdict"], report["allowReason"]) == (0, "failed", "agreed with finance")


def test_a_deleted_model_and_a_dropped_table(gate: Gate, repository: GitRepository) -> None:
    repository.git("rm", "-q", "dbt/models/stg_orders.sql")
    code, report, _ = gate()
    # Readers of its table continue on old data: that is a warning.
    assert (code, report["changes"][0]["change"]["type"]) == (0, "job_delete")
    assert {one["name"] for one in report["affected"]} == {
        "shop.analytics.revenue",
        "shop.analytics.board",
    }
    repository.git("reset", "-q", "--hard")
    repository.write({"migrations/2.sql": "drop table shop.raw.orders;\n"})
    code, report, _ = gate()
    assert (code, report["changes"][0]["dataset"]) == (1, dataset_urn(SHOP, "shop.raw.orders"))


def test_a_table_in_no_lineage_blocks_unless_it_is_new(
    gate: Gate, repository: GitRepository
) -> None:
    repository.write({"dbt/models/other.sql": "select 1 as a"})
    assert gate()[0] == 0
    repository.write({"migrations/3.sql": "alter table nowhere_at_all drop column a;\n"})
    code, report, _ = gate()
    assert (code, report["verdict"]) == (2, "blocked")
    assert report["problems"][0]["file"] == "migrations/3.sql"
    code, _, _ = gate("--map", f"nowhere_at_all={dataset_urn(SHOP, 'shop.raw.orders')}")
    assert code != 2


def test_a_manifest_has_the_table_of_a_model(
    gate: Gate, repository: GitRepository, tmp_path: Path
) -> None:
    node = {
        "resource_type": "model",
        "database": "shop",
        "schema": "analytics",
        "name": "v2",
        "alias": "stg_orders",
    }
    manifest = tmp_path / "manifest.json"
    manifest.write_text(
        json.dumps({"nodes": {"m": {**node, "original_file_path": "models/v2.sql"}}})
    )
    repository.git("mv", "dbt/models/stg_orders.sql", "dbt/models/v2.sql")
    repository.commit()
    repository.git("branch", "-f", "main")
    repository.write({"dbt/models/v2.sql": ORDERS.replace("amount, ", "")})
    assert gate()[0] == 2
    assert gate("--manifest", str(manifest))[0] == 1


def test_errors_of_the_api_and_of_files_block(
    gate: Gate, repository: GitRepository, tmp_path: Path
) -> None:
    repository.write(
        {"dbt/models/stg_orders.sql": "select {% for x in y %} {{ x }} {% endfor %} from t"}
    )
    code, report, _ = gate()
    assert (code, "only dbt knows" in report["problems"][0]["message"]) == (2, True)
    repository.write({"dbt/models/stg_orders.sql": ORDERS.replace("amount, ", "")})
    code, report, _ = gate(url="http://127.0.0.1:9")
    assert (code, "does not answer" in report["problems"][0]["message"]) == (2, True)
    code, report, _ = gate("--repository", str(tmp_path))
    assert (code, "not a git repository" in report["problems"][0]["message"]) == (2, True)
    assert gate("--manifest", str(tmp_path / "none.json"))[0] == 2
    assert gate("--sarif", str(tmp_path / "no" / "folder"))[0] == 2
    assert gate("--map", "orders")[0] == 2


def test_an_evidence_pack_is_made_and_verified(
    shop: Running,
    neo4j_server: Neo4jServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    environment = {
        "HEADWATER_HOME": str(shop.home),
        "HEADWATER_NEO4J_URI": neo4j_server.uri,
        "HEADWATER_NEO4J_USER": neo4j_server.user,
        "HEADWATER_NEO4J_PASSWORD": neo4j_server.password,
    }

    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def evidence(*options: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["headwater", "evidence", *options])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(str(ended.code or 0))
        return code, capfd.readouterr().out

    urn = dataset_urn(SHOP, "shop.analytics.revenue")
    code, shown = evidence(urn, "--out", str(tmp_path / "packs"), "--at", "2026-01-02T00:00:00Z")
    assert code == 0
    one, other = sorted((tmp_path / "packs").iterdir())
    assert (one.suffix, other.suffix) == (".html", ".json")
    noted = shown.rstrip().rpartition(" ")[2]
    for file in (one, other):
        assert evidence("--verify", str(file), "--hash", noted) == (
            0,
            f"{file}: as it was sealed\n",
        )
        file.write_text(file.read_text().replace("team:finance", "team:sales"))
        code, shown = evidence("--verify", str(file))
        assert (code, "section owners was changed" in shown) == (1, True)
    assert evidence("--verify", str(tmp_path / "none"))[0] == 2
    assert evidence(dataset_urn(SHOP, "nowhere"), "--out", str(tmp_path))[0] == 6
    assert evidence()[0] == 2


def test_models_of_a_real_dbt(gate: Gate, shop: Running, repository: GitRepository) -> None:
    # The events that dbt sent of tests/producers/dbt_shop, and that project as a repository.
    tests = Path(__file__).parents[1]
    captured = tests / "captures/dbt_shop.jsonl"
    ingest = [sys.executable, "-m", "headwater", "ingest", str(captured), "--url", shop.url]
    subprocess.run(ingest, check=True, capture_output=True)
    shop.wait_folded()
    project = tests / "producers/dbt_shop"
    files = {
        f"dbt/{file.relative_to(project)}": file.read_bytes()
        for file in project.rglob("*")
        if file.is_file()
    }
    repository.git("checkout", "-q", "main")
    repository.git("rm", "-rq", "dbt")
    repository.write(dict(files))
    repository.commit()
    payments = files["dbt/models/stg_payments.sql"].decode()
    repository.write({"dbt/models/stg_payments.sql": payments.replace(", refunded", "")})
    code, report, _ = gate("--dialect", "duckdb")
    assert (code, report["problems"]) == (1, [])
    assert report["changes"][0]["dataset"].endswith(":shop.main.stg_payments")
    broken = {one["name"] for one in report["affected"] if one["severity"] == "breaking"}
    # dbt reports a model once for `dbt run` and once for `dbt build`.
    assert {name.removesuffix(".build.run") for name in broken} == {
        "shop.main.shop.refunds",
        "shop.main.shop.refund_report",
    }
