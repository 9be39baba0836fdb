"""Headwater's own spans over OTLP: HTTP requests, the statements of questions, folded batches.

They are off unless OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set; the
other variables of OpenTelemetry apply too. Off, each hook costs one comparison. On, a thread sends
the spans; the queue is bounded, and what a slow or absent collector does not take is dropped.

Spans have names of routes and of catalogued statements, never texts, parameters or addresses.
"""

from __future__ import annotations

import logging
import os
import time
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.types import Scope

from headwater.ingest.worker import CommitReport

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_TIMEOUT = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"
# A request that sends spans makes none: two Headwaters that send to each other would never end.
_QUIET = ("/v1/traces", "/metrics", "/health")
_METHODS = frozenset(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"])
_NANOSECONDS = 1_000_000_000
_EXPORT_SECONDS_MAX = 5

log = logging.getLogger("headwater.spans")
_current: ContextVar[Span | None] = ContextVar("headwater_request_span", default=None)
_spans: OwnSpans | None = None


class OpenRequest(NamedTuple):
    """A request that began, and the token that ends it as the current one."""

    span: Span
    token: Token[Span | None]


class OwnSpans:
    """The spans of one process, for a provider of OpenTelemetry."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._tracer = provider.get_tracer("headwater")
        self._propagator = TraceContextTextMapPropagator()
        self._kinds = SpanKind

    def open_request(self, scope: Scope) -> OpenRequest | None:
        """Begin the span of a request, in the trace of its header `traceparent` if it has one."""
        if scope["path"].startswith(_QUIET):
            return None
        sent = [value for name, value in scope["headers"] if name == b"traceparent"]
        carrier = {"traceparent": sent[0].decode("latin-1")} if len(sent) == 1 else {}
        span = self._tracer.start_span(
            "request", self._propagator.extract(carrier), self._kinds.SERVER
        )
        return OpenRequest(span, _current.set(span))

    def close_request(self, request: OpenRequest, method: str, route: str, status: int) -> None:
        """End the span of a request."""
        from opentelemetry.trace import StatusCode

        method = method if method in _METHODS else "_OTHER"
        span = request.span
        span.update_name(f"{method} {route}")
        span.set_attributes(
            {
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
            }
        )
        if status >= 500:
            span.set_status(StatusCode.ERROR)
        _current.reset(request.token)
        span.end()

    def add_statement(self, name: str, seconds: float) -> None:
        """Add the span of a statement, if a request asked it."""
        from opentelemetry.trace import set_span_in_context

        parent = _current.get()
        if parent is None:
            return
        end = time.time_ns()
        span = self._tracer.start_span(
            name,
            set_span_in_context(parent),
            self._kinds.CLIENT,
            {"db.system.name": "neo4j", "db.query.summary": name},
            start_time=end - int(seconds * _NANOSECONDS),
        )
        span.end(end)

    def add_batch(self, report: CommitReport) -> None:
        """Add the span of a batch that was folded and committed."""
        from opentelemetry.context import Context

        end = int(report.committed_at * _NANOSECONDS)
        counts: dict[str, Any] = {
            "messaging.batch.message_count": len(report.received),
            "headwater.events.dead": report.dead,
        }
        span = self._tracer.start_span(
            "fold",
            Context(),
            self._kinds.CONSUMER,
            counts,
            start_time=end - int(report.seconds * _NANOSECONDS),
        )
        span.end(end)


def own_spans() -> OwnSpans | None:
    """Return the spans of this process; None if they are off."""
    return _spans


def start_own_spans() -> bool:
    """Begin to send spans if the variables of OpenTelemetry name a collector.

    A missing package or a wrong variable is logged: Headwater works without spans.
    """
    is_disabled = os.environ.get("OTEL_SDK_DISABLED", "").casefold() == "true"
    if is_disabled or not any(os.environ.get(name) for name in _ENDPOINTS):
        return False
    try:
        use_provider(_provider())
    except ImportError:
        log.warning("own_spans_off hint=\"pip install 'headwater[otel]'\"")
    except ValueError as error:
        log.warning("own_spans_off error=%s", error)
    return _spans is not None


def use_provider(provider: TracerProvider | None) -> None:
    """Send the spans of this process to a provider; None switches them off."""
    global _spans
    _spans = None if provider is None else OwnSpans(provider)


def _provider() -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = os.environ.get("OTEL_SERVICE_NAME") or (
        "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    )
    resource = Resource.create({} if named else {"service.name": "headwater"})
    provider = TracerProvider(resource=resource)
    seconds = float(os.environ.get(_TIMEOUT) or _EXPORT_SECONDS_MAX)
    exporter = OTLPSpanExporter(timeout=min(seconds, _EXPORT_SECONDS_MAX))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
