"""Two graphs with the same visible part for a key of `db`, and an application over each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater import server as server_module
from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets as native
from headwater.schema.urns import dataset_urn
from headwater.server import create_app
from headwater.settings import Settings
from tests.access.probes import Probe, Subject
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.event_builders import dataset, run_event, schema
from tests.run_builders import FACET, Event, at, write_events

VISIBLE = Subject(dataset_urn("db", "a"), "db", "a", "load", "load-1", "kpi")
# A node that only the first graph has.
HIDDEN = Subject(
    dataset_urn("vault", "vault-0"),
    "vault",
    "vault-0",
    "vault-job-0",
    "vault-run-0",
    "vault-answer",
)


def visible_events() -> list[Event]:
    """Return raw -> load -> a -> mart -> d, and a failed run of mart."""
    facets = {"ownership": {**FACET, "owners": [{"name": "team"}]}}
    return [
        run_event(
            "load-1",
            minute=1,
            job="load",
            inputs=["raw"],
            outputs=[dataset("a", schema(total="int", mail="string"))],
            job_facets=facets,
        ),
        run_event("mart-1", minute=2, job="mart", inputs=["a"], outputs=["d"]),
        run_event("mart-2", "FAIL", minute=3, job="mart", inputs=["a"]),
        native.answer_event(
            "kpi", cites=[{"namespace": "db", "name": "d"}], generated_at=at(4), event_time=at(4)
        ),
    ]


def hidden_events(number: int, prefix: str) -> list[Event]:
    """Return a -> hidden jobs -> report: `number` hidden jobs with runs, failures and answers."""
    events = []
    for one in range(number):
        source = "a" if not one else _hidden(f"{prefix}-{one - 1}")
        target = _hidden(f"{prefix}-{one}", secret="string", card="int")
        event = run_event(
            f"{prefix}-run-{one}", minute=4 + one, job=f"{prefix}-job-{one}",
            inputs=[source], outputs=[target],
            job_facets={"ownership": {**FACET, "owners": [{"name": f"{prefix}-owner"}]}},
        )  # fmt: skip
        failed = run_event(
            f"{prefix}-failed-{one}", "FAIL", minute=20 + one, job=f"{prefix}-job-{one}"
        )
        for hidden in (event, failed):
            hidden["job"]["namespace"] = "vault"
            hidden["producer"] = f"https://example.com/{prefix}"
        events += [event, failed]
    # The id of this run is part of the visible version that it made.
    last = run_event(
        "report-1", minute=30, job=f"{prefix}-last",
        inputs=[_hidden(f"{prefix}-{number - 1}")], outputs=["report"],
    )  # fmt: skip
    last["job"]["namespace"] = "vault"
    cites = [{"namespace": "vault", "name": f"{prefix}-0"}]
    return [*events, last, native.answer_event(f"{prefix}-answer", cites=cites)]


def _hidden(name: str, **columns: str) -> Event:
    return dataset(name, schema(**(columns or {"secret": "string"})), namespace="vault")


def create_keys(home: Path) -> dict[str, str]:
    """Return a key of each scope for everything, and of all scopes for one namespace each."""
    home.mkdir(exist_ok=True)
    store = AccessStore(home / "access.db")
    keys = Keys(store)
    found = {str(scope): keys.create(scope, [scope])[0] for scope in Scope}
    some = [Scope.READ, Scope.INGEST, Scope.STEWARD]
    found["db"] = keys.create("db", some, namespaces=["db", "etl"])[0]
    found["other"] = keys.create("other", some, namespaces=["other"])[0]
    store.close()
    return found


@contextmanager
def served(
    database: Database, server: Neo4jServer, home: Path, events: list[Event]
) -> Iterator[tuple[Starlette, TestClient]]:
    """Fill the graph and the spool with events, and serve the whole application over them."""
    empty(database)
    write_events(database, events)
    # Neo4j plans the statements of the probes only; planning all of them takes longer than the test.
    patch = pytest.MonkeyPatch()
    patch.setattr(server_module, "run_warm_up", lambda *_: None)
    app = create_app(
        Settings(
            home=str(home),
            require_keys=True,
            neo4j_uri=server.uri,
            neo4j_user=server.user,
            neo4j_password=server.password,
            lineage_cache=False,
            query_cost_max=10**9,
        )
    )
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        patch.undo()
        yield app, client


def sent(client: TestClient, probe: Probe, key: str | None) -> tuple[int, str]:
    """Return the status and the text of the answer to a probe."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    body: dict[str, Any] = {} if probe.body is None else {"json": probe.body}
    answer = client.request(
        probe.method, probe.path, params=probe.params, headers=headers,
        follow_redirects=False, **body,
    )  # fmt: skip
    return answer.status_code, answer.text


_NOW = re.compile(r"20(?!26-01-0)\d\d-\d\d-\d\d(?:T[0-9:.]+(?:Z|[+-]\d\d:\d\d)?)?")
_DURATION = re.compile(r'"(\w*(?:[sS]econds|[dD]elay|age|median|p95))": ?-?[0-9.e-]+')


def without_clock(text: str) -> str:
    """Return an answer without the present time, and without durations until now."""
    return _DURATION.sub(r'"\1": 0', _NOW.sub("NOW", text))
