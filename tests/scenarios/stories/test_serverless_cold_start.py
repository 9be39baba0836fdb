"""The data of the story of cold starts, worked out by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from headwater.scenarios.stories import serverless_cold_start as story
from headwater.scenarios.workshop import Event, Workshop
from headwater.schema.events import parse

TONIGHT = datetime(2026, 3, 4, 2, tzinfo=UTC)


def test_the_usage_of_a_customer_is_the_sum_of_its_units() -> None:
    eu = [{"event_id": 1, "customer": "eu-1", "units": 2}]
    us = [
        {"event_id": 1, "customer": "us-1", "units": 3},
        {"event_id": 2, "customer": "us-1", "units": 4},
    ]
    assert story.usage(eu, us) == [
        {"customer": "eu-1", "units": 2},
        {"customer": "us-1", "units": 7},
    ]


def test_a_cold_start_of_the_large_package_loses_one_object(tmp_path: Path) -> None:
    sent: list[Event] = []
    shop = Workshop("shop", tmp_path, sent.extend, tonight=TONIGHT)
    story.batch(shop, 1, story.SMALL)
    story.batch(shop, 0, story.LARGE)
    shop.flush()
    runs = [one for one in sent if one.get("eventType") in ("COMPLETE", "FAIL")]
    functions = [one for one in runs if one["job"]["name"].startswith("transform_")]
    assert [one["eventType"] for one in functions] == [
        *("COMPLETE", "COMPLETE"),
        *("FAIL", "FAIL", "FAIL", "COMPLETE"),
    ]
    facets = [one["run"]["facets"][story.INVOCATION_FACET] for one in functions]
    assert [one["coldStart"] for one in facets] == [True, False, True, True, True, False]
    assert [one["attempt"] for one in facets] == [1, 1, 1, 2, 3, 1]
    assert len({one["invocationId"] for one in facets}) == 6
    assert facets[2]["objectId"] == "s3://uploads/eu/night-0.json"
    # The third attempt begins at 02:08 and is ended after 30 s.
    assert functions[4]["eventTime"] == "2026-03-04T02:08:30Z"
    failure = functions[2]["run"]["facets"]["errorMessage"]["message"]
    assert failure == "TimeoutError: Task timed out after 30.00 seconds"
    # The rows of eu are those of the night before.
    assert shop.read("curated.eu") == story.transform(story.uploads("eu", 1))
    assert shop.read("curated.us") == story.transform(story.uploads("us", 0))
    for event in sent:
        parse(json.dumps(event).encode(), received=0)


def test_more_memory_ends_the_timeouts(tmp_path: Path) -> None:
    sent: list[Event] = []
    shop = Workshop("shop", tmp_path, sent.extend, tonight=TONIGHT)
    story.batch(shop, 0, story.LARGE)
    story.batch(shop, 0, story.TUNED)
    assert shop.read("curated.eu") == story.transform(story.uploads("eu", 0))
