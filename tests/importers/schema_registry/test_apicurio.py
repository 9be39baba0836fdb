"""A real Apicurio Registry from Maven.

It needs Java 21 or later, and the archive in the local Maven repository:
mvn dependency:get -Dartifact=io.apicurio:apicurio-registry-app:3.3.3:tar.gz:all -Dtransitive=false
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headwater.importers.report import ImportReport
from headwater.importers.schema_registry.client import SchemaRegistry
from headwater.importers.schema_registry.importer import RegistryOptions, read_registry
from headwater.local.ports import free_port

VERSION = "3.3.3"
NAME = "apicurio-registry-app"
ARCHIVE = Path.home() / f".m2/repository/io/apicurio/{NAME}/{VERSION}/{NAME}-{VERSION}-all.tar.gz"
JAVA_MIN = 21
LINE = {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}]}


def java() -> str | None:
    """Return a Java that is new enough; None without one."""
    for path in sorted(Path("/usr/lib/jvm").glob("*/bin/java"), reverse=True):
        shown = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
        found = re.search(r'version "(\d+)', shown.stderr)
        if found and int(found[1]) >= JAVA_MIN:
            return str(path)
    return None


@pytest.fixture(scope="module")
def registry_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = java()
    if program is None or not ARCHIVE.exists():
        pytest.skip(f"needs Java {JAVA_MIN} and {ARCHIVE.name} in the local Maven repository")
    folder = tmp_path_factory.mktemp("apicurio")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    [jar] = folder.rglob("quarkus-run.jar")
    port = free_port()
    environment = {
        **os.environ,
        "QUARKUS_HTTP_PORT": str(port),
        "QUARKUS_HTTP_HOST": "127.0.0.1",
    }
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "-Xmx256m", "-jar", str(jar)],
            cwd=jar.parent,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
    try:
        while not _answers(f"{url}/subjects"):
            assert process.poll() is None, log.read_text(errors="replace")[-4_000:]
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait()


def register(url: str, subject: str, text: str, **more: Any) -> int:
    """Register a schema, as any client does; return its id."""
    request = urllib.request.Request(
        f"{url}/subjects/{subject}/versions",
        json.dumps({"schema": text, **more}).encode(),
        {"Content-Type": "application/vnd.schemaregistry.v1+json"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return int(json.load(answer)["id"])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_schemas_of_every_type(registry_url: str) -> None:
    register(registry_url, "line", json.dumps(LINE))
    fields = [
        {"name": "id", "type": "long"},
        {"name": "lines", "type": {"type": "array", "items": "Line"}},
    ]
    order = json.dumps({"type": "record", "name": "Order", "fields": fields})
    line = {"name": "Line", "subject": "line", "version": 1}
    number = register(registry_url, "orders-value", order, references=[line])
    text = 'syntax = "proto3"; message Click { string page = 1; }'
    register(registry_url, "clicks-value", text, schemaType="PROTOBUF")
    person = {"type": "object", "properties": {"mail": {"type": "string"}}}
    register(registry_url, "people-value", json.dumps(person), schemaType="JSON")
    report = ImportReport()
    options = RegistryOptions("kafka://b:9092", datetime.now(UTC), lambda *_: set())
    events = list(read_registry(SchemaRegistry(registry_url), options, report))
    columns = {
        event["dataset"]["name"]: event["dataset"]["facets"]["schema"]["fields"] for event in events
    }
    sku = [{"name": "sku", "type": "string"}]
    assert report.problems == []
    assert columns == {
        "clicks": [{"name": "page", "type": "string"}],
        "orders": [
            {"name": "id", "type": "long"},
            {"name": "lines", "type": "array<record>", "fields": sku},
        ],
        "people": [{"name": "mail", "type": "string"}],
    }
    [contract] = [
        facet
        for name, facet in events[1]["dataset"]["facets"].items()
        if name.startswith("headwater_contract_")
    ]
    assert contract["name"] == f"AVRO schema {number} of orders-value"
    [note] = report.notes
    assert note.startswith("subject 'line' names a record and no topic; give its topic with")
