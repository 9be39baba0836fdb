"""Decisions over HTTP on a small estate: raw -> load -> orders -> build -> mart -> an answer.

A test reads orders too. `secret/x -> hidden` reads staging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.testclient import TestClient

from headwater.access.guard import principal_of
from headwater.cypher.driver.database import Database
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.store import PolicyState
from headwater.lineage.view import GraphView
from headwater.rest.app import rest_routes
from headwater.rest.policies import PolicyContext
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event
from tests.rest.conftest import HeaderPrincipal, Log
from tests.run_builders import Event, ds, job, write_events

pytestmark = pytest.mark.neo4j
POLICIES = """
name: no-drop
rule: no-delete-with-consumers
---
name: far-reach
rule: approval-for-blast-radius
with: {over: 1}
---
name: no-copy-abroad
on: [export, run]
condition: "node.namespace == 'eu' || node.name.startsWith('orders')"
match: {name: [orders*]}
message: "{node.name} stays here"
enforce: warn
---
name: described-before-write
on: [run]
condition: "node.description == ''"
enforce: block
match: {name: [new]}
---
name: fresh
rule: fresh-before-inference
with: {within: 24h}
"""
Decide = Callable[..., dict[str, Any]]


BROKEN: list[str] = []


def state() -> PolicyState:
    policies = parse_policies([PolicyFile("all.yaml", POLICIES)])
    return PolicyState(policies, "policies", broken=tuple(BROKEN))


def at_now(event: Event) -> Event:
    event["eventTime"] = datetime.now(UTC).isoformat()
    return event


@pytest.fixture(scope="module")
def logged() -> list[tuple[str, str, dict[str, Any]]]:
    return []


@pytest.fixture(scope="module")
def client(
    database: Database, logged: list[tuple[str, str, dict[str, Any]]]
) -> Iterator[TestClient]:
    empty(database)
    test_tags = {"tags": {"tags": [{"key": "test", "value": "true"}]}}
    raw = {"tags": {"tags": [{"key": "gold", "value": "1"}]}}
    reading = run_event("t1", "COMPLETE", 4, job="check", inputs=[dataset("orders")])
    reading["job"]["facets"] = test_tags
    foreign = run_event("x1", "COMPLETE", 5, job="x", inputs=[dataset("staging")])
    foreign["job"]["namespace"] = "secret"
    events = [
        dataset_event("raw", 1, raw),
        run_event("l1", "COMPLETE", 2, job="load", inputs=[dataset("raw")], outputs=[
            dataset("orders")
        ]),
        run_event("b1", "COMPLETE", 3, job="build", inputs=[dataset("orders")], outputs=[
            dataset("mart")
        ]),
        run_event("s1", "COMPLETE", 3, job="stage", outputs=[dataset("staging")]),
    ]  # fmt: skip
    write_events(database, [at_now(event) for event in (*events, reading, foreign)])

    def log(principal: str, action: str, detail: dict[str, Any]) -> None:
        logged.append((principal, action, detail))

    async def submit(*_: object) -> None:
        raise AssertionError("decisions send no events")

    def view_of(request: Request) -> GraphView:
        return GraphView(database).visible_to(principal_of(request).visibility)

    policies = PolicyContext(state, log)
    routes = rest_routes(view_of, submit, Log(), policies=policies)
    with TestClient(Starlette(routes=routes, middleware=[Middleware(HeaderPrincipal)])) as one:
        yield one


@pytest.fixture
def decide(client: TestClient) -> Decide:
    def send(action: str, name: str, *, sees: str | None = None, **more: Any) -> dict[str, Any]:
        body = {"action": action, "dataset": {"namespace": "db", "name": name}, **more}
        headers = {} if sees is None else {"x-visibility": sees}
        answer = client.post("/policy/decisions", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    return send


def violated(decision: dict[str, Any]) -> list[str]:
    return [one["policy"] for one in decision["violations"]]


def test_a_drop_with_an_active_consumer_is_refused_and_names_it(
    decide: Decide, logged: list[tuple[str, str, dict[str, Any]]]
) -> None:
    found = decide("drop", "orders", actor="ann")
    assert (found["allowed"], found["enforce"], found["reason"]) == (False, "block", None)
    # The job `check` has the tag test.
    assert found["consumers"] == [job("build")]
    first = next(one for one in found["violations"] if one["policy"] == "no-drop")
    assert first == {
        "policy": "no-drop",
        "severity": "P1",
        "enforce": "block",
        "message": f"orders has 1 active consumers: {job('build')}",
        "unknown": None,
        "owners": [],
    }
    principal, action, detail = logged[-1]
    assert (principal, action) == ("anonymous", "refused drop")
    assert (detail["urn"], detail["actor"]) == (ds("orders"), "ann")


def test_a_drop_without_consumers_is_allowed(
    decide: Decide, logged: list[tuple[str, str, dict[str, Any]]]
) -> None:
    found = decide("delete", "mart")
    assert (found["allowed"], found["violations"], found["consumers"]) == (True, [], [])
    assert found["known"] is True
    assert found["took"] >= 0
    assert logged[-1][1] == "allowed delete"


def test_an_approval_lets_a_change_pass_until_its_last_day(
    decide: Decide, database: Database
) -> None:
    assert violated(decide("change", "orders")) == ["far-reach"]

    def approve(until: str | None, reason: str | None = "Agreed.") -> None:
        write_events(
            database,
            [
                native.approval_event(
                    "db", "orders", policy="far-reach", reason=reason, until=until, by="ann"
                )
            ],
        )

    approve("2020-01-01")
    assert decide("change", "orders")["allowed"] is False
    approve("2099-01-01")
    assert decide("change", "orders")["allowed"] is True
    approve(None, reason=None)
    assert decide("change", "orders")["allowed"] is False


def test_a_broken_file_of_policies_is_a_note_on_the_answer(
    decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert decide("export", "orders")["note"] is None
    monkeypatch.setattr("tests.rest.test_policies.BROKEN", ["a.yaml"])
    found = decide("export", "orders")
    assert found["note"] == "Policies may be missing or old, because files are broken: a.yaml"
    # The policies that are right still count.
    assert violated(found) == ["no-copy-abroad"]


def test_a_warning_does_not_refuse(decide: Decide) -> None:
    found = decide("export", "orders")
    assert (found["allowed"], found["enforce"]) == (True, "warn")
    assert found["violations"][0]["message"] == "orders stays here"


def test_what_is_unknown_is_refused_where_a_policy_blocks(decide: Decide) -> None:
    found = decide("drop", "nowhere")
    assert (found["allowed"], found["reason"], found["known"]) == (False, "unknown", False)
    reasons = {one["policy"]: one["unknown"] for one in found["violations"]}
    assert "consumers.active" in reasons["no-drop"]
    # No policy concerns a read.
    assert decide("read", "nowhere")["allowed"] is True
    # A first write must be possible: what is unknown is said, and does not refuse.
    first = decide("write", "new")
    assert (first["allowed"], violated(first)) == (True, ["described-before-write"])


def test_inference_needs_fresh_sources(decide: Decide) -> None:
    assert decide("inference", "mart")["reason"] in (None, "unknown")


def test_a_model_waits_until_its_source_is_fresh(decide: Decide, database: Database) -> None:
    """The case of raw_customers: not updated in 24 hours, so no inference, and the team learns."""

    def loaded(run: str, hours: float) -> Event:
        ended = datetime.now(UTC) - timedelta(hours=hours)
        event = run_event(run, job="ingest", outputs=[dataset("raw_customers")])
        return {**event, "eventTime": ended.isoformat()}

    owners = {"ownership": {"owners": [{"name": "team:churn"}]}}
    model = dataset("churn-model", {"datasetType": {"datasetType": "MODEL"}, **owners})
    trained = run_event("t9", job="train", inputs=["raw_customers"], outputs=[model])
    write_events(database, [loaded("i1", 26), at_now(trained)])
    found = decide("inference", "churn-model", actor="scoring")
    assert (found["allowed"], found["enforce"], found["reason"]) == (False, "block", None)
    [late] = found["violations"]
    assert (late["policy"], late["severity"]) == ("fresh", "P1")
    assert late["message"] == (
        f"A source of churn-model is too old; its sources are {ds('raw_customers')}"
    )
    assert late["owners"] == ["team:churn"]
    write_events(database, [loaded("i2", 1)])
    found = decide("inference", "churn-model")
    assert (found["allowed"], found["violations"]) == (True, [])


def test_a_hidden_dataset_is_as_unknown_as_one_that_does_not_exist(decide: Decide) -> None:
    hidden = decide("drop", "orders", sees="other")
    missing = decide("drop", "nowhere", sees="other")
    assert (hidden["known"], hidden["consumers"]) == (False, [])
    del hidden["took"], missing["took"]
    assert str(hidden).replace("orders", "nowhere") == str(missing)


def test_a_hidden_consumer_counts_and_has_no_name(decide: Decide) -> None:
    found = decide("drop", "staging", sees="db,etl")
    assert found["allowed"] is False
    assert len(found["consumers"]) == 1
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"action": "drop"},
        {"action": "eat", "urn": "dataset:db:orders"},
        {"action": "drop", "urn": "nothing"},
        {"action": "drop", "urn": "run:x"},
        {"action": "drop", "urn": 7},
        {"action": "drop", "dataset": {"namespace": "db"}},
        {"action": "drop", "dataset": {"namespace": "", "name": ""}},
        {"action": "drop", "dataset": {"namespace": "db", "name": None}},
        {"action": "drop", "urn": "dataset:db:a", "dataset": {"namespace": "db", "name": "a"}},
        {"action": "drop", "urn": "dataset:db:a", "jobUrn": "dataset:db:a"},
        {"action": "drop", "urn": "dataset:db:a", "columns": [None]},
        {"action": None, "urn": "dataset:db:a"},
        [],
        None,
    ],
)
def test_a_malformed_request_is_400(client: TestClient, body: Any) -> None:
    answer = client.post("/policy/decisions", json=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("name", ["a" * 4_000, "'; DROP", "\u202e", "x\x00y", "日本"])
def test_hostile_names_are_only_names(decide: Decide, name: str) -> None:
    assert decide("drop", name)["known"] is False
