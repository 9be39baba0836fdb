"""Projections of answers, computed by hand."""

from __future__ import annotations

import json

from headwater.schema.headwater_facets import answer_event
from tests.ingest.project.projections import (
    answer,
    at,
    moment,
)


def test_a_cited_answer_and_a_deleted_one_are_equal() -> None:
    cited = answer({**answer_event("b", cites=[{"answerId": "a"}], event_time=at(1))})
    sent = answer_event(
        "a", cites=[{"namespace": "db", "name": "t"}], content="42", event_time=at(1)
    )
    deleted = json.loads(json.dumps(sent))
    deleted["eventTime"] = at(2)
    deleted["dataset"]["facets"]["headwater_answer"]["_deleted"] = True
    view = answer(sent, deleted)
    assert view.citations == []
    assert {k: v for k, v in view.node.items() if k != "facts"} == {
        k: v for k, v in cited.node.items() if k != "facts"
    }
    assert view.node.keys() == answer(sent).node.keys(), (
        "every property is set, so an update removes each old value"
    )
    assert view.node["content"] is view.node["generatedAt"] is view.node["name"] is None


def test_the_address_and_the_owners_of_an_answer() -> None:
    sent = answer_event(
        "a", cites=[], url="https://bi.example.com/a", owners=["team:insight"], event_time=at(1)
    )
    node = answer(sent).node
    assert (node["url"], node["owners"]) == ("https://bi.example.com/a", ["team:insight"])


def test_an_answer_without_a_time_has_the_time_of_its_event() -> None:
    sent = answer_event("a", cites=[], event_time=at(3))
    del sent["dataset"]["facets"]["headwater_answer"]["generatedAt"]
    assert answer(sent).node["generatedAt"] == moment(3)
