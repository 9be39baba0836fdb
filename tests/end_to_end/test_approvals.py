"""Approvals by the command, through the real API and worker."""

from __future__ import annotations

import json

import pytest

from headwater.schema import headwater_facets as native
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import Running
from tests.end_to_end.test_commands import Command

pytestmark = pytest.mark.neo4j
TABLE = "dataset:approve:orders"
OPTIONS = ("approve", TABLE, "--policy", "retention")


def test_an_approval_is_given_and_withdrawn(running: Running, neo4j_server: Neo4jServer) -> None:
    command = Command(running, neo4j_server)
    event = native.source_event("orders", namespace="approve", captured_at="2026-03-01")
    assert command.ingest("-", stdin=json.dumps(event).encode())[0] == 0
    running.wait_folded()

    def approvals() -> list[tuple[str, str, str | None]]:
        running.wait_folded()
        (row,) = running.database.read("read/nodes/properties", urns=[TABLE])
        found = json.loads(row["properties"].get("approvals") or "[]")
        return [(one["policy"], one["reason"], one.get("until")) for one in found]

    address = ("--url", running.url)
    given = (*OPTIONS, "--reason", "Audit", "--until", "2099-12-31", *address)
    code, out, _ = command(*given)
    assert (code, out) == (0, f"approved: retention on {TABLE} until 2099-12-31\n")
    assert approvals() == [("retention", "Audit", "2099-12-31")]
    code, out, _ = command(*OPTIONS, "--withdraw", *address)
    assert (code, out) == (0, f"withdrawn: retention on {TABLE}\n")
    assert approvals() == []
    code, _, error = command(*OPTIONS, *address)
    assert (code, error.splitlines()[0]) == (2, "headwater: --reason is missing")
