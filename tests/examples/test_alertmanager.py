"""The example configuration on a real Alertmanager: one group for each root cause."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.health.alerts.deliverer import ReceiverWorker
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.visible import ReceiverViews
from headwater.health.findings.models import Tier
from headwater.lineage.view import GraphView
from tests.health.alerts.alert_stores import enqueue_now, store
from tests.health.alerts.finding_builders import finding

EXAMPLE = Path(__file__).parents[2] / "examples/alertmanager/alertmanager.yml"
SERVER = shutil.which("prometheus-alertmanager")
pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.skipif(
        SERVER is None and not os.environ.get("CI"), reason="no Alertmanager on this machine"
    ),
]


def ask(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def until(read: Callable[[], Any]) -> Any:
    """Return the first result that is true."""
    while True:
        found = read()
        if found:
            return found
        time.sleep(0.05)


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("alertmanager")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Groups are shown once they were flushed for the first time.
    config = folder / "alertmanager.yml"
    config.write_text(
        EXAMPLE.read_text(encoding="utf-8").replace("group_wait: 10s", "group_wait: 0s")
    )
    command = [
        str(SERVER), f"--config.file={config}", f"--storage.path={folder}",
        f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address=",
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with (folder / "log").open("w") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            until(lambda: process.poll() is not None or _is_ready(url))
            assert process.poll() is None, (folder / "log").read_text()
            yield url
        finally:
            process.kill()


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=30) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def groups(url: str) -> dict[str, list[dict[str, Any]]]:
    """Return the alerts of each group, by the root cause."""
    return {
        group["labels"]["root"]: group["alerts"] for group in ask(f"{url}/api/v2/alerts/groups")
    }


def active(url: str) -> list[str]:
    """Return the findings of the alerts that notify somebody."""
    query = "active=true&silenced=false&inhibited=false"
    return sorted(one["labels"]["finding"] for one in ask(f"{url}/api/v2/alerts?{query}"))


def test_amtool_accepts_the_example() -> None:
    command = ["amtool", "check-config", str(EXAMPLE)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(("tier", "receiver"), [("P1", "pager"), ("P2", "tickets")])
def test_tiers_are_routed(tier: str, receiver: str) -> None:
    command = ["amtool", "config", "routes", "test", f"--config.file={EXAMPLE}", f"tier={tier}"]
    routed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert routed.stdout.strip() == receiver


@pytest.mark.usefixtures("clean_graph")
def test_one_root_cause_is_one_group(
    database: Database, alertmanager: str, clean_graph: Driver
) -> None:
    del clean_graph
    receiver = Receiver("alertmanager", Kind.ALERTMANAGER, alertmanager)
    worker = ReceiverWorker(
        database,
        receiver,
        ReceiverViews(GraphView(database)),
        public_url="https://headwater.example.com",
    )
    root = finding(tier=Tier.P2, owners=("etl",))
    late = finding("stale-dataset", "dataset:db:mart", began=1, root=root.id, tier=Tier.P1)
    answer = finding("stale-answer", "answer:report", began=2, root=root.id, tier=Tier.P1)
    other = finding("row-count", "dataset:db:other")
    store(database, root, late, answer, other)
    enqueue_now(database, receiver)
    worker.pass_once()

    found = until(lambda: groups(alertmanager) if len(groups(alertmanager)) == 2 else None)
    assert {key: len(alerts) for key, alerts in found.items()} == {root.id: 3, other.id: 1}
    labels = {one["labels"]["finding"]: one["labels"] for one in found[root.id]}
    assert labels[root.id] == {
        "alertname": "failed-run",
        "rule": "failed-run",
        "tier": "P1",
        "severity": "critical",
        "job": "orders",
        "namespace": "etl",
        "owner": "etl",
        "finding": root.id,
        "root": root.id,
        "cause": "true",
    }
    assert (labels[late.id]["dataset"], labels[late.id]["cause"]) == ("mart", "false")
    annotations = next(one["annotations"] for one in found[root.id])
    assert annotations["runbook_url"].startswith("https://headwater.example.com/runbooks/")
    assert annotations["link"].startswith("https://headwater.example.com/")
    # The cause speaks; what it led to is inhibited.
    until(lambda: active(alertmanager) == sorted([root.id, other.id]))

    now = datetime.now(UTC)
    silence = {
        "matchers": [{"name": "root", "value": other.id, "isRegex": False}],
        "startsAt": now.isoformat(),
        "endsAt": (now + timedelta(hours=1)).isoformat(),
        "createdBy": "tests",
        "comment": "maintenance",
    }
    ask(f"{alertmanager}/api/v2/silences", silence)
    until(lambda: active(alertmanager) == [root.id])

    # The last P1 finding ends: the labels change with the tier, and the old alerts end.
    store(database, root, other)
    enqueue_now(database, receiver)
    worker.pass_once()
    until(lambda: [one["labels"]["tier"] for one in groups(alertmanager)[root.id]] == ["P2"])
    store(database)
    enqueue_now(database, receiver)
    worker.pass_once()
    until(lambda: groups(alertmanager) == {})
