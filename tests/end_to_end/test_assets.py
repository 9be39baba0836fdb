"""The script of the orders against a real server; only the address differs.

`asset_story.txt` is that script. Its indentation, the marks of its comments and one import were
lost in print, and are restored here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from headwater.lineage.questions.assets import asset_id
from headwater.schema.urns import dataset_urn
from tests.end_to_end.conftest import Running

pytestmark = pytest.mark.neo4j

SCRIPT = Path(__file__).with_name("asset_story.txt")
ADDRESS = "https://api.datalineage.io"


def test_the_script_runs_as_it_is_printed(running: Running, tmp_path: Path) -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert text.count(ADDRESS) == 1
    script = tmp_path / "story.py"
    script.write_text(text.replace(ADDRESS, running.url), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, str(script)],
        env={"DATALINEAGE_API_KEY": "any", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    source = asset_id(dataset_urn("default", "raw_orders"))
    affected = (
        ("stg_orders (dbt_model)", "order_total, legacy_discount_code"),
        ("fct_orders (dbt_model)", ""),
        ("customer_ltv_model (spark_job)", ""),
        ("daily_revenue_report (dag)", ""),
    )
    assert ended.stdout.splitlines() == [
        f"Registered source: {source}",
        "Pipeline graph registered successfully.",
        "[TABLE] raw_orders",
        " └── [DBT_MODEL] stg_orders",
        "  └── [DBT_MODEL] fct_orders",
        "   └── [DAG] daily_revenue_report",
        "   └── [SPARK_JOB] customer_ltv_model",
        "",
        "=" * 50,
        "IMPACT ANALYSIS REPORT",
        "=" * 50,
        # The graph has only registrations here, without columns or code, so no break is proven.
        "Risk level: MEDIUM",
        "Affected assets: 4",
        "",
        "Breaking changes detected:",
        *(
            line
            for asset, references in affected
            for line in ("", f" ⚠ {asset}", f" References: {references}", " Severity: warning")
        ),
        "[OK] No breaking changes. 4 assets may need review.",
    ], ended.stdout + ended.stderr
    assert ended.returncode == 0
