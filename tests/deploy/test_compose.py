"""docker-compose.yml and the Dockerfile, parsed by Docker's own client and compared with the
program.

No Docker engine runs here. Each step of the image was tried on this project's Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from neo4j import Driver

from headwater.cli import detect, send, serve
from headwater.cli import query as ask
from headwater.cli import setup_commands as set_up
from headwater.cli.doctor import NEO4J_SETTINGS
from headwater.local.neo4j_settings import Sizes, neo4j_settings
from headwater.settings import Settings, load

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMMANDS = {
    **serve.COMMANDS,
    **detect.COMMANDS,
    **send.COMMANDS,
    **ask.COMMANDS,
    **set_up.COMMANDS,
}
PASSWORD = "HEADWATER_NEO4J_PASSWORD"
# The image's start script reads these, so they are no settings of the server.
NOT_SETTINGS = {"NEO4J_AUTH"}


def services() -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"])


def configured(**environment: str) -> subprocess.CompletedProcess[str]:
    """Return the configuration that the client reads, without the variables of this machine."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")}
    return subprocess.run(
        ["docker-compose", "--file", str(COMPOSE), "config"],
        env={**clean, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


needs_client = pytest.mark.skipif(
    shutil.which("docker-compose") is None and not os.environ.get("CI"),
    reason="no docker-compose on this machine",
)


@needs_client
def test_the_client_accepts_it() -> None:
    config = configured(HEADWATER_NEO4J_PASSWORD="correct-horse")
    assert config.returncode == 0, config.stderr
    read = yaml.safe_load(config.stdout)["services"]
    assert set(read) == {"neo4j", "api", "worker", "detector"}
    assert read["neo4j"]["environment"]["NEO4J_AUTH"] == "neo4j/correct-horse"
    assert read["worker"]["depends_on"] == {"neo4j": {"condition": "service_healthy"}}


@needs_client
def test_there_is_no_default_password() -> None:
    for environment in ({}, {PASSWORD: ""}):
        config = configured(**environment)
        assert config.returncode != 0
        assert "eight characters" in config.stderr


def test_nothing_is_published_but_the_api_on_loopback() -> None:
    published = {name: service.get("ports", []) for name, service in services().items()}
    published_ports = {"api": ["127.0.0.1:8000:8000"]}
    assert published == {name: published_ports.get(name, []) for name in services()}


def test_every_service_restarts_and_keeps_its_data_on_a_volume() -> None:
    found = services()
    assert {service["restart"] for service in found.values()} == {"unless-stopped"}
    assert found["neo4j"]["volumes"] == ["neo4j:/data"]
    for name in ("api", "worker", "detector"):
        assert found[name]["volumes"] == ["headwater:/var/lib/headwater"]


@pytest.mark.parametrize("name", ["api", "worker", "detector"])
def test_the_program_accepts_the_settings_of_the_file(name: str) -> None:
    environment = {**services()[name]["environment"], PASSWORD: "correct-horse"}
    settings = load(environment)
    assert settings.spool == "/var/lib/headwater/spool.db"
    assert settings.neo4j_uri == "bolt://neo4j:7687"
    assert services()[name]["command"][0] in COMMANDS


def test_every_variable_named_is_a_setting() -> None:
    known_names = {f"HEADWATER_{field.name.upper()}" for field in msgspec.structs.fields(Settings)}
    named = set(
        re.findall(r"HEADWATER_[A-Z0-9_]+", COMPOSE.read_text(encoding="utf-8") + DOCKERFILE)
    )
    assert named - known_names == set()


def neo4j_configured() -> dict[str, str]:
    """Return the Neo4j settings of the file under their names in neo4j.conf (`__` is `_`, `_` is a
    dot).
    """
    environment = services()["neo4j"]["environment"]
    return {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_"): value
        for name, value in environment.items()
        if name not in NOT_SETTINGS
    }


def test_neo4j_has_the_restrictions_of_the_managed_one() -> None:
    local = neo4j_settings("127.0.0.1:0", Sizes())
    configured_settings = neo4j_configured()
    shared = {
        name: value
        for name, value in configured_settings.items()
        if name in local and "memory.pagecache" not in name
    }
    assert shared == {name: local[name] for name in shared}
    closing = {
        name
        for name in local
        if "csv" in name or "blocklist" in name or "usage" in name or "keep_alive" in name
    }
    assert (
        closing | {"db.transaction.timeout", "db.memory.transaction.max"}
        <= configured_settings.keys()
    )
    assert "internal.dbms.block_size.strings" in configured_settings
    assert {
        name: value for name, value in NEO4J_SETTINGS.items() if name in configured_settings
    }.items() <= configured_settings.items()


@pytest.mark.neo4j
def test_the_server_knows_every_setting(graph_driver: Driver) -> None:
    with graph_driver.session() as session:
        known_names = {record["name"] for record in session.run("SHOW SETTINGS YIELD name")}
    assert {
        name for name in neo4j_configured() if not name.startswith("internal.")
    } - known_names == set()


def test_the_paths_that_the_dockerfile_copies_exist() -> None:
    sources = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, flags=re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert len(sources) >= 6
    assert [source for source in sources if not (ROOT / source).exists()] == []
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert [source for source in sources if f"!{source}" not in allowed] == []


def test_the_image_runs_headwater_as_an_unprivileged_user() -> None:
    assert re.findall(r'^CMD \["(\S+)"\]$', DOCKERFILE, flags=re.MULTILINE) == ["serve"]
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, flags=re.MULTILINE) == ["headwater"]
    assert "HEALTHCHECK" in DOCKERFILE
    installs = re.findall(r"pip install .+", DOCKERFILE)
    assert all("--require-hashes" in line or "--no-index" in line for line in installs)
