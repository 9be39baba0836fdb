"""Randomly damaged events are either refused with an EventError or folded and projected."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.errors import EventError
from headwater.ingest.fold import fold
from headwater.ingest.project import answer_view, dataset_view, job_properties, run_view
from headwater.ingest.receive.redact import Redactor
from headwater.schema import headwater_facets as native
from headwater.schema.events import Event, parse
from headwater.schema.naming import load_naming
from headwater.schema.urns import URN_BYTES_MAX, parse_urn

CAPTURE = Path(__file__).parent.parent / "captures" / "spark_flights.jsonl"
redact = Redactor(b"a key of the tests").redact
NOON = "2026-01-01T12:00:00Z"
OURS: list[dict[str, Any]] = [
    native.answer_event(
        "a",
        cites=[{"namespace": "db", "name": "t", "field": "id"}, {"answerId": "b"}],
        content="42",
        event_time=NOON,
    ),
    native.source_event("t", origin="CRM", row_count=3, captured_at=NOON),
    native.artifact_event("t", run_id="r", row_count=3, created_at=NOON),
    *native.run_events(
        "r", pipeline_name="p", status="failed", error="boom", version="1", started_at=NOON
    ),
]
REAL = [*map(json.loads, CAPTURE.read_bytes().splitlines()), *OURS]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**80), 2**80),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        ["", " ", "\x00", "\ud800", NOON, "FAIL", "#", "%", ":", "🙂" * 3_000, "9" * 400]
    ),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
)
relaxed = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw a real event in which up to four values at any depth are dropped or replaced."""
    event = copy.deepcopy(draw(st.sampled_from(REAL)))
    for _ in range(draw(st.integers(1, 4))):
        holder: Any = event
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            inner = holder[key]
            if isinstance(inner, dict | list) and inner and draw(st.integers(0, 9)):
                holder = inner
                continue
            if draw(st.booleans()):
                holder[key] = draw(values)
            else:
                del holder[key]
            break
    return json.dumps(event).encode()


def assert_fits(event: Event) -> None:
    """Assert that every property that the event would write fits into Neo4j."""
    delta = fold([event])
    for urn in (*delta.runs, *delta.jobs, *delta.datasets, *delta.answers):
        parse_urn(urn)
        assert len(urn.encode()) <= URN_BYTES_MAX
    nodes: list[dict[str, Any]] = []
    for run in delta.runs.values():
        view = run_view(run, {})
        nodes += [view.node, *view.artifacts.values(), *(use.properties for use in view.reads)]
    for dataset in delta.datasets.values():
        table = dataset_view(dataset)
        nodes += [table.node, *table.columns.values(), table.source or {}]
    nodes += [job_properties(job) for job in delta.jobs.values()]
    nodes += [answer_view(answer, load_naming(), {}).node for answer in delta.answers.values()]
    for node in nodes:
        for value in node.values():
            if isinstance(value, int):
                assert abs(value) < 2**63
            if isinstance(value, str):
                value.encode()


@relaxed
@given(damaged())
def test_a_damaged_event_is_refused_or_folded(body: bytes) -> None:
    try:
        event = parse(body, received=0)
    except EventError as error:
        refusal = error
    else:
        assert_fits(event)
        return
    assert refusal.status in {400, 422}
    str(refusal).encode()


@relaxed
@given(st.sampled_from(REAL), st.data())
def test_damaged_bytes_are_refused_or_folded(event: dict[str, Any], data: st.DataObject) -> None:
    body = bytearray(json.dumps(event).encode())
    for _ in range(data.draw(st.integers(1, 5))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        parsed = parse(bytes(body), received=0)
    except EventError:
        return
    assert_fits(parsed)


@relaxed
@given(damaged())
def test_a_redacted_event_is_still_an_event(body: bytes) -> None:
    try:
        parse(body, received=0)
    except EventError:
        return
    redacted = redact(body)
    json.loads(redacted)
    assert_fits(parse(redacted, received=0))
    assert redact(redacted) == redacted


SECRETS = st.sampled_from(
    [
        *"\"\\' =:&{},é\n",
        "password",
        "token=",
        "sig=",
        "Bearer ",
        "x" * 12,
        "://a:b@c",
        "name",
        "value",
        "-----BEGIN PRIVATE KEY-----",
        "AKIA" + "A" * 16,
    ]
)


@relaxed
@given(
    st.dictionaries(
        st.lists(SECRETS, max_size=4).map("".join),
        st.lists(SECRETS, max_size=12).map("".join),
        max_size=4,
    )
)
def test_redaction_leaves_json(facet: dict[str, str]) -> None:
    body = json.dumps({"job": {"namespace": "a", "name": "b", "facets": {"f": facet}}}).encode()
    redacted = json.loads(redact(body))
    assert redacted["job"]["facets"]["f"].keys() or not facet
