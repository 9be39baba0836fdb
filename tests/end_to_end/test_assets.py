"""The script of the orders against a real server; only the address differs.

`asset_story.txt` is that script. Its indentation, the marks of its comments and one import were
lost in print, and are restored here. `orders/` is the code that its registrations point to.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.lineage.questions.assets import asset_id
from headwater.schema.urns import dataset_urn
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import Running, started

pytestmark = pytest.mark.neo4j

FOLDER = Path(__file__).parent
ADDRESS = "https://api.datalineage.io"
SOURCE = dataset_urn("default", "raw_orders")
TREE = [
    "[TABLE] raw_orders",
    " └── [DBT_MODEL] stg_orders",
    "  └── [DBT_MODEL] fct_orders",
    "   └── [DAG] daily_revenue_report",
    "   └── [SPARK_JOB] customer_ltv_model",
]


def run_story(url: str, folder: Path) -> tuple[list[str], int]:
    """Run the script as it is printed; return its output and its exit code."""
    text = (FOLDER / "asset_story.txt").read_text(encoding="utf-8")
    assert text.count(ADDRESS) == 1
    script = folder / "story.py"
    script.write_text(text.replace(ADDRESS, url), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, str(script)],
        env={"DATALINEAGE_API_KEY": "any", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert ended.stderr == ""
    return ended.stdout.splitlines(), ended.returncode


def expected(risk: str, affected: list[tuple[str, str, str]], *verdict: str) -> list[str]:
    """Return the output of the script, each affected asset with its references and severity."""
    return [
        f"Registered source: {asset_id(SOURCE)}",
        "Pipeline graph registered successfully.",
        *TREE,
        "",
        "=" * 50,
        "IMPACT ANALYSIS REPORT",
        "=" * 50,
        f"Risk level: {risk}",
        "Affected assets: 4",
        "",
        "Breaking changes detected:",
        *(
            line
            for asset, references, severity in affected
            for line in (
                "",
                f" ⚠ {asset}",
                f" References: {references}",
                f" Severity: {severity}",
            )
        ),
        *verdict,
    ]


@pytest.fixture(scope="module")
def with_code(
    neo4j_server: Neo4jServer, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """Start a server that reads the code of the registered assets."""
    root = tmp_path_factory.mktemp("repository")
    for source in sorted((FOLDER / "orders").rglob("*.txt")):
        target = root / source.relative_to(FOLDER / "orders").with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    home = tmp_path_factory.mktemp("headwater-code")
    settings = {"HEADWATER_REPOSITORY_ROOT": str(root)}
    with started(neo4j_server, database, home, **settings) as server:
        yield server


def test_the_script_ends_as_it_is_printed(with_code: Running, tmp_path: Path) -> None:
    output, code = run_story(with_code.url, tmp_path)
    assert output == expected(
        "HIGH",
        [
            ("stg_orders (dbt_model)", "order_total, legacy_discount_code", "breaking"),
            ("fct_orders (dbt_model)", "order_total", "breaking"),
            ("daily_revenue_report (dag)", "order_total", "breaking"),
            ("customer_ltv_model (spark_job)", "order_total", "warning"),
        ],
        "[BLOCKED] 3 breaking change(s) detected. Fix before merging.",
        " - stg_orders: update references to ['order_total']",
        " - fct_orders: update references to ['order_total']",
        " - daily_revenue_report: update references to ['order_total']",
    )
    assert code == 1


def test_the_command_shows_the_same(with_code: Running, tmp_path: Path) -> None:
    run_story(with_code.url, tmp_path)
    with_code.wait_folded()
    options = ["--rename", "order_total:total_amount", "--drop", "legacy_discount_code"]
    command = ["impact", SOURCE, "--url", with_code.url, *options]
    printed = CliRunner().invoke(app, command, catch_exceptions=False)
    lines = [" ".join(line.split()) for line in printed.output.splitlines()]
    assert lines[0] == "risk high 4 affected, 3 breaking, 1 warning"
    rows = [line for line in lines if line.startswith(("breaking", "warning"))]
    assert [row.split(" its code line ")[0] for row in rows] == [
        "breaking stg_orders dbt_model order_total, legacy_discount_code",
        "breaking fct_orders dbt_model order_total",
        "breaking daily_revenue_report dag order_total",
        "warning customer_ltv_model spark_job order_total",
    ]
    assert rows[1].endswith("its code line 4: sum(order_total) as order_total")


def test_without_code_the_effect_is_unknown(running: Running, tmp_path: Path) -> None:
    output, code = run_story(running.url, tmp_path)
    assert output == expected(
        "HIGH",
        [
            ("stg_orders (dbt_model)", "order_total, legacy_discount_code", "unknown"),
            ("fct_orders (dbt_model)", "", "unknown"),
            ("customer_ltv_model (spark_job)", "", "unknown"),
            ("daily_revenue_report (dag)", "", "unknown"),
        ],
        # The script itself only looks for breaking changes; `headwater gate` blocks here.
        "[OK] No breaking changes. 4 assets may need review.",
    )
    assert code == 0
