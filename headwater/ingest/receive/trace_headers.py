"""The headers of distributed tracing: what a request says about the trace it belongs to.

A client inside a trace sends the header `traceparent`, and perhaps `baggage`. The run events of
such a request get the facet `headwater_trace` before they are stored, so that a rebuild finds the
trace again. An event whose own facets name a trace stays unchanged.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.datastructures import Headers

from headwater.schema.events import Event
from headwater.schema.headwater_facets import PRODUCER, TRACE_FACET
from headwater.schema.traces import baggage_datasets, header_traceparent, trace_ids_in

_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


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
    return _with_run_facet(body, {"traceparent": traceparent, "datasets": trace.datasets})


def _with_run_facet(body: bytes, fields: Mapping[str, Any]) -> bytes:
    """Return the event with the facet; a body that only a lenient parser reads stays unchanged."""
    facet = {
        "_producer": PRODUCER,
        "_schemaURL": f"{PRODUCER}/facets/{TRACE_FACET}.json",
        **{name: value for name, value in fields.items() if value},
    }
    try:
        event = _decoder.decode(body.removeprefix(codecs.BOM_UTF8))
        run = _decoder.decode(event["run"])
        present = bytes(run.get("facets", b"null"))
        facets = _decoder.decode(present) if present != b"null" else {}
        facets[TRACE_FACET] = msgspec.Raw(msgspec.json.encode(facet))
        run["facets"] = msgspec.Raw(msgspec.json.encode(facets))
        event["run"] = msgspec.Raw(msgspec.json.encode(run))
        return msgspec.json.encode(event)
    except (msgspec.MsgspecError, UnicodeError, KeyError, RecursionError):
        return body
