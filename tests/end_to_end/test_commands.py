"""The commands that send and ask, as processes: their output, their JSON, their exit codes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headwater.schema import headwater_facets as native
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import Running

pytestmark = pytest.mark.neo4j

EVENTS: list[dict[str, Any]] = [
    *native.run_events(
        "cli-good",
        pipeline_name="cli-load",
        started_at="2026-02-01T00:00:00Z",
        finished_at="2026-02-01T00:10:00Z",
        inputs=[{"namespace": "cli", "name": "raw"}],
        outputs=[{"namespace": "cli", "name": "mart"}],
    ),
    *native.run_events(
        "cli-bad",
        pipeline_name="cli-load",
        status="failed",
        error="disk: gone",
        started_at="2026-02-02T00:00:00Z",
        finished_at="2026-02-02T00:10:00Z",
        outputs=[{"namespace": "cli", "name": "mart"}],
    ),
    native.answer_event(
        "cli-answer",
        cites=[{"namespace": "cli", "name": "mart"}],
        content="42",
        generated_at="2026-02-01T01:00:00Z",
    ),
]
LINES = b"".join(json.dumps(event).encode() + b"\n" for event in EVENTS)


class Command:
    """`headwater` with the settings of the session's server."""

    def __init__(self, running: Running, server: Neo4jServer) -> None:
        self.url = running.url
        self._environment = {
            **os.environ,
            "HEADWATER_HOME": str(running.home),
            "HEADWATER_NEO4J_URI": server.uri,
            "HEADWATER_NEO4J_USER": server.user,
            "HEADWATER_NEO4J_PASSWORD": server.password,
        }

    def __call__(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        ended = subprocess.run(
            [sys.executable, "-m", "headwater", *arguments],
            env=self._environment,
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return ended.returncode, ended.stdout.decode(), ended.stderr.decode()

    def ingest(self, *files: str, stdin: bytes = b"") -> tuple[int, dict[str, Any]]:
        code, out, _ = self("ingest", *files, "--url", self.url, "--json", stdin=stdin)
        return code, json.loads(out)


@pytest.fixture(scope="module")
def command(running: Running, neo4j_server: Neo4jServer) -> Command:
    command = Command(running, neo4j_server)
    code, printed = command.ingest("-", stdin=LINES)
    assert (code, printed) == (0, {"accepted": 5, "refused": []})
    running.wait_folded()
    return command


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lines.jsonl", LINES),
        ("array.json", json.dumps(EVENTS, indent=2).encode()),
        ("packed.json.gz", gzip.compress(json.dumps(EVENTS).encode(), mtime=0)),
        ("packed without saying so", gzip.compress(LINES, mtime=0)),
    ],
)
def test_files_of_every_form_are_accepted(
    command: Command, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert command.ingest(str(tmp_path / name)) == (0, {"accepted": 5, "refused": []})


def test_stdin_may_be_gzipped(command: Command) -> None:
    assert command.ingest("-", stdin=gzip.compress(LINES)) == (0, {"accepted": 5, "refused": []})


def test_a_refused_event_is_named_and_its_neighbours_are_accepted(command: Command) -> None:
    code, printed = command.ingest("-", stdin=LINES + b'{"run": {"runId": "x"}}\n' + LINES)
    assert (code, printed["accepted"], len(printed["refused"])) == (4, 10, 1)
    assert (printed["refused"][0]["event"], printed["refused"][0]["field"]) == (5, "job")


def test_one_event_is_counted_in_the_singular(command: Command) -> None:
    code, out, _ = command("ingest", "-", "--url", command.url, stdin=LINES.splitlines()[0])
    assert (code, out) == (0, "1 event accepted, 0 refused\n")


def test_a_missing_file_is_an_error_without_a_traceback(command: Command, tmp_path: Path) -> None:
    for path in (str(tmp_path), str(tmp_path / "absent")):
        code, _, printed = command("ingest", path)
        assert code == 2
        assert "Traceback" not in printed


def test_trace_and_lineage(command: Command) -> None:
    code, out, _ = command("trace", "cli-answer", "--json")
    assert (code, [source["name"] for source in json.loads(out)["sources"]]) == (0, ["raw"])
    code, out, _ = command("lineage", "dataset:cli:mart", "--direction", "upstream", "--json")
    assert {node["urn"] for node in json.loads(out)["nodes"]} == {
        "dataset:cli:mart", "job:default:cli-load", "dataset:cli:raw",
    }  # fmt: skip
    code, out, _ = command("trace", "cli-answer")
    assert code == 0
    assert "cli-load  COMPLETE" in out


def test_failed_runs(command: Command) -> None:
    code, out, _ = command("failed-runs", "--pipeline", "cli-load", "--json")
    found = json.loads(out)["failedRuns"]
    assert (code, [run["runId"] for run in found], found[0]["error"]) == (
        0,
        ["cli-bad"],
        "disk: gone",
    )
    assert found[0]["failedAt"] == "2026-02-02T00:10:00Z"
    assert found[0]["downstream"]["datasets"] == ["dataset:cli:mart"]
    assert found[0]["downstream"]["answers"] == ["answer:cli-answer"]
    assert "facts" not in found[0]


def test_audits(command: Command) -> None:
    code, out, _ = command("cypher", "--json")
    assert code == 0
    assert {"answer_to_sources", "failed_runs"} <= {query["name"] for query in json.loads(out)}
    code, out, _ = command(
        "cypher", "answer_to_sources", "--param", "answerId=cli-answer", "--json"
    )
    assert (code, [row["name"] for row in json.loads(out)]) == (0, ["raw"])
    code, out, _ = command(
        "cypher",
        "-",
        "--json",
        stdin=b"MATCH (a:Answer {answerId: 'cli-answer'}) RETURN a.content AS c",
    )
    assert (code, json.loads(out)) == (0, [{"c": "42"}])
    code, out, printed = command("cypher", "-", stdin=b"UNWIND range(1, 5000) AS x RETURN x")
    assert code == 0
    assert "1,000 rows shown; more rows exist" in printed


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "printed"),
    [
        (["trace", "no-such"], b"", 6, "no-such"),
        (["lineage", "nonsense"], b"", 6, "has the name 'nonsense'"),
        (["lineage", "dataset:a:b", "--depth", "0"], b"", 2, "depth 0"),
        (["failed-runs", "--since", "someday"], b"", 2, "--since"),
        (["cypher", "no_such_query"], b"", 2, "no_such_query"),
        (["cypher", "-"], b"MATCH (n) DETACH DELETE n", 2, "refused"),
        (["ingest", "-", "--url", "http://127.0.0.1:9/"], b"", 0, ""),
    ],
)
def test_exit_codes(
    command: Command, arguments: list[str], stdin: bytes, code: int, printed: str
) -> None:
    ended, _, error = command(*arguments, stdin=stdin)
    assert ended == code
    assert printed in error
    assert "Traceback" not in error


def test_spark_conf(command: Command) -> None:
    _, flags, _ = command("spark-conf", "--url", "http://lineage:8000")
    assert "--conf spark.openlineage.transport.url=http://lineage:8000" in flags
    _, out, _ = command("spark-conf", "--url", "http://lineage:8000", "--json")
    assert json.loads(out)["spark.openlineage.transport.url"] == "http://lineage:8000"
