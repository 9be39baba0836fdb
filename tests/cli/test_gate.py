"""`headwater gate` up to the API: options and the files it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.errors import QueryError
from tests.gate.repositories import GitRepository

# Nobody listens there.
URL = "http://127.0.0.1:9"


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "r", {"models/m.sql": "select a, b from t"})
    made.branch({"README.md": "shop"})
    return made


def run(repository: GitRepository, *options: str) -> tuple[int, str]:
    folder = str(repository.folder)
    command = ["gate", "--base", "main", "--repository", folder, "--url", URL, *options]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    return result.exit_code, result.stdout


def test_a_branch_without_table_changes_needs_no_api(repository: GitRepository) -> None:
    code, shown = run(repository)
    assert (code, shown) == (0, "headwater gate passed: no table in the lineage changes\n")


def test_a_silent_api_blocks(repository: GitRepository) -> None:
    repository.write({"models/m.sql": "select a from t"})
    code, shown = run(repository, "--json")
    report = json.loads(shown)
    assert (code, report["verdict"], report["exitCode"]) == (2, "blocked", 2)
    assert set(report) == {
        *("verdict", "exitCode", "reasons", "allowReason", "base", "files", "newTables"),
        *("changes", "problems", "affected", "certifiedAssets", "maxDownstream"),
    }
    code, shown = run(repository, "--allow", "agreed")
    assert (code, "(allowed: agreed)" in shown) == (0, True)


def test_reports_in_every_format(repository: GitRepository, tmp_path: Path) -> None:
    files = {name: tmp_path / f"report.{name}" for name in ("markdown", "sarif", "junit")}
    options: list[str] = []
    for name, path in files.items():
        options += [f"--{name}", str(path)]
    assert run(repository, *options)[0] == 0
    assert files["markdown"].read_text().startswith("<!-- headwater-gate -->")
    assert json.loads(files["sarif"].read_text())["version"] == "2.1.0"
    assert b"<testsuites" in files["junit"].read_bytes()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--map", "orders"), "is not of the form TABLE=URN"),
        (("--manifest", "nowhere.json"), "cannot be read"),
        (("--sarif", "no/such/folder"), "cannot be written"),
    ],
)
def test_options_that_cannot_be_used(
    repository: GitRepository, options: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(QueryError, match=problem):
        run(repository, *options)
