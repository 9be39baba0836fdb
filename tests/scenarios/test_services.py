"""Services of a story: what they write, and that their spans are those that the API understands."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headwater.ingest.receive.spans.otlp import JSON, decode_spans
from headwater.ingest.receive.spans.service_events import group_spans, service_event
from headwater.scenarios.rows import Rows
from headwater.scenarios.services import TRACES, Service, serve, trace_ids
from headwater.scenarios.workshop import Workshop

NIGHT = datetime(2026, 3, 4, 2, tzinfo=UTC)


def double(rows: Rows) -> Rows:
    return [{"n": 2 * row["n"]} for row in rows]


def test_a_service_writes_its_topic_and_its_spans_become_one_run(tmp_path: Path) -> None:
    requests: list[dict[str, Any]] = []
    shop = Workshop("shop", tmp_path, list[object]().extend, send_spans=requests.append)
    shop.deliver("in", [{"n": 1}, {"n": 3}], {"n": "int"}, NIGHT)
    serve(shop, Service("doubler", "in", "out", double, "2.1"), NIGHT, hop=1)
    assert requests == []
    shop.flush()
    assert shop.read("out") == [{"n": 2}, {"n": 6}]
    [request] = requests
    found, malformed = group_spans(decode_spans(json.dumps(request).encode(), JSON))
    assert malformed == 0
    [(service, activity)] = found.items()
    assert (service.namespace, service.name) == ("service://shop", "doubler")
    assert activity.traces == set(trace_ids("shop", NIGHT))
    assert len(activity.traces) == TRACES
    event = service_event(service, activity)
    assert event["inputs"] == [{"namespace": "shop", "name": "in"}]
    assert event["outputs"] == [{"namespace": "shop", "name": "out"}]
    assert event["run"]["facets"]["headwater_run"]["version"] == "2.1"


def test_services_have_urns_of_their_own(tmp_path: Path) -> None:
    shop = Workshop("shop", tmp_path, list[object]().extend)
    assert shop.urn("service:doubler") == "job:service%3A//shop:doubler"
    assert shop.short("job:service%3A//shop:doubler") == "service:doubler"
    assert shop.short("job:shop:load") == "job:load"
    assert shop.short("dataset:other:x") == "dataset:other:x"
