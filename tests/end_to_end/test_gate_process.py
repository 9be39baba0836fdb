"""The gate as a process: the packages it needs, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate.repositories import GitRepository

# Packages that the extra `gate` does not install.
SERVER = (
    "apsw",
    "neo4j",
    "prometheus_client",
    "starlette",
    "strawberry",
    "graphql",
    "uvicorn",
    "websockets",
    "pyspark",
)
WITHOUT_SERVER = f"""
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {SERVER!r}:
            raise ImportError(name + " is not installed here")
sys.meta_path.insert(0, Missing())
from headwater.cli import main
main()
"""


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    created = GitRepository(tmp_path / "r", {"models/m.sql": "select a, b from t"})
    created.branch({"models/m.sql": "select a from t"})
    return created


def test_the_gate_needs_no_package_of_the_server(repository: GitRepository) -> None:
    command = ["gate", "--base", "main", "--url", "http://127.0.0.1:9", "--json"]
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVER, *command],
        cwd=repository.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False)
    assert "does not answer" in json.loads(ended.stdout)["problems"][0]["message"]


def test_ctrl_c_ends_the_gate_without_a_traceback(repository: GitRepository) -> None:
    # A server that takes the connection and never answers.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        gate = subprocess.Popen(
            [sys.executable, "-m", "headwater", "gate", "--base", "main", "--url", url],
            cwd=repository.folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        silent.settimeout(60)
        connection, _ = silent.accept()
        gate.send_signal(signal.SIGINT)
        out, err = gate.communicate(timeout=120)
        connection.close()
    assert gate.returncode == 130
    assert (out, "Traceback" in err) == ("", False)


def test_an_answer_that_is_not_headwater_s_blocks(repository: GitRepository) -> None:
    headers = b"Content-Type: text/html\r\nContent-Length: 6\r\nConnection: close"
    page = b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n\r\n<html>"
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        url = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        gate = subprocess.Popen(
            [sys.executable, "-m", "headwater", "gate", "--base", "main", "--url", url, "--json"],
            cwd=repository.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        proxy.settimeout(60)
        connection, _ = proxy.accept()
        with connection:
            connection.recv(100_000)
            connection.sendall(page)
        out, _ = gate.communicate(timeout=60)
    assert gate.returncode == 2
    assert "does not answer as a Headwater does" in json.loads(out)["problems"][0]["message"]
