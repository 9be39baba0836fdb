"""Questions of the gate to an API, over a real socket."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from headwater.code_analysis.model import MODEL, TableChange
from headwater.errors import QueryError, UnavailableError
from headwater.gate.client import GateClient
from headwater.gate.policies import PolicyBreach, ProposedAction
from headwater.gate.resolve_datasets import DatasetChange, DatasetInfo, GateApproval, SearchHit
from headwater.governance.policies.files import PolicyFile
from headwater.schema.urns import dataset_urn

URN = dataset_urn("db", "shop.orders")


class Server(http.server.ThreadingHTTPServer):
    """A server on this machine that answers each question with the next prepared body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[bytes] = []
        self.variables: list[dict[str, Any]] = []

    def prepare(self, data: dict[str, Any]) -> None:
        self.bodies.append(json.dumps({"data": data}).encode())


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.variables.append(request.get("variables", {}))
        body = self.server.bodies.pop(0)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def client(server: Server) -> GateClient:
    return GateClient(f"http://127.0.0.1:{server.server_port}")


def page(*names: str, cursor: str | None) -> dict[str, Any]:
    nodes = [{"urn": dataset_urn("db", name), "namespace": "db", "name": name} for name in names]
    info = {"hasNextPage": cursor is not None, "endCursor": cursor}
    edges = [{"node": node} for node in nodes]
    return {"search": {"edges": edges, "pageInfo": info, "truncated": False}}


def test_all_pages_of_a_search_are_read(server: Server, client: GateClient) -> None:
    server.prepare(page("a.orders", cursor="1"))
    server.prepare(page("b.orders", cursor=None))
    hits, is_truncated = client.search_datasets("orders")
    assert [hit.name for hit in hits] == ["a.orders", "b.orders"]
    assert hits[0] == SearchHit(dataset_urn("db", "a.orders"), "db", "a.orders")
    assert not is_truncated
    assert [one["after"] for one in server.variables] == [None, "1"]


def test_the_producers_of_a_dataset_are_the_jobs_with_an_edge_to_it(
    server: Server, client: GateClient
) -> None:
    nodes = [
        {"urn": "job:etl:load", "kind": "JOB"},
        {"urn": "job:etl:far", "kind": "JOB"},
        {"urn": "dataset:db:raw", "kind": "DATASET"},
    ]
    edges = [
        {"source": "job:etl:load", "target": URN},
        {"source": "dataset:db:raw", "target": "job:etl:load"},
    ]
    approval = {"policy": "p", "reason": "Agreed.", "by": "ann", "at": "2026-01-01T00:00:00Z"}
    approvals = [
        {**approval, "until": None, "active": True},
        {**approval, "until": "2020-01-01", "active": False},
    ]
    dataset = {"columns": ["id"], "tags": ["certified"], "approvals": approvals}
    server.prepare({"dataset": dataset, "lineage": {"nodes": nodes, "edges": edges}})
    active = GateApproval("p", "Agreed.", "ann", "2026-01-01T00:00:00Z")
    assert client.dataset_info(URN) == DatasetInfo(
        ("id",), ("certified",), ("job:etl:load",), (active,)
    )


def test_the_impact_of_a_change_and_its_gaps(server: Server, client: GateClient) -> None:
    evidence = [
        {"kind": "SQL_LINE", "path": [], "file": "", "line": 2, "text": "sum(x)", "unknown": []},
        {"kind": "READS_ONLY", "path": [URN, "job:etl:j"], "file": "", "line": 0, "text": "",
         "unknown": ["a reason"]},
    ]  # fmt: skip
    affected = {
        "urn": "job:etl:j", "kind": "JOB", "name": "j", "severity": "BREAKING", "certified": True,
        "references": ["x"], "owners": ["team"], "outputs": [URN], "evidence": evidence,
    }  # fmt: skip
    server.prepare(
        {"impact": {"affected": [affected], "hiddenAffected": True, "truncatedBy": "time"}}
    )
    drop = {"type": "column_drop", "column": "x", "urn": URN}
    change = DatasetChange(TableChange("orders", MODEL, drop, "m.sql"), URN, drop)
    (one,), gaps = client.impact(change)
    assert (one.severity, one.is_certified, one.outputs) == ("breaking", True, (URN,))
    assert one.evidence == ("its SQL line 2: sum(x)", "shop.orders → j (a reason)")
    assert len(gaps) == 2
    assert server.variables[0]["changes"] == [drop]


def test_a_page_of_html_is_an_error(server: Server, client: GateClient) -> None:
    server.bodies.append(b"<html>")
    with pytest.raises(UnavailableError, match="does not answer as a Headwater does"):
        client.search_datasets("orders")


def test_policies_are_asked_with_their_files_and_the_change(
    server: Server, client: GateClient
) -> None:
    change = {"type": "column_drop", "column": "a", "urn": URN}
    dropped = DatasetChange(TableChange("orders", MODEL, change, "m.sql", 2), URN, change)
    action = ProposedAction(URN, "change", ("a",), dropped)
    violation = {"policy": "kept", "urn": URN, "severity": "P1", "enforce": "block"}
    violation |= {"message": "it is kept"}
    node: dict[str, Any] = {**violation, "unknown": None, "owners": ["ann"]}
    page = {"missing": [], "edges": [{"node": node}]}
    for cursor in ("c1", None):
        info = {"hasNextPage": bool(cursor), "endCursor": cursor}
        server.prepare({"policyCheck": {**page, "pageInfo": info}})
    found = client.breaches((PolicyFile("p.yaml", "name: kept"),), action)
    expected = PolicyBreach(**violation, owners=("ann",), file="m.sql", line=2)
    assert found == (expected, expected)
    assert [one["after"] for one in server.variables] == [None, "c1"]
    assert server.variables[0]["change"] == {"action": "change", "columns": ["a"]}
    assert server.variables[0]["files"] == [{"path": "p.yaml", "text": "name: kept"}]
    server.prepare({"policyCheck": {"missing": [URN], "edges": [], "pageInfo": info}})
    with pytest.raises(QueryError, match="sees no node"):
        client.breaches((), action)
