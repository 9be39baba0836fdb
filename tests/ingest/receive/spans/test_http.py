"""Spans that the exporter of OpenTelemetry's own SDK sends to a real server with a real spool."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import SpanKind, format_trace_id

from headwater.ingest.receive.spans.http import BYTES_MAX
from tests.ingest.conftest import Api, api

__all__ = ["api"]

Event = dict[str, Any]
KAFKA = {
    "messaging.system": "kafka",
    "messaging.destination.name": "orders",
    "messaging.operation.type": "send",
    "server.address": "broker",
}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def events(api: Api, after: int) -> list[Event]:
    return [json.loads(body) for body in api.stored(after)]


def span(service: str | None = "checkout", **fields: Any) -> Event:
    """Return an export request of one span, as JSON."""
    attributes = fields.pop("attributes", {"dataset.urn": "dataset:db:orders"})
    name = [] if service is None else [{"key": "service.name", "value": {"stringValue": service}}]
    one = {
        "traceId": TRACE,
        "kind": 3,
        "startTimeUnixNano": "1767225600000000000",
        "endTimeUnixNano": "1767225601000000000",
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
        **fields,
    }
    return {"resourceSpans": [{"resource": {"attributes": name}, "scopeSpans": [{"spans": [one]}]}]}


def post(api: Api, request: object) -> tuple[int, Any]:
    answer = api.post(json.dumps(request).encode(), "/v1/traces")
    return answer.status, answer.body


@pytest.mark.parametrize("compression", [Compression.Gzip, Compression.NoCompression])
def test_spans_of_the_real_exporter(api: Api, compression: Compression) -> None:
    before = api.last()
    name = f"checkout-{compression.value}"
    resource = Resource.create({"service.name": name, "service.namespace": "shop"})
    provider = TracerProvider(resource=resource)
    endpoint = f"{api.url}/v1/traces"
    exporter = OTLPSpanExporter(endpoint=endpoint, compression=compression, timeout=60)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    attributes: Mapping[str, str] = {
        "db.system.name": "postgresql",
        "db.namespace": "shop",
        "db.collection.name": "carts",
        "db.operation.name": "SELECT",
        "server.address": "pg",
    }
    with tracer.start_as_current_span("POST /orders", kind=SpanKind.SERVER) as root:
        with tracer.start_as_current_span(
            "SELECT carts", kind=SpanKind.CLIENT, attributes=attributes
        ):
            pass
        with tracer.start_as_current_span("send orders", kind=SpanKind.PRODUCER, attributes=KAFKA):
            pass
    provider.shutdown()
    read, written = events(api, before)
    assert read["job"]["namespace"] == "service://shop"
    assert read["job"]["name"] == name
    assert read["job"]["facets"]["jobType"]["jobType"] == "SERVICE"
    carts = {"namespace": "postgres://pg:5432", "name": "shop.public.carts"}
    assert (read["inputs"], read["outputs"]) == ([carts], [])
    assert written["inputs"] == []
    assert written["outputs"] == [{"namespace": "kafka://broker:9092", "name": "orders"}]
    assert written["run"]["runId"] == read["run"]["runId"]
    [trace] = read["run"]["facets"]["headwater_trace"]["traces"]
    assert trace == {"traceId": format_trace_id(root.get_span_context().trace_id)}


def test_a_thousand_spans_are_few_events(api: Api) -> None:
    before = api.last()
    for _ in range(3):
        many = span("busy")
        [spans] = many["resourceSpans"][0]["scopeSpans"]
        spans["spans"] = [
            {**spans["spans"][0], "traceId": f"{number:032x}"} for number in range(1, 1_001)
        ]
        assert post(api, many) == (200, {})
    [event] = events(api, before)
    traces = event["run"]["facets"]["headwater_trace"]["traces"]
    assert [one["traceId"] for one in traces] == [f"{number:032x}" for number in range(1, 21)]


def test_spans_without_a_dataset_are_accepted_and_not_stored(api: Api) -> None:
    before = api.last()
    assert post(api, span("idle", attributes={"http.route": "/"})) == (200, {})
    assert post(api, {}) == (200, {})
    assert api.last() == before


@pytest.mark.parametrize(
    "request_body",
    [
        span(None),
        span(" "),
        span("x" * 501),
        span("s", startTimeUnixNano="0"),
        span("s", endTimeUnixNano="1"),
        span("s", endTimeUnixNano="9" * 30),
    ],
)
def test_malformed_spans_are_counted_as_rejected(api: Api, request_body: Event) -> None:
    before = api.last()
    status, answer = post(api, request_body)
    assert status == 200
    assert answer["partialSuccess"]["rejectedSpans"] == "1"
    assert api.last() == before


@pytest.mark.parametrize(
    "request_body",
    [[], None, "x", 7, {"resourceSpans": 7}, span("s", startTimeUnixNano="x"), span("s", kind=[])],
)
def test_a_malformed_request_is_400(api: Api, request_body: object) -> None:
    before = api.last()
    assert post(api, request_body)[0] == 400
    assert api.last() == before


def test_hostile_bodies(api: Api) -> None:
    def status(body: bytes, type: str, **headers: str) -> int:
        return api.post(body, "/v1/traces", Content_Type=type, **headers).status

    assert status(b"\xff" * 100, "application/x-protobuf") == 400
    assert status(b"{}", "text/plain") == 415
    assert status(b"{}", "application/json", Content_Encoding="br") == 415
    bomb = gzip.compress(b" " * (BYTES_MAX + 1))
    assert status(bomb, "application/json", Content_Encoding="gzip") == 413
    assert status(b"[" * 100_000, "application/json") == 400
    request = span("hostile", attributes={"dataset.urn": "dataset:a", "dataset.name": "x"})
    assert post(api, request) == (200, {})
    spans = [{"traceId": "x"}] * 50_001
    many = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    assert status(msgspec.json.encode(many), "application/json") == 413
