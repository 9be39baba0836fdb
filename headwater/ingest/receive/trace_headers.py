"""The headers of distributed tracing: what a request says about the trace it belongs to.

A client inside a trace sends the header `traceparent`, and perhaps `baggage`. The run events of
such a request get the facet `headwater_trace` before they are stored, so that a rebuild finds the
trace again. An event whose own facets name a trace stays unchanged.
"""

from __future__ import annotations

import msgspec
from starlette.datastructures import Headers

from headwater.ingest.receive.run_facets import with_run_facet
from headwater.schema.events import Event
from headwater.schema.headwater_facets import TRACE_FACET
from headwater.schema.traces import baggage_datasets, header_traceparent, trace_ids_in


class RequestTrace(msgspec.Struct, frozen=True):
    """The trace of a request: its `traceparent`, and the datasets that its baggage names."""

    traceparent: str | None
    datasets: list[str]


def request_trace(headers: Headers) -> RequestTrace | None:
    """Return the trace of a request; None if its headers name neither a trace nor a dataset."""
    if "traceparent" not in headers and "baggage" not in headers:
        return None
    traceparent = header_traceparent(headers.getlist("traceparent"))
    datasets = baggage_datasets(headers.getlist("baggage"))
    return RequestTrace(traceparent, datasets) if traceparent or datasets else None


def with_trace(body: bytes, event: Event, trace: RequestTrace) -> bytes:
    """Return a run event with the facet of its request's trace; other events as they are.

    `event` is parsed from the body. A facet of the producer that names a trace wins.
    """
    if event.run is None or TRACE_FACET in (event.run.facets or ()):
        return body
    traceparent = None if trace_ids_in(event.run.facets) else trace.traceparent
    if traceparent is None and not trace.datasets:
        return body
    fields = {"traceparent": traceparent, "datasets": trace.datasets}
    # A body that only a lenient parser reads stays unchanged.
    return with_run_facet(body, TRACE_FACET, fields) or body
