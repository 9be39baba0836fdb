"""Named malformed and unusual bodies, each with the expected response of the API."""

from __future__ import annotations

import itertools
import json
from typing import Any

FACET = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}
LONG = 65_536
_numbers = itertools.count()


def dataset(name: str, facets: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"namespace": "db", "name": name, "facets": facets or {}, **more}


def event(run_id: str = "", **more: Any) -> bytes:
    """Return a run event, by default of a new run."""
    facets = more.pop("facets", {})
    content = {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "COMPLETE",
        "run": {"runId": run_id or f"nasty {next(_numbers)}", "facets": facets},
        "job": {"namespace": "etl", "name": "nasty"},
        **more,
    }
    return json.dumps(content).encode()


def job_named(name: str) -> bytes:
    return event(job={"namespace": "etl", "name": name})


def output(facets: dict[str, Any] | None = None, **output_facets: Any) -> bytes:
    return event(outputs=[dataset("t", facets, outputFacets=output_facets)])


def raw(body: str) -> bytes:
    head = (
        '{"eventTime":"2026-01-01T00:00:00Z","eventType":"START",'
        '"job":{"namespace":"etl","name":"nasty"},'
    )
    return (head + body + "}").encode("utf-8", "surrogatepass")


def datasets(*names: str) -> list[dict[str, Any]]:
    return [dataset(name) for name in names]


def child_of(run_id: str, job: str = "above", of: str = "") -> bytes:
    return event(
        of,
        facets={
            "parent": {**FACET, "run": {"runId": run_id}, "job": {"namespace": "etl", "name": job}}
        },
    )


def answer(**fields: Any) -> bytes:
    facets = {"headwater_answer": {**FACET, **fields}}
    return json.dumps(
        {
            "eventTime": "2026-01-01T00:00:00Z",
            "dataset": {"namespace": "answers", "name": "nasty", "facets": facets},
        }
    ).encode()


def statistics(text: str) -> bytes:
    facets = f'{{"outputStatistics":{{"rowCount":{text},"size":5}}}}'
    return raw(
        f'"run":{{"runId":"n"}},"outputs":[{{"namespace":"db","name":"t","outputFacets":{facets}}}]'
    )


def nested(depth: int) -> Any:
    field: dict[str, Any] = {"name": "x"}
    for _ in range(depth):
        field = {"name": "x", "fields": [field]}
    return {"schema": {**FACET, "fields": [field]}}


def facet_nested(depth: int) -> bytes:
    return raw('"run":{"runId":"n","facets":{"f":' + '{"a":' * depth + "1" + "}" * depth + "}}")


def lineage(*inputs: Any) -> dict[str, Any]:
    return {"columnLineage": {**FACET, "fields": {"id": {"inputFields": list(inputs)}}}}


MANY = [f"many {number}" for number in range(500)]

ACCEPTED: dict[str, bytes] = {
    "NUL in a run id": event("a\x00b"),
    "NUL in a job": job_named("a\x00b"),
    "NUL in a dataset": event(inputs=[dataset("a\x00b")]),
    "NUL in a column": output({"schema": {"fields": [{"name": "a\x00b"}]}}),
    "nothing but NUL": job_named("\x00"),
    "control characters": job_named("".join(map(chr, range(1, 32))) + "\x7f\x80\x9f"),
    "right to left": job_named("\u202egnp.exe\u2066\u200b\ufeff"),
    "not characters": job_named("\ufffe\uffff\U0010ffff"),
    "emoji": job_named("👩‍👩‍👧‍👦" * 100),
    "combining without end": job_named("a" + "\u0301" * 5_000),
    "half a character in a name": raw('"run":{"runId":"a\\ud800b"}'),
    "half a character in a facet": raw(
        '"run":{"runId":"n","facets":{"errorMessage":{"message":"\\udcff"}}}'
    ),
    "half a character in a facet's name": raw('"run":{"runId":"n","facets":{"\\udcff":{"a":1}}}'),
    "a BOM": b"\xef\xbb\xbf" + event(),
    "64 kB run id": event("r" * LONG),
    "64 kB job": job_named("j" * LONG),
    "64 kB of emoji": job_named("😀" * (LONG // 4)),
    "64 kB namespaces": event(
        job={"namespace": "n" * LONG, "name": "x"}, inputs=[dataset("x", namespace="m" * LONG)]
    ),
    "64 kB datasets": event(inputs=[dataset("i" * LONG)], outputs=[dataset("o" * LONG, lineage())]),
    "names about as long as is shown whole": event(
        inputs=datasets(*("i" * n for n in (3_999, 4_000, 4_001, 8_167)))
    ),
    "64 kB column": output({"schema": {"fields": [{"name": "c" * LONG, "type": "t" * LONG}]}}),
    "64 kB column edges": output(
        lineage({"namespace": "db", "name": "a" * LONG, "field": "f" * LONG})
    ),
    "64 kB parent": child_of("p" * LONG, "j" * LONG),
    "64 kB answer": answer(
        content="c" * LONG, cites=[{"namespace": "db", "name": "a" * LONG, "runId": "r" * LONG}]
    ),
    "64 kB pinned": event(
        inputs=[dataset("i" * LONG, inputFacets={"headwater_artifact": {"runId": "r" * LONG}})]
    ),
    "64 kB facet name": event(facets={"f" * LONG: {"a": 1}}),
    "one word of 90 kB": answer(content="x" * 90_000),
    "an error of 90 kB": event(facets={"errorMessage": {**FACET, "message": "boom " * 18_000}}),
    "more rows than 64 bits": statistics("18446744073709551616"),
    "far more rows than 64 bits": statistics("9" * 5_000),
    "rows without end": statistics("1e999"),
    "half a row": statistics("0.5"),
    "minus rows": statistics("-9223372036854775809"),
    "rows in words": statistics('"many"'),
    "rows in a list": statistics("[[1]]"),
    "the same key twice": raw('"run":{"runId":"one","runId":"n"},"run":{"runId":"n"}'),
    "a key of nothing": event(facets={"": {"": ""}}),
    "spaces around names": job_named("  spaced  "),
    "quotes and braces": job_named("\"'`;--}{$x //*/ RETURN 1"),
    "the year 1": event(eventTime="0001-01-01T00:00:00Z", outputs=[dataset("t")]),
    "the last moment of 9999": event(
        eventTime="9999-12-31T23:59:59.999999Z", inputs=[dataset("t")]
    ),
    "made in the year 1": json.dumps(
        {
            "eventTime": "2026-01-01T00:00:00Z",
            "dataset": dataset(
                "t", {"headwater_artifact": {"runId": "n", "createdAt": "0001-01-01T00:00:00Z"}}
            ),
        }
    ).encode(),
    "made in the year 10000": json.dumps(
        {
            "eventTime": "2026-01-01T00:00:00Z",
            "dataset": dataset(
                "t", {"headwater_artifact": {"runId": "n", "createdAt": "10000-01-01T00:00:00Z"}}
            ),
        }
    ).encode(),
    "made by nobody": json.dumps(
        {
            "eventTime": "2026-01-01T00:00:00Z",
            "dataset": dataset("t", {"headwater_artifact": {"runId": " "}}),
        }
    ).encode(),
    "pinned to nobody": event(
        inputs=[dataset("t", inputFacets={"headwater_artifact": {"runId": ""}})]
    ),
    "its own parent": child_of("itself", of="itself"),
    "a circle of parents": child_of("n", of="m"),
    "and its other half": child_of("m", of="n"),
    "an answer that cites itself": answer(cites=[{"answerId": "nasty"}]),
    "an answer that cites rubbish": answer(
        cites=[1, None, {}, {"namespace": "db"}, [["x"]]], content="x"
    ),
    "an answer of wrong types": answer(cites="x", content=5, generatedAt=[]),
    "an answer of a bad time": answer(cites=[{"namespace": "db", "name": "t"}], generatedAt="soon"),
    "it reads what it writes": event(
        inputs=datasets("t"), outputs=[dataset("t", lineage(dataset("t", field="id")))]
    ),
    "nested 60 deep": output(nested(60)),
    "nested 300 deep": output(nested(150)),
    "nested 400 deep in a facet of no meaning": facet_nested(400),
    "a schema of rubbish": output({"schema": {"fields": [1, None, {"name": 5}]}}),
    "facets of every wrong type": event(
        facets={"a": None, "b": 1, "c": "x", "d": [], "parent": [], "errorMessage": 7}
    ),
    "3,000 facets": event(facets={f"facet {number}": {"a": number} for number in range(3_000)}),
    "2,000 columns": output(
        {"schema": {"fields": [{"name": f"c{number}"} for number in range(2_000)]}}
    ),
    "500 inputs and outputs": event(inputs=datasets(*MANY), outputs=datasets(*MANY, "one more")),
    "one dataset 500 times": event(inputs=[dataset("same")] * 500, outputs=[dataset("same")] * 500),
    "text that is no UTF-8 in a facet": raw('"run":{"runId":"n","facets":{"f":{"a":"?"}}}').replace(
        b"?", b"\xff\xfe"
    ),
    "a marker of redaction": event(
        facets={"x": {"password": 'p"\\', "key": ('-----BEGIN PRIVATE KEY-----"x')}}
    ),
}

# Each with the status and the field of the response.
MALFORMED: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 400, "body"),
    "NaN": (statistics("NaN"), 400, "body"),
    "Infinity": (statistics("-Infinity"), 400, "body"),
    "a number with leading zeros": (statistics("007"), 400, "body"),
    "single quotes": (b"{'run': 1}", 400, "body"),
    "a comma too many": (raw('"run":{"runId":"n"},'), 400, "body"),
    "cut short": (event()[:-1], 400, "body"),
    "twice": (event() * 2, 400, "body"),
    "UTF-16": (event().decode().encode("utf-16"), 400, "body"),
    "text that is no UTF-8 in a name": (
        raw('"run":{"runId":"?"}').replace(b"?", b"\xff"),
        400,
        "body",
    ),
    "a raw control character": (raw('"run":{"runId":"a\x01b"}'), 400, "body"),
    "nested 10,000 deep": (facet_nested(10_000), 400, "body"),
    "an array nested 30,000 deep": (b"[" * 30_000 + b"]" * 30_000, 422, "body"),
    "blank names": (job_named("\u00a0\u2003\t"), 422, "job.name"),
    "a type of 64 kB": (event(eventType="S" * LONG), 422, "eventType"),
    "a time of 64 kB": (event(eventTime="2" * LONG), 422, "eventTime"),
}
