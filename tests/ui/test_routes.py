"""The files of the page: every view has them, each is ours or listed, and its documents are valid."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.graphql.persisted_queries import PersistedQueries
from headwater.graphql.query_limits import COST_MAX
from headwater.graphql.schema import create_schema
from headwater.ui.routes import VIEWS, documents, routes
from headwater.ui.static_files import versioned_page
from tests.repo.repository import ROOT

STATIC = ROOT / "headwater/ui/static"
APP = sorted((STATIC / "app").rglob("*.js"))
CLIENT = TestClient(Starlette(routes=routes()))
ASKED = re.compile(r"""(?:ask|useAsk|sendEdit)\(\s*(?:[\w.]+ \? )?"(\w+)\"""")


@pytest.mark.parametrize("path", ["/", *VIEWS])
def test_every_view_is_the_page_with_a_strict_policy(path: str) -> None:
    address = path.replace("{urn:path}", "dataset:file:%2Flake%2Ft").replace("{id:path}", "r-1")
    answer = CLIENT.get(address.replace("{name}", "trust"), headers={"accept": "text/html"})
    page = versioned_page((STATIC / "index.html").read_text())
    assert (answer.status_code, answer.text) == (200, page)
    assert answer.headers["cache-control"] == "no-cache"
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_the_page_names_only_files_that_exist() -> None:
    for link in re.findall(r'(?:src|href)="(/static/[^"]+)"', (STATIC / "index.html").read_text()):
        assert CLIENT.get(link).status_code == 200, link
    for file in APP:
        for name in re.findall(r'(?:from|import\()\s*"(\.[^"]+)"', file.read_text()):
            assert (file.parent / name).is_file(), f"{file.name} imports {name}"


def test_files_are_compressed() -> None:
    answer = CLIENT.get("/static/app.css", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"


def test_every_document_is_valid_and_asked() -> None:
    PersistedQueries(own=documents()).validate(create_schema(COST_MAX)._schema, COST_MAX)
    asked = {f"page.{name}" for file in APP for name in ASKED.findall(file.read_text())}
    assert asked == documents().keys()


def test_every_text_of_the_catalogue_is_used_and_every_used_text_is_in_it() -> None:
    catalogue = "".join(file.read_text() for file in APP if file.name.startswith("texts"))
    names = set(re.findall(r'^  "([\w.-]+)":', catalogue, flags=re.MULTILINE))
    code = "".join(file.read_text() for file in APP if not file.name.startswith("texts"))
    used = set(re.findall(r'\bt\(\s*"([\w.-]+)"', code))
    prefixes = tuple(re.findall(r"\bt\(\s*`([\w.-]+\.)\$\{", code))
    assert used <= names
    quoted = set(re.findall(r'"([\w.-]+)"', code))
    assert {name for name in names - quoted if not name.startswith(prefixes)} == set()


def test_vendored_files_are_as_listed() -> None:
    listed = json.loads((STATIC / "vendor/vendor.json").read_text())
    found = {
        str(file.relative_to(STATIC / "vendor")): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((STATIC / "vendor").rglob("*"))
        if file.is_file() and file.suffix in {".js", ".mjs", ".css"}
    }
    assert found == listed
    for folder in {Path(name).parts[0] for name in found}:
        assert list((STATIC / "vendor" / folder).glob("LICENSE*")), folder
