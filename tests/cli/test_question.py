"""Every format of a question on a real graph with hostile names; files; the watch of failures."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from tests.canonical import empty
from tests.run_builders import answer, ds, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("settings_of_tests", "graph")]
LONG = "=cmd|' /C calc'!A0/" + "x" * 300
FORMATS = ["table", "json", "jsonl", "csv", "tsv", "markdown"]


@pytest.fixture(scope="module")
def graph(database: Database) -> Iterator[Database]:
    """Write load: raw -> a long hostile name, which `kpi` cites; then load fails."""
    empty(database)
    write_events(
        database,
        run("load-1", "load\x1b[31m", ["raw"], [LONG], minute=0),
        answer("kpi", LONG, minute=10),
        run("load-2", "load\x1b[31m", ["raw"], [], minute=20, status="FAIL", error="+1|`x`\n"),
    )
    yield database
    empty(database)


def printed(*words: str) -> str:
    result = CliRunner().invoke(app, [*words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout or words[-1] in ("json", "jsonl")
    return result.stdout


@pytest.mark.parametrize(
    "words", [["trace", "kpi"], ["lineage", "raw"], ["failed-runs"], ["evidence", "raw"]]
)
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_the_whole_answer(
    words: list[str], format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = printed(*words, "--format", format)
    found = {
        "trace": version(LONG, "load-1"),
        "lineage": ds(LONG),
        "failed-runs": run_of("load-2"),
        "evidence": run_of("load-2"),
    }[words[0]]
    if format == "json":
        json.loads(text)
    elif format == "jsonl":
        assert all(isinstance(json.loads(line), dict) for line in text.splitlines())
    elif format in ("csv", "tsv"):
        header, *rows = csv.reader(io.StringIO(text), delimiter="," if format == "csv" else "\t")
        assert {len(row) for row in rows} == {len(header)}
        assert any(found in row for row in rows)
        assert not any(cell.startswith(("=", "+")) for row in rows for cell in row)
    elif format == "markdown":
        lines = text.splitlines()
        assert {line.count("|") for line in lines} == {lines[0].count("|")}
    if format != "table":
        assert found in text


def test_a_urn_is_never_cut_or_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in ("20", "80"):
        monkeypatch.setenv("COLUMNS", width)
        assert any(ds(LONG) in line for line in printed("search", "calc").splitlines())
        shown = printed("lineage", ds(LONG), "--format", "csv")
        assert any(ds(LONG) in line for line in shown.splitlines())


def test_pictures() -> None:
    for words in (["trace", "kpi"], ["lineage", "raw"]):
        assert printed(*words, "--format", "mermaid").startswith("flowchart LR\n")
        assert printed(*words, "--format", "dot").startswith("digraph lineage {\n")
        ElementTree.fromstring(printed(*words, "--format", "svg"))
    refused = CliRunner().invoke(app, ["failed-runs", "--format", "svg"])
    assert refused.exit_code == 2
    assert "svg" in refused.output


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "failures.csv"
    assert printed("failed-runs", "--format", "csv", "--output", str(file)) == ""
    assert "load-2" in file.read_text()
    assert [*tmp_path.iterdir()] == [file]
    with pytest.raises(QueryError, match="--output"):
        printed("failed-runs", "--output", str(tmp_path / "none" / "x"))
    printed("trace", "kpi", "--output", str(tmp_path / "trace.txt"))
    assert "load-1" in (tmp_path / "trace.txt").read_text()


def test_evidence_is_printed_or_written_as_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # A printed pack leaves no files, and the printed JSON is a pack that can be verified.
    rows = list(csv.DictReader(io.StringIO(printed("evidence", "raw", "--format", "csv"))))
    assert {row["section"] for row in rows} >= {"subject", "nodes", "edges", "runs", "violations"}
    assert [*tmp_path.iterdir()] == []
    assert printed("evidence", "raw", "--format", "json", "--output", "pack.json") == ""
    assert "as it was sealed" in printed("evidence", "--verify", "pack.json")
    verified = printed("evidence", "--verify", "pack.json", "--format", "jsonl")
    assert json.loads(verified)["verified"] is True
    # With --out both happen; without either option the files are written to this folder.
    assert json.loads(printed("evidence", "raw", "--json", "--out", "both"))["digest"]
    assert {file.suffix for file in (tmp_path / "both").iterdir()} == {".json", ".html"}
    assert "written: evidence-" in printed("evidence", "raw")
    assert len([*tmp_path.glob("evidence-*")]) == 2


def test_json_is_the_short_form() -> None:
    assert printed("trace", "kpi", "--json") == printed("trace", "kpi", "--format", "json")
    with pytest.raises(QueryError, match="exclude each other"):
        printed("trace", "kpi", "--json", "--format", "csv")


def test_a_failed_refresh_is_told_to_its_owners() -> None:
    for words in (["trace", "kpi"], ["root-cause", "kpi"]):
        text = printed(*words)
        assert f"a newer refresh of {LONG} failed (+1|`x`)" in text
        assert run_of("load-2") in text
        (stale,) = json.loads(printed(*words, "--json"))["stale"]
        assert (stale["dataset"], stale["failedRun"]) == (ds(LONG), run_of("load-2"))


def test_the_watch_prints_each_failure_once_until_it_is_interrupted(graph: Database) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "headwater", "failed-runs", "--watch", "--interval", "1",
         "--format", "jsonl"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    ) as watch:  # fmt: skip
        assert watch.stdout is not None
        try:
            assert json.loads(watch.stdout.readline())["runId"] == "load-2"
            write_events(graph, run("other-1", "other", minute=30, status="FAIL", error="no"))
            assert json.loads(watch.stdout.readline())["runId"] == "other-1"
            watch.send_signal(signal.SIGINT)
            out, err = watch.communicate(timeout=60)
        finally:
            watch.kill()
    assert (watch.returncode, out, err) == (130, "", "")


def test_status_of_a_graph() -> None:
    found = json.loads(printed("status", "--json"))
    assert (found["ready"], found["checks"]["neo4j"]["ok"]) == (True, True)
