"""Decode spans: an export request of OTLP/HTTP, as protobuf or as JSON.

Only what lineage needs is kept of a span. Attributes that are neither text, number nor a list of
texts are skipped. Source: https://opentelemetry.io/docs/specs/otlp/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from headwater.errors import EventError

PROTOBUF, JSON = "application/x-protobuf", "application/json"
SPANS_MAX = 50_000
CLIENT, PRODUCER, CONSUMER = 3, 4, 5
_KINDS = {
    "SPAN_KIND_CLIENT": CLIENT,
    "SPAN_KIND_PRODUCER": PRODUCER,
    "SPAN_KIND_CONSUMER": CONSUMER,
}
_TEXTS_MAX = 20
# The end of the message of DecodeError when protobuf could not allocate.
_PROTOBUF_NO_MEMORY = "Arena alloc failed"
Attributes = dict[str, str | list[str]]


class Span(msgspec.Struct, frozen=True):
    """A span of a service: times in nanoseconds since 1970, the trace id in hexadecimal digits."""

    resource: Attributes
    trace_id: str
    kind: int
    start: int
    end: int
    attributes: Attributes


def decode_spans(body: bytes, content_type: str) -> list[Span]:
    """Return the spans of an export request. Raises EventError (400, 413 or 415)."""
    if content_type == JSON:
        spans = _from_json(body)
    elif content_type == PROTOBUF:
        spans = _from_protobuf(body)
    else:
        raise EventError(
            f"Content-Type {content_type[:80]!r} is not supported",
            status=415,
            field="Content-Type",
            hint=f"Send {PROTOBUF} or {JSON}.",
        )
    found: list[Span] = []
    for span in spans:
        if len(found) == SPANS_MAX:
            raise EventError(
                f"the request has more than {SPANS_MAX} spans",
                status=413,
                hint="Export smaller batches.",
            )
        found.append(span)
    return found


def encode_response(content_type: str, rejected: int, message: str) -> bytes:
    """Return the answer to an accepted request, with the number of spans that were not."""
    if content_type == JSON:
        partial = {"rejectedSpans": str(rejected), "errorMessage": message}
        return msgspec.json.encode({"partialSuccess": partial} if rejected else {})
    fields = {"rejected_spans": rejected, "error_message": message}
    answer = _messages().ExportTraceServiceResponse
    response = answer(partial_success=fields) if rejected else answer()
    encoded: bytes = response.SerializeToString()
    return encoded


def _messages() -> Any:
    try:
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
    except ImportError as error:
        raise EventError(
            "this server cannot read protobuf",
            status=415,
            field="Content-Type",
            hint=f"Run `pip install 'headwater[otlp]'` on the server, or send {JSON}.",
        ) from error
    return trace_service_pb2


def _malformed(format: str) -> EventError:
    return EventError(
        f"the body is no ExportTraceServiceRequest in {format}",
        status=400,
        hint="Send OTLP/HTTP: https://opentelemetry.io/docs/specs/otlp/.",
    )


def _from_protobuf(body: bytes) -> Iterator[Span]:
    messages = _messages()
    try:
        request = messages.ExportTraceServiceRequest.FromString(body)
    except MemoryError:
        raise
    except Exception as error:  # protobuf raises DecodeError, or RuntimeError for deep nesting
        if str(error).endswith(_PROTOBUF_NO_MEMORY):
            raise MemoryError("no memory to read spans") from error
        raise _malformed("protobuf") from error
    for group in request.resource_spans:
        resource = _attributes(group.resource.attributes, _protobuf_value)
        for scope in group.scope_spans:
            for span in scope.spans:
                yield Span(
                    resource,
                    span.trace_id.hex(),
                    span.kind,
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    _attributes(span.attributes, _protobuf_value),
                )


def _protobuf_value(value: Any) -> str | list[str] | None:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        text: str = value.string_value
        return text
    if kind == "int_value":
        return str(value.int_value)
    if kind == "array_value":
        return [one.string_value for one in value.array_value.values[:_TEXTS_MAX]]
    return None


class _Value(msgspec.Struct, rename="camel"):
    string_value: str | None = None
    int_value: str | int | None = None
    array_value: dict[str, Any] | None = None


class _Attribute(msgspec.Struct):
    key: str = ""
    value: _Value | None = None


class _Span(msgspec.Struct, rename="camel"):
    trace_id: str = ""
    kind: int | str = 0
    start_time_unix_nano: str | int = 0
    end_time_unix_nano: str | int = 0
    attributes: list[_Attribute] | None = None


class _Scope(msgspec.Struct):
    spans: list[_Span] | None = None


class _Resource(msgspec.Struct):
    attributes: list[_Attribute] | None = None


class _Group(msgspec.Struct, rename="camel"):
    resource: _Resource | None = None
    scope_spans: list[_Scope] | None = None


class _Request(msgspec.Struct, rename="camel"):
    resource_spans: list[_Group] | None = None


def _from_json(body: bytes) -> Iterator[Span]:
    try:
        request = msgspec.json.decode(body, type=_Request)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _malformed("JSON") from error
    for group in request.resource_spans or ():
        attributes = group.resource.attributes if group.resource is not None else None
        resource = _attributes(attributes or (), _json_value)
        for scope in group.scope_spans or ():
            for span in scope.spans or ():
                yield _json_span(span, resource)


def _json_span(span: _Span, resource: Attributes) -> Span:
    kind = _KINDS.get(span.kind, 0) if isinstance(span.kind, str) else span.kind
    try:
        start, end = int(span.start_time_unix_nano), int(span.end_time_unix_nano)
    except ValueError as error:
        raise _malformed("JSON") from error
    attributes = _attributes(span.attributes or (), _json_value)
    return Span(resource, span.trace_id.lower(), kind, start, end, attributes)


def _json_value(value: _Value | None) -> str | list[str] | None:
    if value is None:
        return None
    if value.array_value is not None:
        values = value.array_value.get("values")
        texts = values[:_TEXTS_MAX] if isinstance(values, list) else []
        return [
            one["stringValue"]
            for one in texts
            if isinstance(one, dict) and isinstance(one.get("stringValue"), str)
        ]
    text = value.string_value if value.string_value is not None else value.int_value
    return None if text is None else str(text)


def _attributes(attributes: Iterable[Any], read: Any) -> Attributes:
    found: Attributes = {}
    for one in attributes:
        value = read(one.value)
        if value is not None:
            found[one.key] = value
    return found
