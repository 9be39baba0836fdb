"""Spans of services aggregated by hour, and what was already sent."""

from __future__ import annotations

from headwater.ingest.receive.spans.otlp import CLIENT, PRODUCER, Attributes, Span
from headwater.ingest.receive.spans.service_events import (
    SentActivities,
    group_spans,
    service_event,
)
from headwater.schema.visibility import UNRESTRICTED, Visibility

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
    assert sent.news(UNRESTRICTED, service, activity) == activity
    sent.add(UNRESTRICTED, service, activity)
    assert sent.news(UNRESTRICTED, service, activity) is None
    [(_, more)] = group_spans([span(START), span(START, "dataset:db:new", trace=2)])[0].items()
    news = sent.news(UNRESTRICTED, service, more)
    assert news is not None
    assert ([use.name for use in news.uses], news.traces) == (["new"], {f"{2:032x}"})
    [(_, many)] = group_spans([span(START, trace=trace) for trace in range(1, 100)])[0].items()
    news = sent.news(UNRESTRICTED, service, many)
    assert news is not None
    assert len(news.traces) == 19


def test_what_one_sender_has_sent_is_news_of_another() -> None:
    sent, other = SentActivities(), Visibility(("shop",))
    [(service, activity)] = group_spans([span(START)])[0].items()
    sent.add(UNRESTRICTED, service, activity)
    assert sent.news(other, service, activity) == activity
    sent.add(other, service, activity)
    assert sent.news(other, service, activity) is None


def test_the_event_of_an_hour_ends_in_it() -> None:
    late = Span(SHOP, "", CLIENT, START, START + 9 * HOUR, {"dataset.urn": "dataset:db:orders"})
    [(service, activity)] = group_spans([late])[0].items()
    event = service_event(service, activity)
    assert event["eventTime"] == "2026-01-01T00:59:59Z"
    assert event["run"]["facets"] == {}


def test_the_version_of_a_service_is_that_of_its_newest_span() -> None:
    def versioned(end: int, version: str) -> Span:
        resource: Attributes = {"service.name": "checkout", "service.version": version}
        return Span(resource, "", CLIENT, START, end, {"dataset.urn": "dataset:db:orders"})

    sent = SentActivities()
    [(service, activity)] = group_spans([versioned(START + 9, "1.1"), versioned(START + 5, "1.0")])[
        0
    ].items()
    assert service_event(service, activity)["run"]["facets"]["headwater_run"]["version"] == "1.1"
    sent.add(UNRESTRICTED, service, activity)
    assert sent.news(UNRESTRICTED, service, activity) is None
    [(_, again)] = group_spans([versioned(START + 20, "1.1")])[0].items()
    assert sent.news(UNRESTRICTED, service, again) is None
    [(_, rolled_back)] = group_spans([versioned(START + 30, "1.0")])[0].items()
    news = sent.news(UNRESTRICTED, service, rolled_back)
    assert news is not None
    assert service_event(service, news)["run"]["facets"]["headwater_run"]["version"] == "1.0"


def test_a_version_that_is_too_long_or_no_text_is_left_out() -> None:
    for version in ("x" * 201, ["1"], ""):
        resource: Attributes = {"service.name": "checkout", "service.version": version}
        named = Span(resource, "", CLIENT, START, START, {"dataset.urn": "dataset:db:orders"})
        [(service, activity)] = group_spans([named])[0].items()
        assert service_event(service, activity)["run"]["facets"] == {}
