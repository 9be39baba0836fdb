"""Services of a story: functions from topic to topic that send spans, and no OpenLineage events.

A service handles the messages of a topic in requests. Each request has a trace. Its span names the
topic that the service read, and a second span the topic that it wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.scenarios.rows import Rows
from headwater.scenarios.workshop import Workshop
from headwater.schema.urns import dataset_urn

TRACES = 3
# Of one service after another: a trace reaches the next service this much later.
HOP = timedelta(milliseconds=200)
_CONSUMER, _PRODUCER = 5, 4


@dataclass(frozen=True)
class Service:
    """A service: what it reads and writes, and what it does to the messages."""

    name: str
    reads: str
    writes: str
    handle: Callable[[Rows], Rows]
    version: str = "1.0"


def trace_ids(namespace: str, when: datetime) -> list[str]:
    """Return the trace ids of the requests of a time; all services of a request share them."""
    texts = (f"{namespace}/{when}/{number}" for number in range(TRACES))
    return [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]


def serve(shop: Workshop, service: Service, when: datetime, hop: int = 0) -> None:
    """Let a service handle the messages of its topic, and send its spans.

    Args:
        shop: The workshop with the topics.
        service: The service.
        when: When the requests entered the first service.
        hop: How many services handled the requests before this one.
    """
    shop.write(service.writes, service.handle(shop.read(service.reads)))
    start = when + hop * HOP
    spans: list[dict[str, Any]] = []
    for trace in trace_ids(shop.namespace, when):
        spans += _spans(shop.namespace, service, trace, start)
    resource = {
        "service.name": service.name,
        "service.namespace": shop.namespace,
        "service.version": service.version,
    }
    scopes = [{"scope": {"name": "headwater.scenarios"}, "spans": spans}]
    resources = [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": scopes}]
    shop.send_spans({"resourceSpans": resources})


def _spans(
    namespace: str, service: Service, trace: str, start: datetime
) -> Iterator[dict[str, Any]]:
    for kind, topic, operation in (
        (_CONSUMER, service.reads, "process"),
        (_PRODUCER, service.writes, "send"),
    ):
        text = f"{trace}/{service.name}/{kind}"
        yield {
            "traceId": trace,
            "spanId": hashlib.sha256(text.encode()).hexdigest()[:16],
            "name": f"{operation} {topic}",
            "kind": kind,
            "startTimeUnixNano": str(_nanoseconds(start)),
            "endTimeUnixNano": str(_nanoseconds(start + HOP)),
            "attributes": _attributes(
                {
                    "dataset.urn": dataset_urn(namespace, topic),
                    "messaging.operation.type": operation,
                }
            ),
        }


def _attributes(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def _nanoseconds(when: datetime) -> int:
    return int(when.timestamp() * 1_000_000) * 1_000
