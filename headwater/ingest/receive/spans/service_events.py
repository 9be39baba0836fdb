"""Events of services: what the spans of an hour read and wrote, aggregated.

A service is a job of type SERVICE in the namespace `service://NAMESPACE`, and each hour in which
its spans named a dataset is a run. An event is sent only for what no earlier event of the hour
said: another dataset, or one of the first 20 trace ids. So a million spans of a service make a
few events. After a restart, events may repeat; the graph is the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec

from headwater.ingest.receive.spans.datasets import NAME_CHARACTERS_MAX, DatasetUse, dataset_uses
from headwater.ingest.receive.spans.otlp import Span
from headwater.schema.facts import TRACE_IDS_MAX
from headwater.schema.headwater_facets import PRODUCER, RUN_FACET, TRACE_FACET
from headwater.schema.traces import valid_trace_id
from headwater.schema.visibility import Visibility

VERSION_CHARACTERS_MAX = 200
_HOUR = 3_600 * 10**9
_HOURS_MAX = 10_000
_YEAR_9999 = 253_402_300_799 * 10**9
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


class ServiceHour(msgspec.Struct, frozen=True):
    """A service in an hour, counted in hours since 1970."""

    namespace: str
    name: str
    hour: int


class Activity(msgspec.Struct):
    """What spans of a service in an hour did; `last` is in nanoseconds since 1970.

    version: the `service.version` of the span that ended last, and that names one.
    """

    uses: set[DatasetUse]
    traces: set[str]
    last: int = 0
    spans: int = 0
    version: tuple[int, str] = (0, "")


Activities = dict[ServiceHour, Activity]


def group_spans(spans: Iterable[Span]) -> tuple[Activities, int]:
    """Return what services did in each hour, and the number of malformed spans.

    A span is malformed if its service has no name, or its times are out of range.
    """
    found: Activities = {}
    malformed = 0
    for span in spans:
        uses = set(dataset_uses(span))
        if not uses:
            continue
        service = _service(span)
        if service is None or not 0 < span.start <= span.end < _YEAR_9999:
            malformed += 1
            continue
        activity = found.setdefault(service, Activity(set(), set()))
        activity.uses |= uses
        activity.spans += 1
        activity.version = max(activity.version, _version(span))
        activity.last = max(activity.last, min(span.end, (service.hour + 1) * _HOUR - 1))
        trace_id = valid_trace_id(span.trace_id)
        if trace_id is not None:
            activity.traces.add(trace_id)
    return found, malformed


def _service(span: Span) -> ServiceHour | None:
    name = span.resource.get("service.name")
    namespace = span.resource.get("service.namespace") or "default"
    if not isinstance(name, str) or not isinstance(namespace, str):
        return None
    if not 0 < len(name.strip()) <= NAME_CHARACTERS_MAX or len(namespace) > NAME_CHARACTERS_MAX:
        return None
    return ServiceHour(f"service://{namespace}", name, span.start // _HOUR)


def _version(span: Span) -> tuple[int, str]:
    version = span.resource.get("service.version")
    if not isinstance(version, str) or not 0 < len(version) <= VERSION_CHARACTERS_MAX:
        return 0, ""
    return span.end, version


class SentActivities:
    """What was already sent of the newest hours of services. Threads may share it.

    Each sender has its own: the answer to a sender says nothing about what others have sent.
    """

    def __init__(self) -> None:
        self._sent: OrderedDict[tuple[Visibility, ServiceHour], Activity] = OrderedDict()
        self._lock = Lock()

    def news(self, sender: Visibility, service: ServiceHour, activity: Activity) -> Activity | None:
        """Return the part of an activity that senders for these namespaces have not sent; None if
        they have sent all of it.
        """
        with self._lock:
            sent = self._sent.get((sender, service)) or Activity(set(), set())
            room = max(TRACE_IDS_MAX - len(sent.traces), 0)
            uses, traces = activity.uses - sent.uses, sorted(activity.traces - sent.traces)[:room]
        is_new_version = activity.version > sent.version and activity.version[1] != sent.version[1]
        if not uses and not traces and not is_new_version:
            return None
        return Activity(uses, set(traces), activity.last, activity.spans, activity.version)

    def add(self, sender: Visibility, service: ServiceHour, news: Activity) -> None:
        """Record that the news were accepted."""
        key = sender, service
        with self._lock:
            sent = self._sent.setdefault(key, Activity(set(), set()))
            self._sent.move_to_end(key)
            sent.uses |= news.uses
            sent.traces |= news.traces
            sent.version = max(sent.version, news.version)
            while len(self._sent) > _HOURS_MAX:
                self._sent.popitem(last=False)


def service_event(service: ServiceHour, activity: Activity) -> dict[str, Any]:
    """Return the event of a service's hour."""
    at = datetime.fromtimestamp(activity.last // 10**9, UTC).isoformat().replace("+00:00", "Z")
    key = f"headwater:{service.namespace}/{service.name}@{service.hour}"
    facets = {}
    if activity.version[1]:
        facets[RUN_FACET] = _facet(RUN_FACET, {"version": activity.version[1]})
    if activity.traces:
        facets[TRACE_FACET] = _facet(
            TRACE_FACET, {"traces": [{"traceId": one} for one in sorted(activity.traces)]}
        )
    kind = {"processingType": "STREAMING", "integration": "OPENTELEMETRY", "jobType": "SERVICE"}
    return {
        "eventType": "COMPLETE",
        "eventTime": at,
        "producer": PRODUCER,
        "schemaURL": _SPEC,
        "run": {"runId": str(uuid5(NAMESPACE_URL, key)), "facets": facets},
        "job": {
            "namespace": service.namespace,
            "name": service.name,
            "facets": {"jobType": _facet("jobType", kind)},
        },
        "inputs": _datasets(activity.uses, is_write=False),
        "outputs": _datasets(activity.uses, is_write=True),
    }


def _facet(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": f"{PRODUCER}/facets/{name}.json", **fields}


def _datasets(uses: set[DatasetUse], *, is_write: bool) -> list[dict[str, str]]:
    return [
        {"namespace": use.namespace, "name": use.name}
        for use in sorted(uses)
        if use.is_write == is_write
    ]
