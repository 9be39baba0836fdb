"""Envelopes with one malformed value, for each path of the envelope and each kind of value.

Each case has the expected status and the field that the response names.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.ingest.malformed_events import ACCEPTED, LONG, MALFORMED, event, raw

RUN_EVENT: dict[str, Any] = {
    "eventTime": "2026-01-01T00:00:00Z",
    "eventType": "COMPLETE",
    "producer": "https://example.com/p",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "nasty envelope", "facets": {}},
    "job": {"namespace": "etl", "name": "nasty", "facets": {}},
    "inputs": [{"namespace": "db", "name": "i", "facets": {}, "inputFacets": {}}],
    "outputs": [{"namespace": "db", "name": "o", "facets": {}, "outputFacets": {}}],
}
DATASET_EVENT: dict[str, Any] = {
    "eventTime": "2026-01-01T00:00:00Z",
    "dataset": {"namespace": "db", "name": "d"},
}
JOB_EVENT: dict[str, Any] = {
    "eventTime": "2026-01-01T00:00:00Z",
    "job": {"namespace": "etl", "name": "j"},
}


class Case(NamedTuple):
    """A body with its expected status and field; the field is empty if the event is accepted."""

    body: bytes
    status: int
    field: str = ""


def changed(original: dict[str, Any], path: str, *value: Any) -> bytes:
    """Return the event with another value at a path, or without a value there."""
    event = copy.deepcopy(original)
    *parents, last = (int(step) if step.isdigit() else step for step in path.split("."))
    holder: Any = event
    for step in parents:
        holder = holder[step]
    if value:
        holder[last] = value[0]
    else:
        del holder[last]
    return json.dumps(event).encode()


# Path -> the field that the response names, and malformed values. A null instead of an optional
# list, object or time is valid.
NOT_TEXT: tuple[Any, ...] = (5, True, 1.5, [], {})
NOT_OBJECT: tuple[Any, ...] = (5, True, "x", [])
NO_NAME = (*NOT_TEXT, None, "", " ", "\t\n", "\u00a0\u3000")
WRONG: dict[str, tuple[str, tuple[Any, ...]]] = {
    "eventTime": (
        "eventTime",
        (
            *NOT_TEXT,
            "soon",
            "2026-02-30T00:00:00Z",
            "2026-01-01T25:00:00Z",
            "2026-13-01T00:00:00Z",
            "10000-01-01",
            "-0001-01-01T00:00:00Z",
            "1767225600000",
            "2026-01-01T00:00:00+99:00",
            "0001-01-01T00:00:00+14:00",
            "9999-12-31T23:59:59-12:00",
            ("2026-01-01T00:00:00Z; DROP"),
            "2026\x00-01-01",
            "٢٠٢٦-٠١-٠١T00:00:00Z",
            " ",
            "",
            None,
            "2026-01-01",
            "20260101",
            "2026-W01-4",
            "2026-001T00:00:00Z",
            "2026-01-01x00:00:00Z",
            "2026-01-01T24:00:01Z",
            "2026-01-01T12:59:60Z",
            "0000-01-01T00:00:00Z",
            "+10000-01-01T00:00:00Z",
        ),
    ),
    "eventType": (
        "eventType",
        (*NOT_TEXT, "STARTED", ("COMPLETE FAIL"), "ＦＡＩＬ", "FAIL\x00", "é" * 5_000),
    ),
    "run": ("run", (*NOT_OBJECT, None)),
    "run.runId": ("run.runId", NO_NAME),
    "run.facets": ("run.facets", NOT_OBJECT),
    "job": ("job", (*NOT_OBJECT, None)),
    "job.namespace": ("job.namespace", NO_NAME),
    "job.name": ("job.name", NO_NAME),
    "job.facets": ("job.facets", NOT_OBJECT),
    "inputs": ("inputs", (5, True, "x", {})),
    "inputs.0": ("inputs[0]", (5, True, "x", [], None)),
    "inputs.0.namespace": ("inputs[0].namespace", NO_NAME),
    "inputs.0.name": ("inputs[0].name", NO_NAME),
    "inputs.0.facets": ("inputs[0].facets", NOT_OBJECT),
    "inputs.0.inputFacets": ("inputs[0].inputFacets", NOT_OBJECT),
    "outputs": ("outputs", (5, True, "x", {})),
    "outputs.0": ("outputs[0]", (5, True, "x", [], None)),
    "outputs.0.namespace": ("outputs[0].namespace", NO_NAME),
    "outputs.0.name": ("outputs[0].name", NO_NAME),
    "outputs.0.facets": ("outputs[0].facets", NOT_OBJECT),
    "outputs.0.outputFacets": ("outputs[0].outputFacets", NOT_OBJECT),
}
MISSING = {
    "eventTime": "eventTime",
    "run": "run",
    "run.runId": "run.runId",
    "job": "job",
    "job.namespace": "job.namespace",
    "job.name": "job.name",
    "inputs.0.namespace": "inputs[0].namespace",
    "inputs.0.name": "inputs[0].name",
    "outputs.0.namespace": "outputs[0].namespace",
    "outputs.0.name": "outputs[0].name",
}
# Values that are accepted, because they are optional or unused.
OPTIONAL: dict[str, tuple[Any, ...]] = {
    "eventTime": (
        "2026-01-01T00:00:00",
        "2026-01-01t00:00:00z",
        "2026-01-01 00:00:00+00:00",
        "20260101T000000Z",
        "2026-W01-4T00:00:00Z",
        "2025-12-31T24:00:00Z",
        "2016-12-31T23:59:60Z",
        "2026-01-01T00:00:00,123Z",
        "2026-01-01T00:00:00.123456789Z",
        "2026-01-01T01:00:00+01:00[Europe/Paris]",
    ),
    "eventType": (None, "", " ", "complete", " Fail "),
    "producer": (None, 5, [], "not a url"),
    "schemaURL": (None, 5, {}, "x" * 5_000),
    "run.facets": (None,),
    "job.facets": (None,),
    "inputs": (None, []),
    "outputs": (None, []),
    "inputs.0.facets": (None,),
    "inputs.0.inputFacets": (None,),
    "outputs.0.facets": (None,),
    "outputs.0.outputFacets": (None,),
    "unheard of": (None, [[[]]], {"a": {}}),
}
KINDS = {
    "null": (b"null", 422, "body"),
    "true": (b"true", 422, "body"),
    "a number": (b"5", 422, "body"),
    "a text": (b'"START"', 422, "body"),
    "an array": (b"[]", 422, "body"),
    "an object of nothing": (b"{}", 422, "run"),
    "a time alone": (b'{"eventTime":"2026-01-01T00:00:00Z"}', 422, "run"),
    "a run with a dataset": (
        changed(RUN_EVENT, "dataset", {"namespace": "a", "name": "b"}),
        201,
        "",
    ),
    "a job with a dataset": (
        changed(JOB_EVENT, "dataset", {"namespace": "a", "name": "b"}),
        422,
        "dataset",
    ),
    "a job with a type": (changed(JOB_EVENT, "eventType", "START"), 422, "run"),
    "a dataset with a type": (changed(DATASET_EVENT, "eventType", "START"), 422, "run"),
    "a dataset without a name": (changed(DATASET_EVENT, "dataset.name"), 422, "dataset.name"),
    "a dataset of a blank name": (changed(DATASET_EVENT, "dataset.name", " "), 422, "dataset.name"),
    "a dataset in a list": (changed(DATASET_EVENT, "dataset", [{}]), 422, "dataset"),
    "a dataset of facets in a list": (
        changed(DATASET_EVENT, "dataset.facets", []),
        422,
        "dataset.facets",
    ),
    "a key without quotes": (b'{run:{"runId":"x"}}', 400, "body"),
    "a comment": (b'{"run":{"runId":"x"}} // why', 400, "body"),
    "an escape that is none": (raw('"run":{"runId":"\\x41"}'), 400, "body"),
    "half an escape": (raw('"run":{"runId":"\\u00"}'), 400, "body"),
    "a NUL behind it": (event() + b"\x00", 400, "body"),
    "overlong UTF-8": (raw('"run":{"runId":"?"}').replace(b"?", b"\xc0\xaf"), 400, "body"),
    "a surrogate in UTF-8": (raw('"run":{"runId":"\ud800"}'), 400, "body"),
    "UTF-8 cut short": (raw('"run":{"runId":"?"}').replace(b"?", b"\xe2\x82"), 400, "body"),
    "true, in Python": (raw('"run":{"runId":"n","facets":{"f":{"a":True}}}'), 400, "body"),
    "a plus before a number": (raw('"run":{"runId":"n","facets":{"f":{"a":+1}}}'), 400, "body"),
    "a bare point": (raw('"run":{"runId":"n","facets":{"f":{"a":1.}}}'), 400, "body"),
    "hexadecimal": (raw('"run":{"runId":"n","facets":{"f":{"a":0x10}}}'), 400, "body"),
    "larger than an event may be": (event(facets={"f": {"a": "x" * 300_000}}), 413, "body"),
    "the last of many inputs": (
        changed(
            RUN_EVENT,
            "inputs",
            [{"namespace": "db", "name": "x"}] * 500 + [{"namespace": "db", "name": ""}],
        ),
        422,
        "inputs[500].name",
    ),
    "64 kB of blanks": (changed(RUN_EVENT, "job.name", " " * LONG), 422, "job.name"),
}


def wrong_values() -> Iterator[tuple[str, bytes, str]]:
    for path, (field, values) in WRONG.items():
        for value in values:
            name = f"{path} is {json.dumps(value)[:30]}"
            yield name, changed(RUN_EVENT, path, value), field


def optional_values() -> Iterator[tuple[str, bytes]]:
    for path, values in OPTIONAL.items():
        for value in values:
            yield f"{path} may be {json.dumps(value)[:30]}", changed(RUN_EVENT, path, value)


CASES: dict[str, Case] = {
    **{f"nasty: {name}": Case(body, 201) for name, body in ACCEPTED.items()},
    **{f"malformed: {name}": Case(*row) for name, row in MALFORMED.items()},
    **{f"kind: {name}": Case(*row) for name, row in KINDS.items()},
    **{name: Case(body, 422, field) for name, body, field in wrong_values()},
    **{f"no {path}": Case(changed(RUN_EVENT, path), 422, field) for path, field in MISSING.items()},
    **{name: Case(body, 201) for name, body in optional_values()},
}
