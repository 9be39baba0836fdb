"""The Grafana dashboards: each query is sent to a live API, and each PromQL to a real Prometheus.

Grafana itself is not needed. Its variables are replaced as Grafana does, and the fields of an
answer are found as its Infinity data source does.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.health.figures.snapshots import backfill, take_snapshot
from headwater.lineage.view import GraphView
from headwater.local.ports import free_port
from tests.canonical import empty
from tests.end_to_end.conftest import answers_at, wait_for
from tests.event_builders import dataset_event
from tests.keyed_api import api, home
from tests.repo.repository import ROOT
from tests.run_builders import write_events
from tests.ui.on_call_stories import history

__all__ = ["api", "home"]

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
FOLDER = ROOT / "examples" / "grafana"
BOARDS = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}
INFINITY, PROMETHEUS = "yesoreyeram-infinity-datasource", "prometheus"
# Panels that may be empty here: the history has no model, and no worker folds events.
MAY_BE_EMPTY = {
    "Completeness of model versions",
    "Complete model versions",
    "Time to impact, 90 days",
    "Lag from accepted to visible",
}
# A busy machine plans each question once, for seconds.
SECONDS_MAX = 120
PROGRAM = shutil.which("prometheus")


def targets(kind: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return board, title and target of each query for a kind of data source."""
    return [
        (board, panel["title"], target)
        for board, content in BOARDS.items()
        for panel in content["panels"]
        for target in panel["targets"]
        if target["datasource"]["type"] == kind
    ]


def _name_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def filled(text: str) -> str:
    """Replace the variables of Grafana: the window is the last day, the run a failed one."""
    since = datetime.now(UTC) - timedelta(days=1)
    for name, value in (
        ("${__from:date:iso}", since.isoformat()),
        ("${run}", "bad-1"),
        ("$__rate_interval", "1m"),
    ):
        text = text.replace(name, value)
    assert "$" not in re.sub(r"\(\$\w+: [^)]*\)|: \$\w+", "", text), f"unknown variable in {text}"
    return text


def found_at(value: Any, selector: str) -> Any:
    """Return the part of a JSON value that a selector names; a number is a place in a list."""
    for key in selector.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@dataclass(frozen=True)
class Client:
    """A session with an API."""

    session: requests.Session
    url: str

    def post(self, path: str, body: dict[str, Any]) -> requests.Response:
        return self.session.post(f"{self.url}{path}", json=body, timeout=SECONDS_MAX)

    def get(self, path: str, parameters: dict[str, str]) -> requests.Response:
        return self.session.get(f"{self.url}{path}", params=parameters, timeout=SECONDS_MAX)


@pytest.fixture(scope="module")
def graph(database: Database) -> Iterator[Database]:
    """Write the history of people on call, a dataset nobody reads, and snapshots of all figures."""
    empty(database)
    write_events(database, *history(), [dataset_event("lonely", 5)])
    view = GraphView(database)
    backfill(view, 7)
    take_snapshot(view)
    yield database
    empty(database)


@pytest.fixture(scope="module")
def keys(home: Path) -> dict[str, str]:
    words = ["--scope", "read", "--scope", "ingest", "--home", str(home)]
    made = CliRunner().invoke(app, ["keys", "create", "grafana", *words])
    return {"grafana": made.stdout.splitlines()[0]}


@pytest.fixture(scope="module")
def client(api: str, keys: dict[str, str]) -> Iterator[Client]:
    """Yield a client of an API that has accepted one run."""
    with requests.Session() as session:
        session.headers["authorization"] = f"Bearer {keys['grafana']}"
        client = Client(session, api)
        for story in history():
            for event in story:
                if event.get("run", {}).get("runId") == "bad-1":
                    assert client.post("/api/v1/lineage", event).status_code == 201
        yield client


@pytest.mark.parametrize(("board", "title", "target"), targets(INFINITY), ids=_name_of)
def test_each_question_of_infinity_is_answered(
    client: Client, board: str, title: str, target: dict[str, Any]
) -> None:
    options = target["url_options"]
    if target["type"] == "graphql":
        query = options["body_graphql_query"]
        variables = json.loads(filled(options["body_graphql_variables"]))
        filled(query)
        response = client.post(target["url"], {"query": query, "variables": variables})
        assert "errors" not in response.json(), (board, title, response.text)
    else:
        parameters = {one["key"]: filled(one["value"]) for one in options["params"]}
        response = client.get(target["url"], parameters)
    assert response.status_code == 200, response.text
    found = found_at(response.json(), target["root_selector"])
    rows = found if isinstance(found, list) else [found]
    assert rows or title in MAY_BE_EMPTY, (board, title)
    for row in rows:
        values = [found_at(row, column["selector"]) for column in target["columns"]]
        assert any(value is not None for value in values) or title in MAY_BE_EMPTY, (board, title)


@pytest.fixture(scope="module")
def prometheus(client: Client, keys: dict[str, str], tmp_path_factory: Any) -> Iterator[str]:
    """Run Prometheus on loopback; it scrapes the API every second. Yield its address."""
    if PROGRAM is None:
        pytest.skip("no Prometheus on this machine")
    folder = tmp_path_factory.mktemp("prometheus")
    config = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [
            {
                "job_name": "headwater",
                "authorization": {"credentials": keys["grafana"]},
                "static_configs": [{"targets": [client.url.removeprefix("http://")]}],
            }
        ],
    }
    # JSON is YAML.
    (folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
    port = free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                PROGRAM,
                f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers_at(f"{url}/-/ready"))
        # A rate needs two scrapes of the requests that the tests before have made.
        wait_for(lambda: len(samples(url, "rate(headwater_request_seconds_count[1m])")) > 0)
        yield url
    finally:
        process.terminate()
        process.wait(15)


def samples(url: str, expression: str) -> list[dict[str, Any]]:
    answer = requests.get(
        f"{url}/api/v1/query", params={"query": expression}, timeout=SECONDS_MAX
    ).json()
    assert answer["status"] == "success", answer
    result: list[dict[str, Any]] = answer["data"]["result"]
    return result


@pytest.mark.parametrize(("board", "title", "target"), targets(PROMETHEUS), ids=_name_of)
def test_each_expression_of_prometheus_is_answered(
    prometheus: str, board: str, title: str, target: dict[str, Any]
) -> None:
    found = samples(prometheus, filled(target["expr"]))
    assert found or title in MAY_BE_EMPTY, (board, title)


def test_known_values(client: Client, prometheus: str) -> None:
    """Check a value of each data source against the history."""
    body = {"query": "{ failingPipelines { nodes { name failedRuns } } }"}
    found = client.post("/graphql", body).json()["data"]["failingPipelines"]["nodes"]
    assert found == [{"name": "load_orders", "failedRuns": 2}, {"name": "crawl", "failedRuns": 1}]
    # One run was accepted, START and FAIL; no worker folds it.
    [waiting] = samples(prometheus, "sum(headwater_spool_depth)")
    assert waiting["value"][1] == "2"


@pytest.mark.parametrize("name", ["debug", "executive", "on-call", "trust"])
def test_a_board_can_be_imported(name: str) -> None:
    """Check what Grafana refuses or draws wrongly: ids, places, and data sources by variables."""
    board = BOARDS[name]
    assert board["uid"] == f"headwater-{name}"
    panels = board["panels"]
    assert [panel["id"] for panel in panels] == list(range(1, len(panels) + 1))
    sources = {one["name"]: one for one in board["templating"]["list"]}
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        uid = panel["datasource"]["uid"]
        assert sources[uid[2:-1]]["query"] == panel["datasource"]["type"]
        x, y, w, h = (panel["gridPos"][key] for key in "xywh")
        cells = {(column, row) for column in range(x, x + w) for row in range(y, y + h)}
        assert x + w <= 24
        assert not taken & cells, panel["title"]
        taken |= cells
