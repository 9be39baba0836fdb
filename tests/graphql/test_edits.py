"""Edits by mutation: what they change, who may make them, and their history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.access.events import authorize_event
from headwater.access.keys import Keys
from headwater.access.principal import Principal, Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.graphql.transport.http import graphql_routes
from headwater.graphql.transport.websocket import Callers
from headwater.lineage.view import GraphView
from headwater.schema.naming import load_naming
from tests.event_builders import dataset, dataset_event, run_event, schema, symlinks
from tests.guards import guard_of
from tests.run_builders import write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]
ORDERS, LOAD = "dataset:db:orders", "job:etl:load"
STORY = """query ($dataset: ID!, $job: ID!) {
  dataset(urn: $dataset) { description owners tags deprecation { reason until replacementUrn }
    edits { by kind column before after } }
  job(urn: $job) { description owners tags edits { by kind before after } } }"""
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AccessStore]:
    store = AccessStore(tmp_path / "access.db")
    yield store
    store.close()


@pytest.fixture
def ask_as(database: Database, store: AccessStore) -> Iterator[Callable[..., Ask]]:
    """Return a function that returns the `ask` of a new key."""
    guard = guard_of(store, required=True)

    async def submit(principal: Principal, events: list[dict[str, Any]]) -> None:
        for event in events:
            authorize_event(principal, msgspec.json.encode(event), load_naming())
        await anyio.to_thread.run_sync(write_events, database, events)

    routes = graphql_routes(GraphView(database), submit, callers=Callers(guard.admit_socket))
    with TestClient(Starlette(routes=guard.routes(routes))) as client:

        def create(name: str, *scopes: Scope, namespaces: tuple[str, ...] = ("*",)) -> Ask:
            key, _ = Keys(store).create(name, scopes, namespaces=namespaces)

            def ask(query: str, **variables: Any) -> dict[str, Any]:
                body = {"query": query, "variables": variables}
                answer = client.post(
                    "/graphql", json=body, headers={"authorization": f"Bearer {key}"}
                )
                found: dict[str, Any] = answer.json()
                return found

            return ask

        yield create


@pytest.fixture
def ann(ask_as: Callable[..., Ask]) -> Ask:
    return ask_as("ann", Scope.READ, Scope.STEWARD)


@pytest.fixture(autouse=True)
def history(database: Database, clean_graph: None) -> None:
    del clean_graph
    facets = {
        "documentation": {"description": "By dbt."},
        "ownership": {"owners": [{"name": "team:load"}]},
    }
    outputs = [dataset("orders", {**schema(id="int", mail="string"), **facets})]
    event = run_event("r1", "COMPLETE", 1, job="load", outputs=outputs)
    other = run_event("r2", "COMPLETE", 2, job="other", outputs=[dataset("orders2")])
    write_events(database, [event, other])


def edit(ask: Ask, call: str, **variables: Any) -> str:
    """Send an edit; return its id."""
    answer = ask(f"mutation {{ edit: {call} {{ urn editId accepted }} }}", **variables)
    assert "errors" not in answer, answer
    assert answer["data"]["edit"]["accepted"] is True
    return str(answer["data"]["edit"]["editId"])


def story(ask: Ask) -> dict[str, Any]:
    found: dict[str, Any] = ask(STORY, dataset=ORDERS, job=LOAD)["data"]
    return found


def test_a_steward_edits_a_dataset_and_the_history_says_who(ann: Ask) -> None:
    edit(ann, f'editDescription(urn: "{ORDERS}", description: "One row for each order.")')
    edit(ann, f'editOwners(urn: "{ORDERS}", add: ["ann"], remove: ["team:load"])')
    edit(ann, f'editTags(urn: "{ORDERS}", add: ["tier=1"])')
    edit(ann, 'editTags(urn: "column:db:orders:mail", add: ["pii=email"])')
    edit(ann, f'certify(urn: "{ORDERS}")')
    found = story(ann)["dataset"]
    assert found["description"] == "One row for each order."
    assert found["owners"] == ["ann"]
    assert found["tags"] == ["certified", "mail:pii=email", "tier=1"]
    shown = [
        (one["by"], one["kind"], one["column"], one["before"], one["after"])
        for one in found["edits"]
    ]
    assert shown == [
        ("ann", "TAG", None, None, "certified"),
        ("ann", "TAG", "mail", None, "pii=email"),
        ("ann", "TAG", None, None, "tier=1"),
        ("ann", "OWNER", None, "team:load", None),
        ("ann", "OWNER", None, None, "ann"),
        ("ann", "DESCRIPTION", None, "By dbt.", "One row for each order."),
    ]


def test_an_edit_is_found_by_its_id(ann: Ask) -> None:
    id = edit(ann, f'editOwners(urn: "{LOAD}", add: ["bob", "eve"])')
    answer = ann(f'{{ job(urn: "{LOAD}") {{ owners edits {{ id at after }} }} }}')
    assert answer["data"]["job"]["owners"] == ["bob", "eve"]
    assert {one["id"] for one in answer["data"]["job"]["edits"]} == {id}


def test_withdrawn_edits_let_the_producer_decide(ann: Ask) -> None:
    edit(ann, f'editDescription(urn: "{ORDERS}", description: "Mine.")')
    edit(ann, f'editDescription(urn: "{ORDERS}", description: null)')
    edit(ann, f'certify(urn: "{ORDERS}")')
    edit(ann, f'certify(urn: "{ORDERS}", certified: false)')
    found = story(ann)["dataset"]
    assert (found["description"], found["tags"]) == ("By dbt.", [])
    assert [(one["before"], one["after"]) for one in found["edits"]] == [
        ("certified", None),
        (None, "certified"),
        ("Mine.", None),
        ("By dbt.", "Mine."),
    ]


def test_a_producer_does_not_undo_an_edit(ann: Ask, database: Database) -> None:
    edit(ann, f'editDescription(urn: "{LOAD}", description: "Loads orders.")')
    later = run_event("r9", "COMPLETE", 9, job="load")
    later["eventTime"] = "2030-01-01T00:00:00Z"
    later["job"]["facets"] = {"documentation": {"description": "By the producer."}}
    write_events(database, [later])
    assert story(ann)["job"]["description"] == "Loads orders."


def test_a_deprecation_has_a_reason_a_replacement_and_a_date(ann: Ask) -> None:
    edit(
        ann,
        f'deprecate(urn: "{ORDERS}", reason: "Twice the rows.", '
        'replacement: "dataset:db:orders2", until: "2026-12-31")',
    )
    found = story(ann)["dataset"]
    assert found["tags"] == ["deprecated"]
    assert found["deprecation"] == {
        "reason": "Twice the rows.",
        "until": "2026-12-31",
        "replacementUrn": "dataset:db:orders2",
    }
    edit(ann, f'deprecate(urn: "{ORDERS}", reason: null)')
    found = story(ann)["dataset"]
    assert (found["tags"], found["deprecation"]) == ([], None)
    kinds = [(one["kind"], one["before"], one["after"]) for one in found["edits"]]
    assert kinds == [
        ("TAG", "deprecated", None),
        ("DEPRECATION", "Twice the rows.", None),
        ("TAG", None, "deprecated"),
        ("DEPRECATION", None, "Twice the rows."),
    ]


APPROVED = f'{{ dataset(urn: "{ORDERS}") {{ approvals {{ policy reason by until active }} }} }}'


def test_an_approval_is_shown_with_who_gave_it_until_it_is_withdrawn(ann: Ask) -> None:
    edit(ann, f'approve(urn: "{ORDERS}", policy: "gate", reason: "Agreed.", until: "2020-01-31")')
    edit(ann, f'approve(urn: "{ORDERS}", policy: "retention", reason: "Audit.")')
    assert ann(APPROVED)["data"]["dataset"]["approvals"] == [
        {
            "policy": "gate",
            "reason": "Agreed.",
            "by": "ann",
            "until": "2020-01-31",
            "active": False,
        },
        {"policy": "retention", "reason": "Audit.", "by": "ann", "until": None, "active": True},
    ]
    edit(ann, f'withdrawApproval(urn: "{ORDERS}", policy: "gate")')
    (left,) = ann(APPROVED)["data"]["dataset"]["approvals"]
    assert left["policy"] == "retention"
    assert [
        (one["by"], one["kind"], one["before"], one["after"])
        for one in story(ann)["dataset"]["edits"]
    ] == [
        ("ann", "APPROVAL", "gate: Agreed.", None),
        ("ann", "APPROVAL", None, "retention: Audit."),
        ("ann", "APPROVAL", None, "gate: Agreed."),
    ]


def test_names_are_joined_and_split(ann: Ask, database: Database) -> None:
    aliases = f'{{ dataset(urn: "{ORDERS}") {{ urn aliases {{ name }} edits {{ kind after }} }} }}'
    other = '"dataset:db:orders2"'
    edit(ann, f'joinAliases(urn: "{ORDERS}", other: {other})')
    found = ann(aliases)["data"]["dataset"]
    assert [alias["name"] for alias in found["aliases"]] == ["orders2"]
    assert found["edits"] == [{"kind": "ALIAS", "after": "db orders2"}]
    edit(ann, f'splitAliases(urn: "{ORDERS}", other: {other})')
    assert ann(aliases)["data"]["dataset"]["aliases"] == []
    # A facet of a producer does not join them again.
    write_events(database, [dataset_event("orders", 50, symlinks("orders2"))])
    assert ann(aliases)["data"]["dataset"]["aliases"] == []


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (f'editDescription(urn: "{ORDERS}", description: " ")', "`description`"),
        (f'editOwners(urn: "{ORDERS}")', "`add` and `remove`"),
        (f'editOwners(urn: "{ORDERS}", add: ["a", ""])', "`add[1]`"),
        (f'editOwners(urn: "{ORDERS}", add: ["a"], remove: ["a"])', "'a'"),
        (f'editTags(urn: "{ORDERS}", add: ["=x"])', "'=x'"),
        ('editTags(urn: "column:db:orders:none", add: ["x"])', "'none'"),
        ('editTags(urn: "run:r1", add: ["x"])', "`urn`"),
        (f'deprecate(urn: "{ORDERS}", reason: "x", until: "soon")', "`until`"),
        (f'deprecate(urn: "{ORDERS}", reason: "x", replacement: "{ORDERS}")', "`replacement`"),
        (f'joinAliases(urn: "{ORDERS}", other: "{ORDERS}")', "`other`"),
        (f'joinAliases(urn: "{ORDERS}", other: "{LOAD}")', "`other`"),
        ('certify(urn: "dataset:db:missing")', "no dataset"),
        (f'approve(urn: "{ORDERS}", policy: " ", reason: "x")', "`policy`"),
        (f'approve(urn: "{ORDERS}", policy: "p", reason: "")', "`reason`"),
        (f'approve(urn: "{ORDERS}", policy: "p", reason: "x", until: "soon")', "`until`"),
        ('approve(urn: "run:r1", policy: "p", reason: "x")', "`urn`"),
    ],
)
def test_wrong_edits_name_the_argument_and_change_nothing(ann: Ask, call: str, named: str) -> None:
    answer = ann(f"mutation {{ {call} {{ editId }} }}")
    assert answer["data"] is None
    assert named in answer["errors"][0]["message"]
    assert story(ann)["dataset"]["edits"] == []


def test_scopes_and_namespaces(ask_as: Callable[..., Ask], ann: Ask) -> None:
    call = f'mutation {{ certify(urn: "{ORDERS}") {{ editId }} }}'
    reader = ask_as("reader", Scope.READ, Scope.INGEST)
    foreign = ask_as("foreign", Scope.READ, Scope.STEWARD, namespaces=("other",))
    assert reader(call)["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert foreign(call)["errors"][0]["extensions"]["code"] == "NOT_FOUND"
    own = ask_as("own", Scope.READ, Scope.STEWARD, namespaces=("db",))
    join = f'mutation {{ joinAliases(urn: "{ORDERS}", other: "dataset:x:y") {{ editId }} }}'
    refused = own(join)["errors"][0]
    assert (refused["extensions"]["code"], "`other`" in refused["message"]) == ("FORBIDDEN", True)
    assert story(ann)["dataset"]["edits"] == []
    assert "errors" not in own(call)


def test_hidden_nodes_stay_hidden_in_edits(ask_as: Callable[..., Ask], ann: Ask) -> None:
    edit(ann, f'deprecate(urn: "{ORDERS}", reason: "Old.", replacement: "{LOAD}")')
    edit(ann, f'splitAliases(urn: "{ORDERS}", other: "dataset:secret:table")')
    assert len(story(ann)["dataset"]["edits"]) == 3
    own = ask_as("own", Scope.READ, namespaces=("db",))
    answer = own(
        f'{{ dataset(urn: "{ORDERS}") {{ deprecation {{ reason replacementUrn }} '
        "edits { kind before after } } }"
    )
    assert "secret" not in str(answer)
    found = answer["data"]["dataset"]
    assert found["deprecation"] == {"reason": "Old.", "replacementUrn": None}
    assert [one["kind"] for one in found["edits"]] == ["TAG", "DEPRECATION"]


def test_a_column_is_declassified_by_an_approval(ann: Ask, ask_as: Callable[..., Ask]) -> None:
    column = "column:db:orders:mail"
    call = f'declassify(urn: "{column}", classification: "E-Mail", reason: %s)'
    edit(ann, call % '"Hashed."')
    approvals = '{ dataset(urn: "dataset:db:orders") { approvals { policy reason by } } }'
    [approval] = ann(approvals)["data"]["dataset"]["approvals"]
    assert approval == {
        "policy": "declassification:email:mail",
        "reason": "Hashed.",
        "by": "ann",
    }
    edit(ann, call % "null")
    assert ann(approvals)["data"]["dataset"]["approvals"] == []
    edit(ann, f'declassify(urn: "{ORDERS}", classification: "pii", reason: "Synthetic.")')
    [approval] = ann(approvals)["data"]["dataset"]["approvals"]
    assert approval["policy"] == "declassification:pii"
    for wrong in (
        call.replace(":mail", ":none") % '"x"',
        call.replace("E-Mail", "a:b") % '"x"',
        call.replace("E-Mail", " ") % '"x"',
        f'declassify(urn: "{LOAD}", classification: "pii", reason: "x")',
    ):
        assert ann(f"mutation {{ {wrong} {{ urn }} }}")["errors"], wrong
    reader = ask_as("eve", Scope.READ)
    given = call % '"x"'
    assert reader(f"mutation {{ {given} {{ urn }} }}")["errors"]
