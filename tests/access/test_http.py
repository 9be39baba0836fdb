"""The routes of administrators."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.access.http import routes
from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.principal import Scope
from headwater.access.store import AccessStore


def test_keys_and_entries_are_listed_without_secrets(tmp_path: Path) -> None:
    store = AccessStore(tmp_path / "access.db")
    keys, log = Keys(store), AccessLog(store)
    text, _ = keys.create("ci", [Scope.READ])
    for number in range(3):
        log.append("ci", f"GET /{number}", "done")
    with TestClient(Starlette(routes=list(routes(keys, log)))) as client:
        listed = client.get("/access/keys")
        entries = client.get("/access/log", params={"first": 3}).json()["entries"]
        older = client.get("/access/log", params={"before": 2}).json()["entries"]
    [key] = listed.json()["keys"]
    assert (key["name"], key["state"]) == ("ci", "valid")
    assert text.rpartition("_")[2] not in listed.text
    assert [entry["action"] for entry in entries] == [
        "GET /access/log",
        "GET /2",
        "GET /1",
    ]
    assert [entry["action"] for entry in older] == ["GET /0"]
    store.close()
