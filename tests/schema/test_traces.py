"""Trace ids of headers and facets: valid ones only, in every accepted spelling."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from headwater.schema.traces import (
    baggage_datasets,
    header_traceparent,
    trace_id_of,
    trace_ids_in,
    valid_trace_id,
)

TRACE, OTHER = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


def ids(**facets: Any) -> set[str]:
    return trace_ids_in({key: msgspec.Raw(msgspec.json.encode(one)) for key, one in facets.items()})


@pytest.mark.parametrize("text", [PARENT, f" {PARENT}\t", f"cc-{TRACE}-{SPAN}-01-later-part"])
def test_a_valid_traceparent(text: str) -> None:
    assert trace_id_of(text) == TRACE


@pytest.mark.parametrize(
    "text",
    [
        "",
        TRACE,
        PARENT.upper(),
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"{PARENT}-more",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"{PARENT}\n",
        "0" * 10_000,
        f"cc-{TRACE}-{SPAN}-01-{'x' * 10_000}",
        "00-٤bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ],
)
def test_a_malformed_traceparent(text: str) -> None:
    assert trace_id_of(text) is None
    assert header_traceparent([text]) is None


def test_two_headers_are_as_good_as_none() -> None:
    assert header_traceparent([PARENT]) == PARENT
    assert header_traceparent([]) is None
    assert header_traceparent([PARENT, PARENT]) is None


def test_a_trace_id_may_be_in_upper_case() -> None:
    assert valid_trace_id(TRACE.upper()) == TRACE
    assert valid_trace_id("0" * 32) is None
    assert valid_trace_id(TRACE + "0") is None


@pytest.mark.parametrize(
    "facet",
    [
        {"traceparent": PARENT},
        {"traceParent": PARENT},
        {"traceId": TRACE, "spanId": SPAN},
        {"trace_id": TRACE.upper()},
        {"otelTraceID": TRACE},
        {"properties": {"spark.headwater.traceparent": PARENT}},
        {"properties": {"spark.openlineage.traceId": TRACE}},
        {"environmentVariables": [{"name": "TRACEPARENT", "value": PARENT}]},
        {"tags": [{"key": "trace.id", "value": TRACE}]},
        {"a": [{"b": {"c": {"trace-id": TRACE}}}]},
    ],
)
def test_the_spellings_of_facets(facet: dict[str, Any]) -> None:
    assert ids(one=facet) == {TRACE}


@pytest.mark.parametrize(
    "facet",
    [
        None,
        [],
        7,
        {"traceparent": None},
        {"traceparent": 7},
        {"traceparent": TRACE},
        {"traceId": "00f067aa0ba902b7"},
        {"stackTrace": TRACE},
        {"name": "TRACEPARENT"},
        {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"traceId": TRACE}}}}}}}},
        {"traceId": TRACE, "plan": "x" * 40_000},
    ],
)
def test_facets_that_name_no_trace(facet: Any) -> None:
    assert ids(one=facet) == set()


def test_facets_add_up_and_malformed_ones_are_skipped() -> None:
    assert ids(a={"traceId": TRACE}, b={"traceId": OTHER}, c={"traceId": 1}) == {TRACE, OTHER}
    assert trace_ids_in(None) == set()
    assert trace_ids_in({"a": msgspec.Raw(b'{"traceId": ')}) == set()
    deep = b"[" * 20_000 + b'"traceId"' + b"]" * 20_000
    assert trace_ids_in({"a": msgspec.Raw(deep[:30_000])}) == set()


def test_datasets_of_baggage() -> None:
    header = "user=ann, dataset.urn=dataset%3Adb%3Aorders;ttl=1, dataset.id = orders ,dataset.id="
    assert baggage_datasets([header]) == ["dataset:db:orders", "orders"]
    assert baggage_datasets(["dataset.id=b", "dataset.id=a,dataset.id=a"]) == ["a", "b"]
    assert baggage_datasets([",".join(f"dataset.id=d{n:02}" for n in range(99))]) == [
        f"d{n:02}" for n in range(20)
    ]
    assert baggage_datasets(["dataset.id=" + "x" * 501]) == []
    assert baggage_datasets(["dataset.id=a," * 1_000]) == []
