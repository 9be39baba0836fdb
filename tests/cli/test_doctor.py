"""The checks of `headwater doctor` in an empty home, without a server."""

from __future__ import annotations

import socket
from pathlib import Path

from headwater.cli.doctor import Check, examine
from headwater.settings import load


def checks(home: Path, **settings: str) -> dict[str, Check]:
    # Nothing listens on port 1, so Neo4j does not answer.
    environment = {"HEADWATER_NEO4J_URI": "bolt://127.0.0.1:1", "HEADWATER_NEO4J_PASSWORD": "x"}
    found = examine(load({"HEADWATER_HOME": str(home), **environment, **settings}))
    return {check.name: check for check in found}


def test_without_neo4j_its_checks_fail_with_a_hint(tmp_path: Path) -> None:
    found = checks(tmp_path)
    assert list(found) == [
        "versions",
        "java",
        "jars",
        "disk",
        "encryption",
        "spool",
        "api port",
        "tls",
        "openid provider",
        "neo4j",
        "neo4j settings",
        "migrations",
        "findings",
    ]
    assert found["versions"].ok
    assert found["java"].ok
    assert found["spool"].ok
    assert "none yet" in found["spool"].found
    for name in ("neo4j", "neo4j settings", "migrations", "findings"):
        assert not found[name].ok
        assert "headwater up" in found[name].hint
        assert "doctor" not in found[name].hint
    assert not (tmp_path / "spool.db").exists()


def test_a_port_of_another_program_is_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        found = checks(tmp_path, HEADWATER_PORT=str(port))["api port"]
    assert (found.ok, found.found) == (False, f"another program listens on {port}")
    assert checks(tmp_path, HEADWATER_PORT=str(port))["api port"].found == f"{port} is free"


def test_a_plain_disk_fails_only_where_an_encrypted_one_is_required(tmp_path: Path) -> None:
    # The device of a memory file system is never encrypted.
    home = Path("/dev/shm") / tmp_path.name
    free = checks(home)["encryption"]
    assert free.ok
    assert "is not encrypted (tmpfs on" in free.found
    required = checks(home, HEADWATER_REQUIRE_ENCRYPTED_DISK="true")["encryption"]
    assert (required.ok, required.found) == (False, free.found)
