"""What is remembered of earlier events changes nothing that is said of later ones, only how soon
it is known.
"""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import ProducerStats, count_event
from headwater.schema.events import STATES, parse, parse_instant
from headwater.schema.facts import GraphDelta, join
from headwater.schema.memo import Memo
from tests.histories import at, histories

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
RECEIVED = parse_instant(at(30))
CAPTURES = Path(__file__).parent.parent / "captures"
REAL = [
    json.loads(line)
    for name in ("spark_shop", "iceberg_shop", "dbt_shop", "airflow_shop")
    for line in (CAPTURES / f"{name}.jsonl").read_bytes().splitlines()[::5]
]


def told(bodies: list[bytes]) -> tuple[GraphDelta, ProducerStats]:
    """What the worker makes of these events."""
    events = [parse(body, received=RECEIVED) for body in bodies]
    producer_stats = ProducerStats()
    for seq, (body, event) in enumerate(zip(bodies, events, strict=True)):
        count_event(RECEIVED, seq, body, event, future_seconds=60, into=producer_stats)
    return fold(events), producer_stats


def told_by_one_who_forgets(bodies: list[bytes]) -> tuple[GraphDelta, ProducerStats]:
    with patch.object(Memo, "get", lambda *_: None):
        return told(bodies)


@st.composite
def reruns(draw: st.DrawFn) -> list[bytes]:
    """Real events of which the same bytes are sent again: at another instant, in another state,
    by another run or job, or with another of their datasets' names.
    """
    some = draw(st.lists(st.sampled_from(REAL), min_size=1, max_size=3))
    bodies = []
    for _ in range(draw(st.integers(2, 8))):
        event: dict[str, Any] = {
            **draw(st.sampled_from(some)),
            "eventTime": at(draw(st.integers(0, 5))),
        }
        if "run" in event:
            event["eventType"] = draw(st.sampled_from(STATES))
            event["run"] = {**event["run"], "runId": draw(st.sampled_from(["run-1", "run-2"]))}
        if "job" in event and draw(st.booleans()):
            event["job"] = {**event["job"], "name": draw(st.sampled_from(["one", "other"]))}
        for side in ("inputs", "outputs"):
            if event.get(side) and draw(st.booleans()):
                event[side] = [
                    {**event[side][0], "name": draw(st.sampled_from(["here", "there"]))},
                    *event[side][1:],
                ]
        bodies.append(json.dumps(event).encode())
    return bodies


@relaxed
@given(st.one_of(histories, reruns()), st.one_of(histories, reruns()))
def test_earlier_events_do_not_change_the_result(earlier: list[bytes], bodies: list[bytes]) -> None:
    expected = told_by_one_who_forgets(bodies)
    told(earlier)
    assert told(bodies) == expected
    assert told(bodies) == expected


@relaxed
@given(reruns())
def test_equal_events_are_each_folded(bodies: list[bytes]) -> None:
    """Telling once what many events say is what joining them one by one is."""
    delta, _ = told(bodies)
    alone = (told_by_one_who_forgets([body])[0] for body in bodies)
    assert delta == reduce(join, alone, GraphDelta())


@relaxed
@given(st.one_of(histories, reruns()))
def test_changing_one_result_changes_no_other(bodies: list[bytes]) -> None:
    expected = told_by_one_who_forgets(bodies)
    spoil(told(bodies)[0])
    assert told(bodies) == expected


def spoil(value: object) -> None:
    """Empty everything in it that can be changed."""
    if isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            spoil(getattr(value, field))
    elif isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value.clear()
    elif isinstance(value, set | list):
        value.clear()
