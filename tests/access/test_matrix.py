"""The access matrix: every route and every root field, and the kinds of keys that open them.

The table below is written by hand. A new route or field without a row fails by name. Subscriptions
and reads by name are real requests over a real graph, with each kind of key.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient

from headwater.access.rules import FIELDS as FIELDS_OF_RULES
from headwater.access.rules import rule_of_route
from headwater.cypher.driver.database import Database
from headwater.graphql.transport.websocket import PROTOCOL
from tests.access.probes import field_probes, route_probes
from tests.access.worlds import (
    HIDDEN,
    VISIBLE,
    create_keys,
    hidden_events,
    sent,
    served,
    visible_events,
)
from tests.canonical import empty
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

# fmt: off
ROUTES: dict[str, str] = {
    "open": """
        GET / | GET /lineage | GET /search | GET /failures | GET /findings | GET /policies
        GET /finding | GET /sign-in | GET /datasets/{urn:path} | GET /jobs/{urn:path}
        GET /runs/{id:path} | GET /answers/{id:path} | GET /dashboards | GET /dashboards/{name}
        GET /static | GET /tiles/{figure} | GET /runbooks | GET /runbooks/{rule} | GET /healthz
        GET /readyz | GET /session | POST /session | DELETE /session | GET /openapi.json
        GET /session/oidc | GET /session/oidc/callback
    """,
    "read": """
        GET /api/v1/lineage | GET /api/v1/lineage-table | GET /api/v1/analyses
        GET /api/v1/evidence | POST /policy/decisions | POST /lineage/impact
        POST /v1/lineage/impact | GET /lineage/{id} | GET /v1/lineage/{id}
        GET /api/v1/namespaces | GET /api/v1/namespaces/{namespace}
        GET /api/v1/namespaces/{namespace}/datasets
        GET /api/v1/namespaces/{namespace}/datasets/{dataset}
        GET /api/v1/namespaces/{namespace}/datasets/{dataset}/versions
        GET /api/v1/namespaces/{namespace}/datasets/{dataset}/versions/{version}
        GET /api/v1/namespaces/{namespace}/jobs | GET /api/v1/namespaces/{namespace}/jobs/{job}
        GET /api/v1/namespaces/{namespace}/jobs/{job}/runs
        GET /api/v1/namespaces/{namespace}/jobs/{job}/versions
        GET /api/v1/namespaces/{namespace}/jobs/{job}/versions/{version}
        GET /api/v1/jobs | GET /api/v1/jobs/runs/{id} | GET /api/v1/jobs/runs/{id}/facets
        GET /api/v1/sources | GET /api/v1/sources/{source} | GET /api/v1/tags
        GET /api/v1/column-lineage | GET /api/v1/search | GET /api/v1/events/lineage
        GET /api/v1/stats/{asset} | GET /api/v1/stats/lineage-events
        GET /api/atlas/v2/lineage/{guid}
        GET /api/atlas/v2/lineage/uniqueAttribute/type/{typeName}
        GET /api/atlas/v2/entity/guid/{guid} | GET /api/atlas/v2/entity/guid/{guid}/header
        GET /api/atlas/v2/entity/uniqueAttribute/type/{typeName}
    """,
    "read of every namespace": """
        GET /metrics
    """,
    "ingest": """
        POST /api/v1/lineage | POST /api/v1/lineage/batch | POST /v1/traces | POST /lineage/trace
        POST /v1/lineage/trace | POST /api/atlas/v2/entity | PUT /api/atlas/v2/entity
        POST /api/atlas/v2/entity/bulk | PUT /api/atlas/v2/entity/bulk
    """,
    "steward": """
        DELETE /api/v1/namespaces/{namespace}
        DELETE /api/v1/namespaces/{namespace}/datasets/{dataset}
        DELETE /api/v1/namespaces/{namespace}/jobs/{job} | PUT /api/v1/tags/{tag}
        POST /api/v1/namespaces/{namespace}/datasets/{dataset}/tags/{tag}
        DELETE /api/v1/namespaces/{namespace}/datasets/{dataset}/tags/{tag}
        POST /api/v1/namespaces/{namespace}/datasets/{dataset}/fields/{field}/tags/{tag}
        DELETE /api/v1/namespaces/{namespace}/datasets/{dataset}/fields/{field}/tags/{tag}
        POST /api/v1/namespaces/{namespace}/jobs/{job}/tags/{tag}
        DELETE /api/v1/namespaces/{namespace}/jobs/{job}/tags/{tag}
    """,
    "cypher": "GET /cypher | POST /cypher | POST /cypher/{name}",
    "admin": "GET /access/keys | GET /access/log",
}
FIELDS: dict[str, str] = {
    "read": """
        alerts aliases answer answers breakdowns columnLineage columns competingDatasets
        contractCheck contractViolations contracts coverage dataset datasets failedChecks failedRuns
        failingPipelines figures finding findings freshness impact inventories inventoryAssets job
        jobs lineage lineageTable models modelsUsing namespaces node nodesByName overdueRuns ownedBy
        owners personalData policies policyCheck policyViolations quality replayPlan
        rootCause run runs schemaChanges schemaDiff search trace traces unusedDatasets usage
        serviceLevels runEvents failures findingChanges
    """,
    "read of every namespace": "platform conformance",
    "ingest": "registerAnswer registerArtifact registerPipelineRun registerSource",
    "steward": """
        approve certify declassify deprecate editDescription editOwners editTags joinAliases
        splitAliases withdrawApproval
    """,
}
# fmt: on
# The rows that each kind of key opens. `db` and `other` have three scopes, and one namespace each.
OPENED: dict[str, set[str]] = {
    "none": {"open"},
    "garbage": {"open"},
    "read": {"open", "read", "read of every namespace"},
    "ingest": {"open", "ingest"},
    "steward": {"open", "steward"},
    "cypher": {"open", "cypher"},
    "admin": {"open", "read", "read of every namespace", "ingest", "steward", "cypher", "admin"},
    "db": {"open", "read", "ingest", "steward"},
    "other": {"open", "read", "ingest", "steward"},
}
ROOTS = ("Query", "Mutation", "Subscription")


def rows(table: dict[str, str], separator: str | None) -> dict[str, str]:
    """Return the kind of each endpoint of a table."""
    found = {}
    for kind, text in table.items():
        listed = text.replace("\n", separator or " ").split(separator)
        found.update({one.strip(): kind for one in listed if one.strip()})
    return found


ROUTE_ROWS, FIELD_ROWS = rows(ROUTES, "|"), rows(FIELDS, None)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matrix") / "home"


@pytest.fixture(scope="module")
def keys(home: Path) -> dict[str, str | None]:
    return {**create_keys(home), "none": None, "garbage": "hw_000000000000_" + "x" * 43}


@pytest.fixture(scope="module")
def serving(
    database: Database, neo4j_server: Neo4jServer, home: Path, keys: object
) -> Iterator[tuple[Starlette, TestClient]]:
    assert keys
    events = [*visible_events(), *hidden_events(2, "vault")]
    with served(database, neo4j_server, home, events) as both:
        yield both
    empty(database)


def test_every_route_has_a_row(serving: tuple[Starlette, TestClient]) -> None:
    app, _ = serving
    endpoints = {probe.endpoint for probe in route_probes(app, VISIBLE)} - {
        f"{method} /static" for method in ("POST", "PUT")
    }
    assert endpoints == set(ROUTE_ROWS)
    sockets = {one.path.rstrip("/") for one in app.routes if isinstance(one, WebSocketRoute)}
    assert sockets == {"/graphql"}


def test_every_field_has_a_row() -> None:
    probes = field_probes(VISIBLE, ROOTS)
    assert {probe.endpoint.partition(".")[2] for probe in probes} == set(FIELD_ROWS)


def test_the_rules_are_those_of_the_table() -> None:
    """`test_rules` holds the rules by requests; this table is their second, independent source."""
    wrong = [
        endpoint
        for endpoint, kind in ROUTE_ROWS.items()
        if rule_of_route(*endpoint.split(" ", 1)) != kind.partition(" ")[0]
    ]
    for name, kind in FIELD_ROWS.items():
        rules = {FIELDS_OF_RULES.get(f"{root}.{name}") for root in ROOTS} - {None}
        if rules != {kind.partition(" ")[0]}:
            wrong.append(name)
    assert wrong == []


def test_hidden_nodes_are_absent_for_reads_by_name(
    serving: tuple[Starlette, TestClient], keys: dict[str, str | None]
) -> None:
    """A hidden node and one that no graph has get the same status and the same kind of error."""
    app, client = serving
    for probe, absent in zip(
        [*route_probes(app, HIDDEN), *field_probes(HIDDEN, ("Query",))],
        [*route_probes(app, ABSENT), *field_probes(ABSENT, ("Query",))],
        strict=True,
    ):
        if probe.method == "GET" or probe.path == "/graphql":
            found = [sent(client, one, keys["db"]) for one in (probe, absent)]
            assert found[0][0] == found[1][0], probe.endpoint


ABSENT = type(HIDDEN)(
    "dataset:vault:absent", "vault", "absent", "absent-job", "absent-run", "absent-answer"
)


def test_each_subscription(
    serving: tuple[Starlette, TestClient], keys: dict[str, str | None]
) -> None:
    _, client = serving
    for name, key in keys.items():
        is_open = "read" in OPENED[name]
        for probe in field_probes(VISIBLE, ("Subscription",)):
            code = closing_code(client, key, probe.body["query"])
            # Without a valid key the connection ends at once; else the test ends it.
            expected = 4429 if is_open else 4403
            assert code == (4401 if name in ("none", "garbage") else expected), (name, probe)


def closing_code(client: TestClient, key: str | None, query: str) -> int:
    """Subscribe, and return the code with which the server closes the connection."""
    code = 0
    # On exit the client cancels the connection, which may be ending at that moment.
    with (
        suppress(CancelledError),
        client.websocket_connect("/graphql", subprotocols=[PROTOCOL]) as socket,
    ):
        payload = {"authorization": f"Bearer {key}"} if key else {}
        socket.send_json({"type": "connection_init", "payload": payload})
        message = socket.receive()
        if message["type"] == "websocket.send":
            socket.send_json({"type": "subscribe", "id": "1", "payload": {"query": query}})
            message = socket.receive() if not is_serving(socket) else message
            socket.send_json({"type": "connection_init"})
            while message["type"] == "websocket.send":
                message = socket.receive()
        code = message["code"]
    return code


def is_serving(socket: object) -> bool:
    """Return True: a second connection_init ends a connection that serves a subscription."""
    return socket is not None
