"""The commands about contracts, against a real API and a real worker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from headwater.cli import app
from headwater.governance.contracts.standard import read_document
from tests.canonical import empty
from tests.end_to_end.conftest import Running, running
from tests.event_builders import schema
from tests.graphql.queries.test_contracts import CONTRACT, FULL, written
from tests.run_builders import ds, write_events

__all__ = ["running"]

pytestmark = pytest.mark.neo4j


def invoke(*words: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(app, ["contract", *words], catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    return result.stdout


def test_the_commands(running: Running, tmp_path: Path) -> None:
    """A contract is checked, imported, checked again, compared and exported."""
    empty(running.database)
    write_events(running.database, written("r1", 2, schema(id="int")))
    file = tmp_path / "orders.yaml"
    file.write_text(yaml.safe_dump(CONTRACT))
    at_url = ("--url", running.url)
    before = json.loads(invoke("check", str(tmp_path), "--json", *at_url, exit_code=1))
    assert (before["state"], len(before["contracts"])) == ("VIOLATED", 1)
    assert invoke("list", "--format", "csv", *at_url).splitlines()[1:] == []
    assert json.loads(invoke("import", str(file), "--json", *at_url))["accepted"] == 1
    running.wait_folded()
    again = json.loads(invoke("import", str(file), "--json", *at_url))
    assert (again["accepted"], again["read"]) == (0, {"contracts": 1, "unchanged": 1})
    assert "VIOLATED  orders 1.0.0" in invoke("check", *at_url, exit_code=1)
    shown = invoke("show", "orders", *at_url)
    assert "column mail: present; missing" in shown
    assert ":load in run r1" in shown
    write_events(running.database, written("r2", 20, FULL))
    assert json.loads(invoke("check", ds("orders"), "--json", *at_url))["state"] == "KEPT"
    newer = {**CONTRACT, "version": "2.0.0", "schema": [{"name": "orders"}]}
    file.write_text(yaml.safe_dump(newer))
    changes = json.loads(invoke("diff", str(file), "--json", *at_url))["changes"]
    assert [(one["change"], one["column"], one["breaking"]) for one in changes] == [
        ("removed", "id", "yes"),
        ("removed", "mail", "yes"),
        ("removed", "id", "yes"),
        ("removed", "mail", "yes"),
    ]
    assert invoke("check", str(file), *at_url, exit_code=2).startswith("UNKNOWN")
    draft = read_document(invoke("export", ds("orders"), *at_url))
    [table] = draft["schema"]
    assert [one["name"] for one in table["properties"]] == ["id", "mail"]
    assert table["properties"][1]["classification"] == "restricted"
