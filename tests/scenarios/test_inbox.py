"""What a scenario reads of alerts: messages of a webhook, groups of an Alertmanager."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from headwater.scenarios import inbox as module
from headwater.scenarios.inbox import open_inbox


def post(url: str, **message: str) -> None:
    urllib.request.urlopen(url, json.dumps(message).encode(), timeout=30).close()


def test_the_newest_message_of_a_key_and_status_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PROGRAM", None)
    with open_inbox(tmp_path / "inbox") as inbox:
        assert inbox.url.startswith("http://127.0.0.1:")
        post(inbox.url, dedupKey="a", status="firing", title="first")
        post(inbox.url, dedupKey="a", status="firing", title="second")
        post(inbox.url, dedupKey="b", status="resolved", title="other")
        newest = inbox.newest("a", "firing")
        assert newest is not None
        assert newest["title"] == "second"
        assert inbox.newest("a", "resolved") is None
        assert inbox.group("a") == []


@pytest.mark.skipif(module._PROGRAM is None, reason="no Alertmanager on this machine")
def test_an_alertmanager_shows_the_group_of_a_root(tmp_path: Path) -> None:
    with open_inbox(tmp_path / "inbox") as inbox:
        alerts = [{"labels": {"alertname": name, "root": "r"}} for name in ("x", "y")]
        body = json.dumps(alerts).encode()
        request = urllib.request.Request(
            f"{inbox.alertmanager}/api/v2/alerts", body, {"Content-Type": "application/json"}
        )
        urllib.request.urlopen(request, timeout=30).close()
        while len(inbox.group("r")) < 2:
            pass
        assert inbox.group("other") == []
