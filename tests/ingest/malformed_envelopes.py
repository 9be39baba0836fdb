"""Envelopes that are nearly right: in every place that the envelope gives a meaning, everything
that does not belong there, and what the door says to it: the status, and the field that it
names.
"""

from __future__ import annotations

import copy
import json
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
    """What is sent, and what is answered; 201 with no field when it is taken."""

    body: bytes
    status: int
    field: str = ""


def changed(whole: dict[str, Any], path: str, *value: Any) -> bytes:
    """The event with another value at a path, or with none there."""
    event = copy.deepcopy(whole)
    *way, last = (int(step) if step.isdigit() else step for step in path.split("."))
    holder: Any = event
    for step in way:
        holder = holder[step]
    if value:
        holder[last] = value[0]
    else:
        del holder[last]
    return json.dumps(event).encode()


# Where -> how msgspec and the answer call it -> what must not stand there. A null where a list, an
# object or a time may be absent is as good as nothing.
NOT_TEXT: tuple[Any, ...] = (5, True, 1.5, [], {})
NOT_OBJECT: tuple[Any, ...] = (5, True, "x", [])
NO_NAME = (*NOT_TEXT, None, "", " ", "\t\n", "\u00a0\u3000")
WRONG: dict[str, tuple[str, tuple[Any, ...]]] = {
    "eventTime": (
        "eventTime",
        (
            *NOT_TEXT, "soon", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-13-01T00:00:00Z", "10000-01-01",
            "-0001-01-01T00:00:00Z", "1767225600000", "2026-01-01T00:00:00+99:00", "0001-01-01T00:00:00+14:00",
            "9999-12-31T23:59:59-12:00", ("2026-01-01T00:00:00Z; "
                "DROP"), "2026\x00-01-01", "٢٠٢٦-٠١-٠١T00:00:00Z", " ",
        ),
    ),
    "eventType": ("eventType", (*NOT_TEXT, "STARTED", ("COMPLETE "
        "FAIL"), "ＦＡＩＬ", "FAIL\x00", "é" * 5_000)),
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
}  # fmt: skip
MISSING = {
    "run": "run", "run.runId": "run.runId", "job": "job", "job.namespace": "job.namespace", "job.name": "job.name",
    "inputs.0.namespace": "inputs[0].namespace", "inputs.0.name": "inputs[0].name",
    "outputs.0.namespace": "outputs[0].namespace", "outputs.0.name": "outputs[0].name",
}  # fmt: skip
# Not missed, or not what anything is made from.
SPARE: dict[str, tuple[Any, ...]] = {
    "eventTime": (None, ""),
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
        422,
        "dataset",
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

CASES: dict[str, Case] = {
    **{f"nasty: {name}": Case(body, 201) for name, body in ACCEPTED.items()},
    **{f"malformed: {name}": Case(*row) for name, row in MALFORMED.items()},
    **{f"kind: {name}": Case(*row) for name, row in KINDS.items()},
    **{
        f"{path} is {json.dumps(value)[:30]}": Case(changed(RUN_EVENT, path, value), 422, field)
        for path, (field, values) in WRONG.items()
        for value in values
    },
    **{f"no {path}": Case(changed(RUN_EVENT, path), 422, field) for path, field in MISSING.items()},
    **{
        f"{path} may be {json.dumps(value)[:30]}": Case(changed(RUN_EVENT, path, value), 201)
        for path, values in SPARE.items()
        for value in values
    },
}
