"""Spans over HTTP: `POST /v1/traces`, as exporters of OpenTelemetry send them.

An accepted request is answered with 200 and an ExportTraceServiceResponse once the events made of
it are synced to disk. Its partial success counts the spans that were rejected: those of a service
without a name, and those whose events the key may not send. Spans that name no dataset are
accepted, and nothing is stored of them. Exporters repeat a request only after 503.
"""

from __future__ import annotations

import time
from functools import partial

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.access.guard import principal_of
from headwater.access.principal import Principal
from headwater.errors import EventError, HeadwaterError
from headwater.ingest.receive.accept import EventAcceptor
from headwater.ingest.receive.spans.otlp import decode_spans, encode_response
from headwater.ingest.receive.spans.service_events import (
    Activity,
    SentActivities,
    ServiceHour,
    group_spans,
    service_event,
)
from headwater.web import error_response, read_body

BYTES_MAX = 16 * 2**20
_MESSAGE_CHARACTERS_MAX = 500


def span_routes(acceptor: EventAcceptor) -> list[Route]:
    """Return the route of spans."""
    sent = SentActivities()

    async def post_spans(request: Request) -> Response:
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        try:
            body = await read_body(request, BYTES_MAX)
            size = len(body)
            principal = principal_of(request)
            run = partial(acceptor.run_in_thread, principal, size)
            spans = await run(decode_spans, body, content_type)
            accepted = _Accepted(acceptor, principal, sent)
            grouped = await run(group_spans, spans)
            await run(accepted.accept, *grouped)
            if accepted.bodies:
                await acceptor.append(accepted.bodies)
            for service, news in accepted.news:
                sent.add(principal.writable, service, news)
            answer = encode_response(content_type, accepted.rejected, accepted.message)
        except ClientDisconnect:
            return Response(status_code=400)
        except HeadwaterError as error:
            return error_response(error)
        return Response(answer, media_type=content_type)

    return [Route("/v1/traces", post_spans, methods=["POST"])]


class _Accepted:
    """The events of one request: accepted bodies, and the count of rejected spans."""

    def __init__(self, acceptor: EventAcceptor, principal: Principal, sent: SentActivities) -> None:
        self._acceptor = acceptor
        self._principal = principal
        self._sent = sent
        self.bodies: list[bytes] = []
        self.news: list[tuple[ServiceHour, Activity]] = []
        self.rejected = 0
        self.message = ""

    def accept(self, activities: dict[ServiceHour, Activity], malformed: int) -> None:
        """Accept the events of what services did. `malformed` spans count as rejected."""
        received = time.time_ns() // 1_000
        if malformed:
            self._reject(malformed, "a span needs a resource with service.name, and valid times")
        for service, activity in activities.items():
            news = self._sent.news(self._principal.writable, service, activity)
            if news is None:
                continue
            body = msgspec.json.encode(service_event(service, news))
            try:
                self.bodies.append(self._acceptor.accept(self._principal, body, received))
            except EventError as error:
                self._reject(activity.spans, error.message)
            else:
                self.news.append((service, news))

    def _reject(self, spans: int, message: str) -> None:
        self.rejected += spans
        self.message = self.message or message[:_MESSAGE_CHARACTERS_MAX]
