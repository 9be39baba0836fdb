"""A key that sees one namespace learns of no hidden node by policies, decisions or contracts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headwater.access.principal import Principal, Scope
from headwater.cypher.driver.database import Database
from headwater.governance.contracts.compile import compile_contract, contract_event
from headwater.governance.contracts.names import NamedDataset
from headwater.governance.contracts.standard import read_document
from headwater.governance.policies.decisions import DecisionRequest, decide
from headwater.governance.policies.models import SUBJECTS_OF_ACTION, Change
from headwater.governance.policies.store import PolicyStore
from headwater.graphql.context import Context, Installation
from headwater.graphql.schema import create_schema
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.urns import dataset_urn, job_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, schema
from tests.run_builders import FACET, Event, at, ds, job, write_events

pytestmark = pytest.mark.neo4j
# Each hidden thing has this word in its name, its owner, its tag or its description.
SECRET = "vault"
POLICIES = """
policies:
- {name: owned, rule: required-owners, severity: P1}
- {name: described, rule: required-description}
- {name: kept, rule: no-delete-with-consumers}
- {name: reach, rule: approval-for-blast-radius, with: {over: 1}}
- {name: inputs, rule: certified-inputs}
- {name: sources, rule: no-deprecated-sources}
- {name: prefer, rule: prefer-certified}
- {name: masked, rule: masked-personal-data}
- {name: fresh, rule: fresh-before-inference}
- {name: flows, rule: allowed-flows, with: {from: ['vault*'], to: ['vault*']}}
- name: everything
  on: [dataset, job, answer]
  condition: size(upstream.inputs) + size(consumers.activeUrns) + downstream.nodes >= 0
  message: "{upstream.inputs} {upstream.sources} {upstream.datasets} {consumers.jobs} {consumers.activeUrns}"
"""
QUESTIONS = """{
  policyViolations(includeUnknown: true, first: 100) { totalCount nodes {
    policy urn message unknown evidence owners notify } }
  competingDatasets(first: 100) { totalCount nodes { sources datasets { urn } } }
  contracts(first: 100) { totalCount nodes { contractId dataset { urn } clauses { clause actual } } }
  contractViolations(first: 100) { totalCount nodes {
    contractId clause actual run { runId } job { urn } consumers { urn } } }
}"""


def named(name: str, **types: str) -> Event:
    return dataset(f"{SECRET}-{name}", schema(**types), namespace=SECRET)


def job_in_vault(event: Event) -> Event:
    event["job"]["namespace"] = SECRET
    return event


def contract(name: str, namespace: str) -> Event:
    content = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": f"about-{name}",
        "version": "1.0.0",
        "status": "active",
        "contractCreatedTs": at(0),
        "schema": [{"name": name, "properties": [{"name": "gone", "logicalType": "string"}]}],
    }
    document = read_document(json.dumps(content))
    compiled = compile_contract(document, name)
    return contract_event(NamedDataset(namespace, name, name), compiled, at(1))


def events() -> list[Event]:
    """Return vault-raw -> orders -> vault-mart, beside raw -> orders -> mart in the open."""
    facets = {
        "ownership": {**FACET, "owners": [{"name": f"{SECRET}-owner"}]},
        "tags": {**FACET, "tags": [{"key": "certified", "value": "true"}]},
        "documentation": {**FACET, "description": f"{SECRET} of the bank"},
    }
    columns = {"id": "int", "mail": "string"}
    return [
        dataset_event(f"{SECRET}-mart", 1, facets, namespace=SECRET),
        run_event("r1", minute=2, job="load", inputs=["raw", named("raw", **columns)],
                  outputs=[dataset("orders", schema(**columns))]),
        job_in_vault(run_event(f"{SECRET}-run", minute=3, job=f"{SECRET}-job", inputs=["orders"],
                               outputs=[named("mart", **columns)])),
        run_event("r3", minute=4, job="build", inputs=["orders"],
                  outputs=[dataset("mart", schema(**columns))]),
        run_event("r4", minute=5, job="report", inputs=[named("mart")], outputs=["sums"]),
        native.approval_event(
            SECRET, f"{SECRET}-mart", policy="reach", reason=SECRET, by=f"{SECRET}-steward"
        ),
        native.answer_event(
            f"{SECRET}-answer",
            cites=[{"namespace": SECRET, "name": f"{SECRET}-mart", "runId": f"{SECRET}-run"}],
        ),
        contract(f"{SECRET}-mart", SECRET),
        contract("orders", "db"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def estate(database: Database) -> Iterator[GraphView]:
    empty(database)
    write_events(database, events())
    yield GraphView(database)
    empty(database)


@pytest.fixture
def policies(tmp_path: Path) -> PolicyStore:
    (tmp_path / "all.yaml").write_text(POLICIES)
    return PolicyStore(tmp_path)


def answered(view: GraphView, policies: PolicyStore, *namespaces: str) -> dict[str, Any]:
    """Return what a key that sees these namespaces reads."""
    reader = Principal("reader", frozenset({Scope.READ}), Visibility(namespaces))
    context = Context(
        view, _submit, reader, lambda *_: None, installation=Installation(policies=policies)
    )
    with asyncio.Runner() as runner:
        schema = create_schema(1_000_000)
        result = runner.run(schema.execute(QUESTIONS, context_value=context))
    assert result.errors is None, result.errors
    data: dict[str, Any] = json.loads(json.dumps(result.data, default=str))
    return data


async def _submit(*_: object) -> None:
    raise AssertionError("questions send no events")


def test_no_list_names_a_hidden_node(estate: GraphView, policies: PolicyStore) -> None:
    whole = answered(estate, policies, "*")
    assert SECRET in json.dumps(whole["policyViolations"])
    assert SECRET in json.dumps(whole["contractViolations"])
    seen = answered(estate, policies, "db", "etl")
    leaks = [one for one in seen["policyViolations"]["nodes"] if SECRET in json.dumps(one)]
    assert leaks == []
    assert SECRET not in json.dumps(seen)
    assert ds("orders") in json.dumps(seen["policyViolations"])
    assert {one["contractId"] for one in seen["contracts"]["nodes"]} == {"about-orders"}
    for name, page in seen.items():
        assert page["totalCount"] == len(page["nodes"]), name
    nothing = answered(estate, policies, "no")
    assert [page["totalCount"] for page in nothing.values()] == [0, 0, 0, 0]


def decision(view: GraphView, policies: PolicyStore, urn: str, change: Change) -> str:
    request = DecisionRequest(urn, change, datetime(2026, 1, 2, tzinfo=UTC))
    found = decide(view, policies.read().policies, request)
    return msgspec.json.encode(found, enc_hook=str).decode()


@pytest.mark.parametrize("action", SUBJECTS_OF_ACTION)
def test_no_decision_names_a_hidden_node(
    estate: GraphView, policies: PolicyStore, action: str
) -> None:
    view = estate.visible_to(Visibility(("db", "etl")))
    hidden_job = job_urn(SECRET, f"{SECRET}-job")
    for urn in (ds("orders"), ds("mart"), ds("sums"), job("load"), job("report")):
        assert SECRET not in decision(view, policies, urn, Change(action))
    # The name of the job is the caller's own; what it reads is not.
    found = json.loads(decision(view, policies, ds("mart"), Change(action, job=hidden_job)))
    for violation in found["violations"]:
        violation["evidence"].pop("change.job", None)
    assert SECRET not in json.dumps(found)


@pytest.mark.parametrize("action", SUBJECTS_OF_ACTION)
def test_a_hidden_node_is_answered_as_one_that_does_not_exist(
    estate: GraphView, policies: PolicyStore, action: str
) -> None:
    view = estate.visible_to(Visibility(("db", "etl")))
    answers = [
        decision(view, policies, dataset_urn(SECRET, name), Change(action))
        for name in (f"{SECRET}-mart", f"{SECRET}-none")
    ]
    assert answers[0].replace("-mart", "-none") == answers[1]
