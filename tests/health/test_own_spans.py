"""Headwater's own spans, as OpenTelemetry's own SDK makes and sends them."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import anyio.to_thread
import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id

from headwater.health.metrics import observe_commit, observe_query
from headwater.health.own_spans import own_spans, start_own_spans, use_provider
from headwater.health.request_timer import RequestTimer
from headwater.ingest.worker import CommitReport
from tests.ingest.conftest import Api, api

__all__ = ["api"]
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = (b"traceparent", f"00-{TRACE}-00f067aa0ba902b7-01".encode())


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    use_provider(provider)
    yield exporter
    use_provider(None)


async def _nothing(*_: Any) -> Any:
    return {"type": "http.request"}


async def asking(scope: Any, _: Any, send: Any) -> None:
    """Answer a request with one statement, which a thread runs."""
    scope["route"] = SimpleNamespace(path="/tea/{kind}")
    await anyio.to_thread.run_sync(observe_query, "read/tea", 0.25)
    await send({"type": "http.response.start", "status": scope.get("status", 200)})


def call(path: str = "/tea/green", *headers: tuple[bytes, bytes], **more: Any) -> None:
    scope = {"type": "http", "method": "GET", "path": path, "headers": list(headers), **more}
    asyncio.run(RequestTimer(asking)(scope, _nothing, _nothing))


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_request_with_its_statement(spans: InMemorySpanExporter) -> None:
    call("/tea/green", PARENT)
    statement, request = spans.get_finished_spans()
    assert (request.name, request.kind) == ("GET /tea/{kind}", SpanKind.SERVER)
    assert attributes(request) == {
        "http.request.method": "GET",
        "http.route": "/tea/{kind}",
        "http.response.status_code": 200,
    }
    assert (statement.name, statement.kind) == ("read/tea", SpanKind.CLIENT)
    assert statement.parent is not None
    assert request.context is not None
    assert statement.parent.span_id == request.context.span_id
    assert (statement.end_time or 0) - (statement.start_time or 0) == 250_000_000
    assert {
        format_trace_id(one.context.trace_id) for one in (statement, request) if one.context
    } == {TRACE}


def test_a_failed_request_of_an_unknown_method(spans: InMemorySpanExporter) -> None:
    call(status=503, method="BREW\n")
    request = spans.get_finished_spans()[-1]
    assert request.name == "_OTHER /tea/{kind}"
    assert request.status.status_code is StatusCode.ERROR


@pytest.mark.parametrize("header", [b"", b"00-zz-zz-01", b"\xff" * 5_000])
def test_a_malformed_parent_begins_a_new_trace(spans: InMemorySpanExporter, header: bytes) -> None:
    call("/tea/green", (b"traceparent", header))
    assert spans.get_finished_spans()[-1].parent is None


def test_what_receives_spans_makes_none(spans: InMemorySpanExporter) -> None:
    for path in ("/v1/traces", "/metrics", "/healthz"):
        call(path)
    # A statement without a request, such as of the lineage cache, has no span either.
    observe_query("read/cache/revision", 0.1)
    assert spans.get_finished_spans() == ()


def test_a_batch(spans: InMemorySpanExporter) -> None:
    observe_commit(CommitReport((1, 2, 3), dead=1, seconds=0.5, committed_at=10.0))
    [batch] = spans.get_finished_spans()
    assert (batch.name, batch.start_time, batch.end_time) == ("fold", 9_500_000_000, 10_000_000_000)
    assert attributes(batch) == {"messaging.batch.message_count": 3, "headwater.events.dead": 1}


def test_they_are_off_without_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", raising=False)
    assert not start_own_spans()
    assert own_spans() is None
    call()


def test_a_wrong_variable_is_logged_and_no_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "soon")
    with caplog.at_level(logging.WARNING):
        assert not start_own_spans()
    assert "own_spans_off" in caplog.text


class Recording(OTLPSpanExporter):
    """The real exporter, with the results of its requests."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint=endpoint, timeout=60)
        self.results: list[SpanExportResult] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        self.results.append(result)
        return result


def test_the_receiver_of_a_second_headwater_takes_them(api: Api) -> None:
    before = api.last()
    exporter = Recording(f"{api.url}/v1/traces")
    provider = TracerProvider(resource=Resource.create({"service.name": "headwater"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    use_provider(provider)
    try:
        call("/tea/green", PARENT)
        observe_commit(CommitReport((1,), dead=0, seconds=0.5, committed_at=time.time()))
    finally:
        use_provider(None)
    assert exporter.results == [SpanExportResult.SUCCESS] * 3
    # They name no dataset, so nothing is stored of them.
    assert api.last() == before


def test_a_collector_that_never_answers_slows_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        exporter = OTLPSpanExporter(
            endpoint=f"http://127.0.0.1:{server.getsockname()[1]}/v1/traces", timeout=1
        )
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(
            BatchSpanProcessor(
                exporter, max_queue_size=64, max_export_batch_size=8, schedule_delay_millis=10
            )
        )
        use_provider(provider)
        try:
            # Far more than the queue holds: if a request waited for the collector, each eighth
            # would take a second.
            for _ in range(1_000):
                call()
        finally:
            use_provider(None)
        server.settimeout(60)
        connection, _ = server.accept()
        connection.close()
    provider.shutdown()
