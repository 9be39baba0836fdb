"""The memos of earlier events change only the speed of later ones, never their results."""

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
from headwater.schema.delta import GraphDelta, join
from headwater.schema.events import STATES, parse, parse_instant
from headwater.schema.memo import Memo
from tests.histories import histories, instant

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
RECEIVED = parse_instant(instant(30))
CAPTURES = Path(__file__).parent.parent / "captures"
REAL: list[dict[str, Any]] = []
for _name in ("spark_shop", "iceberg_shop", "dbt_shop", "airflow_shop"):
    REAL += map(json.loads, (CAPTURES / f"{_name}.jsonl").read_bytes().splitlines()[::5])


def results_of(bodies: list[bytes]) -> tuple[GraphDelta, ProducerStats]:
    """Return the delta and the producer statistics of events, as the worker computes them."""
    events = [parse(body, received=RECEIVED) for body in bodies]
    producer_stats = ProducerStats()
    for seq, (body, event) in enumerate(zip(bodies, events, strict=True)):
        count_event(RECEIVED, seq, body, event, future_seconds=60, into=producer_stats)
    return fold(events), producer_stats


def results_without_memos(bodies: list[bytes]) -> tuple[GraphDelta, ProducerStats]:
    with patch.object(Memo, "get", lambda *_: None):
        return results_of(bodies)


@st.composite
def reruns(draw: st.DrawFn) -> list[bytes]:
    """Draw real events with repeated parts.

    An event is repeated with another time, state, run, job or dataset name.
    """
    originals = draw(st.lists(st.sampled_from(REAL), min_size=1, max_size=3))
    bodies = []
    for _ in range(draw(st.integers(2, 8))):
        event: dict[str, Any] = {
            **draw(st.sampled_from(originals)),
            "eventTime": instant(draw(st.integers(0, 5))),
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
    expected = results_without_memos(bodies)
    results_of(earlier)
    assert results_of(bodies) == expected
    assert results_of(bodies) == expected


@relaxed
@given(reruns())
def test_equal_events_are_each_folded(bodies: list[bytes]) -> None:
    """The delta of a batch equals the join of the deltas of its events."""
    delta, _ = results_of(bodies)
    alone = (results_without_memos([body])[0] for body in bodies)
    assert delta == reduce(join, alone, GraphDelta())


@relaxed
@given(st.one_of(histories, reruns()))
def test_changing_one_result_changes_no_other(bodies: list[bytes]) -> None:
    expected = results_without_memos(bodies)
    clear(results_of(bodies)[0])
    assert results_of(bodies) == expected


def clear(value: object) -> None:
    """Empty every mutable value inside."""
    if isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            clear(getattr(value, field))
    elif isinstance(value, dict):
        for item in value.values():
            clear(item)
        value.clear()
    elif isinstance(value, set | list):
        value.clear()
