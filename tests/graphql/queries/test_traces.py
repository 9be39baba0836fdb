"""Traces in the schema: the query that clients rely on, and the traces of a run."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.event_builders import run_event
from tests.graphql.conftest import Ask
from tests.run_builders import write_events

pytestmark = pytest.mark.neo4j

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(autouse=True)
def history(database: Database) -> None:
    empty(database)
    service = run_event("s", "COMPLETE", 1, job="checkout", outputs=["orders"])
    service["run"]["facets"] = {"trace": {"traceId": TRACE}}
    kind = {"processingType": "SERVICE", "integration": "OTEL", "jobType": "SERVICE"}
    service["job"]["facets"] = {"jobType": kind}
    batch = run_event("b", "COMPLETE", 2, job="load", inputs=["orders"])
    batch["run"]["facets"] = {"trace": {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}}
    write_events(database, [service, batch])


def test_the_query_of_clients(ask: Ask) -> None:
    query = "query ($id: String) { traces(traceId: $id) { runs { runId } } }"
    assert ask(query, id=TRACE)["data"] == {"traces": [{"runs": [{"runId": "b"}, {"runId": "s"}]}]}
    assert ask(query, id=None)["data"]["traces"] == [{"runs": [{"runId": "b"}, {"runId": "s"}]}]
    assert ask(query, id="f" * 32)["data"] == {"traces": []}


def test_services_and_the_traces_of_a_run(ask: Ask) -> None:
    found = ask(
        """query ($id: String) {
          traces(traceId: $id) { traceId truncated link services { name } }
          run(runId: "s") { traceIds traceCount traceLinks } }""",
        id=TRACE,
    )["data"]
    assert found == {
        "traces": [
            {"traceId": TRACE, "truncated": False, "link": None, "services": [{"name": "checkout"}]}
        ],
        "run": {"traceIds": [TRACE], "traceCount": 1, "traceLinks": []},
    }


@pytest.mark.parametrize("text", ["", "x", "0" * 32, "a" * 10_000, '"', "*"])
def test_a_malformed_trace_id(ask: Ask, text: str) -> None:
    answer = ask("query ($id: String) { traces(traceId: $id) { traceId } }", id=text)
    assert answer["data"] == {"traces": None}
    [error] = answer["errors"]
    assert error["extensions"]["code"] == "BAD_REQUEST"
