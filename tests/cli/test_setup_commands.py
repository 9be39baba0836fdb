"""The commands `doctor` and `spark-conf` as programs see them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.errors import ServerError

URL = "http://headwater:8000"


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.stdout


def test_spark_conf_in_its_three_forms() -> None:
    common = ("spark-conf", "--url", URL, "--namespace", "sales", "--spark", "3.5.6")
    code, flags = run(*common)
    assert code == 0
    assert f"--conf spark.openlineage.transport.url={URL}" in flags
    code, defaults = run(*common, "--format", "defaults")
    assert code == 0
    assert any(
        line.split() == ["spark.openlineage.namespace", "sales"] for line in defaults.splitlines()
    )
    code, as_json = run(*common, "--json")
    assert code == 0
    assert json.loads(as_json)["spark.openlineage.transport.url"] == URL
    code, elsewhere = run(*common, "--headwater-jar", "/opt/headwater-spark.jar")
    assert (code, "--jars /opt/headwater-spark.jar" in elsewhere) == (0, True)
    assert run(*common, "--format", "yaml")[0] == 2


def test_a_failed_check_gives_exit_code_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", "x")
    code, shown = run("doctor", "--home", str(tmp_path), "--json")
    assert code == ServerError.exit_code == 3
    found = {check["check"]: check["ok"] for check in json.loads(shown)}
    assert (found["versions"], found["neo4j"]) == (True, False)
