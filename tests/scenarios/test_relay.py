"""The relay: events of now get times of the night that is played, in the order of their arrival."""

from __future__ import annotations

import json
import urllib.request
from datetime import UTC, datetime, timedelta

from headwater.scenarios.relay import open_relay

NIGHT = datetime(2026, 3, 4, 2, tzinfo=UTC)


def post(url: str, event: dict[str, str]) -> int:
    request = urllib.request.Request(url, json.dumps(event).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=20) as answer:
        return int(answer.status)


def test_events_are_a_second_apart_and_are_taken_once() -> None:
    with open_relay() as relay:
        relay.begin(NIGHT)
        for name in ("START", "COMPLETE"):
            sent = {"eventType": name, "eventTime": "2027-01-01T00:00:00Z", "producer": "spark"}
            assert post(f"{relay.url}/api/v1/lineage", sent) == 201
        assert relay.take() == [
            {"eventType": "START", "eventTime": "2026-03-04T02:00:00Z", "producer": "spark"},
            {"eventType": "COMPLETE", "eventTime": "2026-03-04T02:00:01Z", "producer": "spark"},
        ]
        relay.begin(NIGHT + timedelta(days=1))
        post(relay.url, {"eventTime": "2027-01-01T00:00:00Z"})
        assert [one["eventTime"] for one in relay.take()] == ["2026-03-05T02:00:00Z"]
        assert relay.take() == []
