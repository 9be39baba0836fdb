"""Edits of people as facts, computed by hand."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from headwater.ingest.fold.edits import is_edit
from headwater.schema.events import Facets
from headwater.schema.facts import DatasetFacts, Edit, LwwRegister
from tests.ingest.fold.folded_events import AT, FACET, JOB, dataset, delta_of

RAW = msgspec.Raw(b"{}")
ANN = {"by": {"name": "ann"}}


def edits(**content: Any) -> dict[str, Any]:
    return {"headwater_edits": {**FACET, **ANN, **content}}


def tags(**content: Any) -> dict[str, Any]:
    return {"headwater_tags": {**FACET, **content}}


def edited(*facets: dict[str, Any]) -> DatasetFacts:
    return delta_of(*({"dataset": dataset("t", one)} for one in facets)).datasets["dataset:db:t"]


def values(facts: DatasetFacts) -> dict[str, str]:
    return {key: register.value for key, register in facts.edits.items()}


def history(facts: DatasetFacts) -> list[tuple[str, str, str, str]]:
    return sorted((one.key, one.value, one.by, one.before) for one in facts.history)


def test_a_description_is_a_register_and_an_edit() -> None:
    found = edited(edits(description={"value": "By hand.", "before": "By dbt."}))
    assert values(found) == {"description": '"By hand."'}
    assert found.edits["description"].instant == AT
    assert history(found) == [("description", '"By hand."', "ann", "By dbt.")]


@pytest.mark.parametrize("name", ["description", "deprecation"])
def test_a_withdrawn_decision_is_an_empty_register(name: str) -> None:
    found = edited(edits(**{name: {"value": None}}))
    assert values(found) == {name: ""}
    assert history(found) == [(name, "", "ann", "")]


def test_each_owner_is_decided_alone() -> None:
    owners = {"added": [{"name": "bob"}, {"name": " "}], "removed": [{"name": "eve"}]}
    found = edited(edits(owners=owners))
    assert values(found) == {"owner:bob": "added", "owner:eve": "removed"}
    assert [one[0] for one in history(found)] == ["owner:bob", "owner:eve"]


def test_an_approval_is_a_register_of_its_policy_and_names_its_author() -> None:
    given = {"policy": " retention ", "value": {"reason": "Audit.", "until": "2026-12-31"}}
    found = edited(edits(approval=given))
    value = '{"by":"ann","reason":"Audit.","until":"2026-12-31"}'
    assert msgspec.json.decode(found.edits["approval:retention"].value) == msgspec.json.decode(
        value
    )
    assert [one[0] for one in history(found)] == ["approval:retention"]
    withdrawn = edited(edits(approval={"policy": "retention", "value": None}))
    assert values(withdrawn) == {"approval:retention": ""}
    assert values(edited(edits(approval={"policy": " ", "value": {"reason": "x"}}))) == {}


@pytest.mark.parametrize(
    "approval", [None, [], "x", {"policy": 1}, {"value": {}}, {"policy": None}]
)
def test_an_unreadable_approval_is_none(approval: Any) -> None:
    assert values(edited(edits(approval=approval))) == {}


def test_a_tag_that_one_event_adds_and_removes_is_removed() -> None:
    both = tags(added=[{"key": "pii"}, {"key": " "}], removed=[{"key": "pii"}])
    found = edited(both)
    assert {key: one.value for key, one in found.tag_edits.items()} == {'["", "pii"]': "removed"}
    assert history(found) == [
        ('tag:["", "pii"]', "added", "", ""),
        ('tag:["", "pii"]', "removed", "", ""),
    ]


def test_a_tag_of_a_column() -> None:
    found = edited({**tags(added=[{"key": "pii", "field": "email"}]), **edits()})
    assert list(found.tag_edits) == ['["email", "pii"]']
    assert history(found) == [('tag:["email", "pii"]', "added", "ann", "")]


def test_a_deletion_has_its_instant_and_who_did_it() -> None:
    found = edited({"headwater_deletion": FACET, **edits()})
    assert found.deleted == AT
    assert history(found) == [("deletion", "", "ann", "")]


def test_edits_of_a_job() -> None:
    event = {"job": {**JOB, "facets": edits(deprecation={"value": {"reason": "Old."}})}}
    job = delta_of(event).jobs["job:etl:load"]
    value = '{"reason":"Old.","replacementUrn":null,"until":null}'
    assert {key: one.value for key, one in job.edits.items()} == {"deprecation": value}
    assert job.history == {Edit(AT, job.edits["deprecation"].rank, "deprecation", value, "ann", "")}


def test_a_malformed_edit_decides_nothing() -> None:
    found = edited({"headwater_edits": {**FACET, "owners": "bob", "description": 5}})
    assert (found.edits, found.history) == ({}, set())


def test_an_edit_alone_is_no_observation() -> None:
    assert is_edit(Facets(headwater_edits=RAW, headwater_tags=RAW))
    assert not is_edit(Facets(headwater_edits=RAW, schema=RAW))
    assert not is_edit(Facets())
    assert not is_edit(None)


def test_the_order_of_events_does_not_matter() -> None:
    events = [
        {"eventTime": f"2026-01-01T12:0{n}:00Z", "dataset": dataset("t", facets)}
        for n, facets in enumerate(
            [
                edits(description={"value": "One."}),
                edits(description={"value": "Two."}, owners={"added": [{"name": "bob"}]}),
                edits(owners={"removed": [{"name": "bob"}]}),
                tags(added=[{"key": "pii"}]),
            ]
        )
    ]
    expected = delta_of(*events).datasets["dataset:db:t"]
    assert values(expected) == {"description": '"Two."', "owner:bob": "removed"}
    assert len(expected.history) == 5
    for seed in range(5):
        shuffled = [*events, events[seed % 4]]
        random.Random(seed).shuffle(shuffled)
        found = delta_of(*shuffled).datasets["dataset:db:t"]
        assert (found.edits, found.tag_edits, found.history) == (
            expected.edits,
            expected.tag_edits,
            expected.history,
        )


def test_the_definition_of_a_tag() -> None:
    facets = {"headwater_tag": {**FACET, "description": "About a person."}}
    event = {"dataset": {"namespace": "tags", "name": "pii", "facets": facets}}
    [(urn, tag)] = delta_of(event).tags.items()
    assert urn.endswith("pii")
    assert isinstance(tag.definition, LwwRegister)
    assert '"description":"About a person."' in tag.definition.value
