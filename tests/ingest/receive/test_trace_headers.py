"""Headers of tracing on a real server with a real spool: the facet that run events get."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.datastructures import Headers

from headwater.ingest.receive.trace_headers import request_trace, with_trace
from headwater.schema.events import parse
from tests.ingest.conftest import Api

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
AT = "2026-01-01T00:00:00Z"
JOB = {"namespace": "etl", "name": "load"}
Event = dict[str, Any]


def run_event(run_id: str = "r", **run: Any) -> Event:
    return {"eventTime": AT, "eventType": "START", "run": {"runId": run_id, **run}, "job": JOB}


def stored(api: Api, body: Event, **headers: str) -> Event:
    """Post an event; return it as the spool has it."""
    before = api.last()
    assert api.post(json.dumps(body).encode(), **headers).status == 201
    event: Event = json.loads(api.stored(before)[0])
    return event


def test_a_run_event_gets_the_trace_of_its_request(api: Api) -> None:
    event = stored(api, run_event(facets={"other": {"a": 1.50}}), traceparent=PARENT)
    facets = event["run"]["facets"]
    assert facets["headwater_trace"]["traceparent"] == PARENT
    assert facets["other"] == {"a": 1.5}
    assert event | {"run": None} == run_event() | {"run": None}


@pytest.mark.parametrize("run", [{}, {"facets": None}, {"facets": {}}])
def test_a_run_without_facets(api: Api, run: Event) -> None:
    facets = stored(api, run_event(**run), traceparent=PARENT)["run"]["facets"]
    assert list(facets) == ["headwater_trace"]


def test_each_run_event_of_a_batch(api: Api) -> None:
    before = api.last()
    dataset = {"eventTime": AT, "dataset": {"namespace": "db", "name": "orders"}}
    batch = json.dumps([run_event("a"), dataset, run_event("b")]).encode()
    assert api.post(batch, "/api/v1/lineage/batch", traceparent=PARENT).status == 200
    first, second, third = map(json.loads, api.stored(before))
    assert second == dataset
    for event in (first, third):
        assert event["run"]["facets"]["headwater_trace"]["traceparent"] == PARENT


def test_a_facet_of_the_producer_wins(api: Api) -> None:
    own = run_event(facets={"tracing": {"traceId": "0af7651916cd43dd8448eb211c80319c"}})
    assert stored(api, own, traceparent=PARENT) == own
    claimed = run_event(facets={"headwater_trace": {"traceparent": PARENT}})
    assert stored(api, claimed, traceparent=PARENT.replace("4bf9", "4bf8")) == claimed


@pytest.mark.parametrize("header", [PARENT.upper(), f"ff{PARENT[2:]}", "x" * 10_000, TRACE])
def test_a_malformed_header_changes_nothing(api: Api, header: str) -> None:
    assert stored(api, run_event(), traceparent=header) == run_event()


def test_two_headers_change_nothing() -> None:
    raw = [(b"traceparent", PARENT.encode()), (b"traceparent", PARENT.encode())]
    assert request_trace(Headers(raw=raw)) is None
    assert request_trace(Headers({})) is None


def test_datasets_of_baggage_are_in_the_facet(api: Api) -> None:
    event = stored(api, run_event(), baggage="dataset.urn=dataset%3Adb%3Aorders,user=ann")
    facet = event["run"]["facets"]["headwater_trace"]
    assert facet["datasets"] == ["dataset:db:orders"]
    assert "traceparent" not in facet


def test_a_body_that_only_the_lenient_parser_reads_is_stored_as_it_is() -> None:
    body = json.dumps(run_event()).encode().replace(b'"load"', b'"lo\\ud800ad"')
    trace = request_trace(Headers({"traceparent": PARENT}))
    assert trace is not None
    changed = with_trace(body, parse(body, received=0), trace)
    assert parse(changed, received=0).job == parse(body, received=0).job
