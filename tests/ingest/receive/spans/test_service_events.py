"""Spans of services aggregated by hour, and what was already sent."""

from __future__ import annotations

from headwater.ingest.receive.spans.otlp import CLIENT, PRODUCER, Attributes, Span
from headwater.ingest.receive.spans.service_events import (
    SentActivities,
    group_spans,
    service_event,
)

HOUR = 3_600 * 10**9
START = 490_896 * HOUR  # 2026-01-01T00:00:00Z
SHOP: Attributes = {"service.name": "checkout"}


def span(start: int, urn: str = "dataset:db:orders", kind: int = CLIENT, trace: int = 1) -> Span:
    return Span(SHOP, f"{trace:032x}", kind, start, start + 1, {"dataset.urn": urn})


def test_hours_and_services_are_apart_and_repetitions_are_one() -> None:
    spans = [span(START), span(START + 5, kind=PRODUCER), span(START), span(START + HOUR)]
    found, malformed = group_spans(spans)
    assert malformed == 0
    assert [(one.namespace, one.name, one.hour) for one in found] == [
        ("service://default", "checkout", 490_896),
        ("service://default", "checkout", 490_897),
    ]
    first, second = (service_event(service, activity) for service, activity in found.items())
    assert first["run"]["runId"] != second["run"]["runId"]
    orders = [{"namespace": "db", "name": "orders"}]
    assert (first["inputs"], first["outputs"]) == (orders, orders)
    assert (second["inputs"], second["outputs"]) == (orders, [])
    assert first["eventTime"] == "2026-01-01T00:00:00Z"


def test_only_news_are_sent() -> None:
    sent = SentActivities()
    [(service, activity)] = group_spans([span(START)])[0].items()
    assert sent.news(service, activity) == activity
    sent.add(service, activity)
    assert sent.news(service, activity) is None
    [(_, more)] = group_spans([span(START), span(START, "dataset:db:new", trace=2)])[0].items()
    news = sent.news(service, more)
    assert news is not None
    assert ([use.name for use in news.uses], news.traces) == (["new"], {f"{2:032x}"})
    [(_, many)] = group_spans([span(START, trace=trace) for trace in range(1, 100)])[0].items()
    news = sent.news(service, many)
    assert news is not None
    assert len(news.traces) == 19


def test_the_event_of_an_hour_ends_in_it() -> None:
    late = Span(SHOP, "", CLIENT, START, START + 9 * HOUR, {"dataset.urn": "dataset:db:orders"})
    [(service, activity)] = group_spans([late])[0].items()
    event = service_event(service, activity)
    assert event["eventTime"] == "2026-01-01T00:59:59Z"
    assert event["run"]["facets"] == {}
