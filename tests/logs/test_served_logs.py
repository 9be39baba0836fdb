"""The API as `headwater up` starts it: its log file is JSON in every line, and is rotated while it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.local.ports import free_port

FIELDS = ["timestamp", "level", "logger", "event"]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the address of an API without a Neo4j, and its log."""
    port, log = free_port(), tmp_path / "serve.log"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")},
        "HEADWATER_HOME": str(tmp_path),
        "HEADWATER_PORT": str(port),
        "HEADWATER_NEO4J_URI": f"bolt://127.0.0.1:{free_port()}",
        "HEADWATER_LOG_FORMAT": "json",
        "HEADWATER_LOG_BYTES_MAX": "100",
        "HEADWATER_LOG_LEVEL": "debug",
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "headwater.cli.supervised"),
                *("serve", str(os.getpid()), str(log)),
            ],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield f"http://127.0.0.1:{port}", log
    finally:
        process.terminate()
        process.wait(60)


def test_the_log_is_json_and_rotated(served: tuple[str, Path]) -> None:
    url, log = served
    request = urllib.request.Request(f"{url}/healthz", headers={"X-Request-ID": "probe-1"})
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert answer.headers["x-request-id"] == "probe-1"
            if log.with_name("serve.log.1").exists():
                break
        except OSError:
            pass
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    files = [log, *log.parent.glob("serve.log.*")]
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert all([*line][:4] == FIELDS for line in lines)
    accessed = [line for line in lines if "/healthz" in line.get("message", "")]
    assert accessed
    assert {line["logger"] for line in accessed} == {"uvicorn.access"}
