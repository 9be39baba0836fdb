"""The rules for Prometheus: checked by promtool, and loaded by a Prometheus that scrapes an API."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from headwater.health.findings.runbooks import RUNBOOKS
from headwater.health.service_levels.definitions import SERVICE_LEVELS
from headwater.local.ports import free_port
from tests.end_to_end.conftest import answers_at, wait_for
from tests.keyed_api import api, graph, home, keys
from tests.repo.repository import ROOT

__all__ = ["api", "graph", "home", "keys"]

FOLDER = ROOT / "examples" / "prometheus"
PROMTOOL, PROMETHEUS = shutil.which("promtool"), shutil.which("prometheus")
needs_prometheus = pytest.mark.skipif(PROMTOOL is None, reason="no Prometheus on this machine")
RULE_FILES = ("recording_rules.yml", "alerting_rules.yml")
# A busy machine plans each question once, for seconds.
SECONDS_MAX = 120


def rules() -> list[dict[str, Any]]:
    """Return every rule of the files."""
    found: list[dict[str, Any]] = []
    for name in RULE_FILES:
        for group in yaml.safe_load((FOLDER / name).read_text("utf-8"))["groups"]:
            found += group["rules"]
    return found


def promtool(*words: str) -> None:
    assert PROMTOOL is not None
    done = subprocess.run(
        [PROMTOOL, *words], cwd=FOLDER, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_prometheus
def test_promtool_accepts_the_rules_and_their_tests() -> None:
    promtool("check", "rules", *RULE_FILES)
    promtool("test", "rules", "tests.yml")
    promtool("check", "config", "--syntax-only", "prometheus.yml")


@pytest.mark.parametrize(
    "rule", [one for one in rules() if "alert" in one], ids=lambda r: r["alert"]
)
def test_an_alert_has_a_tier_and_a_runbook(rule: dict[str, Any]) -> None:
    assert rule["labels"]["tier"] in {"P1", "P2", "P3"}
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"].rpartition("/")[2] in RUNBOOKS


def test_the_budgets_of_the_rules_are_those_of_the_levels() -> None:
    for rule in rules():
        divided = re.search(r"/ (0\.\d+)$", rule["expr"])
        if divided and "id" in rule.get("labels", {}):
            objective = SERVICE_LEVELS[rule["labels"]["id"]].objective
            assert float(divided.group(1)) == pytest.approx(1 - objective)


@pytest.fixture
def prometheus(api: str, keys: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """Run the example configuration on loopback, at a faster pace; yield its address."""
    assert PROMETHEUS is not None
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))
    config["global"] |= {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [api.removeprefix("http://")]
    del config["alerting"]
    (tmp_path / "headwater.key").write_text(keys["read"], encoding="utf-8")
    for name in RULE_FILES:
        text = (FOLDER / name).read_text("utf-8").replace("interval: 30s", "interval: 1s")
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    port = free_port()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                PROMETHEUS,
                f"--config.file={tmp_path}/prometheus.yml",
                f"--storage.tsdb.path={tmp_path}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers_at(f"{url}/-/ready"))
        yield url
    finally:
        process.terminate()
        process.wait(15)


def get(url: str, path: str, **parameters: str) -> Any:
    answer = requests.get(f"{url}/api/v1/{path}", params=parameters, timeout=SECONDS_MAX).json()
    assert answer["status"] == "success", answer
    return answer["data"]


def value(url: str, expression: str) -> float | None:
    result = get(url, "query", query=expression)["result"]
    return float(result[0]["value"][1]) if result else None


@needs_prometheus
@pytest.mark.neo4j
@pytest.mark.slow
def test_a_prometheus_that_scrapes_an_api(api: str, keys: dict[str, str], prometheus: str) -> None:
    """Three questions are answered, and one that names an unknown field is the caller's mistake."""
    wait_for(lambda: value(prometheus, 'up{job="headwater"}') == 1)
    series = 'sum(headwater_questions_total{outcome="%s"})'
    wait_for(lambda: value(prometheus, series % "answered") is not None)
    before = {one: value(prometheus, series % one) or 0 for one in ("answered", "refused")}
    headers = {"authorization": f"Bearer {keys['read']}"}
    queries = ["{ jobs { totalCount } }"] * 3 + ["{ nothing }"]
    for query in queries:
        requests.post(
            f"{api}/graphql", json={"query": query}, headers=headers, timeout=SECONDS_MAX
        ).raise_for_status()
    wait_for(lambda: value(prometheus, series % "answered") == before["answered"] + 3)
    wait_for(lambda: value(prometheus, series % "refused") == before["refused"] + 1)
    wait_for(lambda: value(prometheus, "headwater:questions:bad_share_5m") == 0)
    wait_for(lambda: value(prometheus, 'headwater:burn_rate_1h{id="M9"}') == 0)
    groups = get(prometheus, "rules")["groups"]
    loaded = [rule for group in groups for rule in group["rules"]]
    assert len(loaded) == len(rules())
    assert {rule["health"] for rule in loaded} <= {"ok", "unknown"}, loaded
    firing = {one["labels"]["alertname"] for one in get(prometheus, "alerts")["alerts"]}
    assert not firing & {"HeadwaterDown", "HeadwaterNeo4jDown", "HeadwaterBudgetBurns"}
