"""The readers of text from outside, each with seeds, tokens and what must hold for every input.

A target raises nothing but the errors that its reader documents. Other exceptions are findings.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from headwater.access.events import authorize_event, own_facets_only
from headwater.access.origin import HostNames, OriginCheck
from headwater.access.principal import Principal, Scope
from headwater.access.session_cookie import may_count, token_of
from headwater.code_analysis.dbt.jinja import render
from headwater.code_analysis.model import FileContents, UnreadableError
from headwater.code_analysis.notebooks import read_notebook, references_in_notebook
from headwater.code_analysis.pyspark.references import references_in_python
from headwater.code_analysis.pyspark.writes import read_script
from headwater.code_analysis.sql.ddl import read_statements
from headwater.code_analysis.sql.references import references_in_sql
from headwater.cypher.sandbox.policy import PROCEDURES
from headwater.cypher.sandbox.statement_check import Statement
from headwater.errors import EventError, HeadwaterError, QueryError
from headwater.ingest.fold import fold
from headwater.ingest.receive.redact import Redactor, find_personal_data
from headwater.ingest.receive.spans.otlp import decode_spans
from headwater.ingest.receive.trace_headers import request_trace, with_trace
from headwater.lineage.pagination import (
    decode_cursor,
    decode_time_cursor,
    encode_cursor,
    encode_time_cursor,
)
from headwater.schema import urns
from headwater.schema.events import parse, require_event_time
from headwater.schema.naming import load_naming
from headwater.schema.visibility import Visibility

CAPTURES = Path(__file__).parent.parent / "captures"
SECRET = "AKIAZ5VQ7RKDM3NTX6WB"
_RECEIVED = 1_767_225_600_000_000
_redactor = Redactor(b"a key of the tests")
_naming = load_naming()
_principals = (
    Principal("all", frozenset({Scope.INGEST})),
    Principal("few", frozenset({Scope.INGEST}), Visibility(("spark*", "db"))),
)


@dataclass(frozen=True)
class Target:
    """A reader. `run` returns the outcome of an input, or raises for a finding."""

    seeds: tuple[str, ...]
    tokens: tuple[str, ...]
    run: Callable[[str], str]


def _kind(error: Exception) -> str:
    """Return the kind of a refusal: its type and the first words of its message."""
    return f"{type(error).__name__} {str(error)[:24]}"


def _shape(value: object) -> str:
    """Return the names of the fields of a result that hold something."""
    return ",".join(name for name, part in vars(value).items() if part)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def run_event(text: str) -> str:
    """Accept an event as the API does, and fold what would be stored."""
    body = _bytes(text)
    try:
        event = parse(body, received=_RECEIVED)
        require_event_time(event, allow_missing=False)
    except EventError as error:
        return _kind(error)
    redacted = _redactor.redact(body)
    outcome = "accepted"
    for principal in _principals:
        try:
            authorize_event(principal, redacted, _naming, None)
            stored = own_facets_only(principal, redacted, _naming, None)
        except EventError as error:
            outcome = _kind(error)
            continue
        again = parse(stored, received=_RECEIVED)
        assert again.instant == event.instant
        assert (again.run is None) == (event.run is None)
        fold([again], _naming)
    return outcome


def run_redaction(text: str) -> str:
    """Redact a text with a secret between two words of it, as a property of a facet."""
    safe = text.encode("utf-8", "replace").decode()
    body = json.dumps({"run": {"facets": {"f": {"description": f"{safe} {SECRET} {safe}"}}}})
    redacted = _redactor.redact(body.encode())
    assert SECRET.encode() not in redacted
    assert list(json.loads(redacted)["run"]["facets"]) == ["f"]
    json.loads(_redactor.redact(redacted))
    return ",".join(sorted(find_personal_data(safe)))


def run_urn(text: str) -> str:
    """Parse a urn, and build urns of parts of the text that parse back to them."""
    safe = text.encode("utf-8", "replace").decode()
    parts = [part for part in safe.split(":") if part][:3]
    if len(parts) == 3:
        for built in (urns.column_urn(*parts), urns.artifact_urn(parts[0], parts[1], parts[2])):
            parsed = urns.parse_urn(built)
            is_run = parsed.kind == "artifact" and urns.is_uuid(parts[2])
            parts[2] = parts[2].lower() if is_run else parts[2]
            assert parsed.parts in (tuple(parts), ())
    urns.guid_of(safe)
    try:
        return urns.parse_urn(text).kind
    except QueryError as error:
        return _kind(error)


def run_cursor(text: str) -> str:
    """Read a cursor of each shape; a cursor that is read encodes to an equal one."""
    outcomes = []
    for shape in (("", ""), ("", 0), (0.0, "", "")):
        try:
            key = decode_cursor(text, shape)
            assert repr(decode_cursor(encode_cursor(*key), shape)) == repr(key)
            outcomes.append("read")
        except QueryError as error:
            outcomes.append(_kind(error))
    try:
        instant, urn = decode_time_cursor(text)
        assert decode_time_cursor(encode_time_cursor(instant, urn)) == (instant, urn)
        outcomes.append("time")
    except QueryError:
        pass
    return " ".join(outcomes)


def run_sql(text: str) -> str:
    """Read the columns and the tables of SQL in two dialects."""
    outcomes = []
    for dialect in ("spark", "snowflake"):
        references = references_in_sql(text, dialect=dialect)
        outcomes.append(_shape(references))
        try:
            read_statements(text, FileContents(), "x.sql", dialect)
        except UnreadableError as error:
            outcomes.append(_kind(error))
    return " ".join(outcomes)


def run_python(text: str) -> str:
    """Read the columns and the tables of a PySpark script."""
    outcome = _shape(references_in_python(text))
    try:
        read_script(text, "x.py")
    except UnreadableError as error:
        outcome += _kind(error)
    return outcome


def run_notebook(text: str) -> str:
    """Read a notebook of Jupyter or Databricks."""
    outcome = ""
    for is_python in (False, True):
        outcome += _shape(references_in_notebook(text, is_python=is_python))
        try:
            read_notebook(text, "x", is_python=is_python)
        except UnreadableError as error:
            outcome += _kind(error)
    return outcome


def run_template(text: str) -> str:
    """Render a template of dbt."""
    return _shape(render(text))


def run_statement(text: str) -> str:
    """Check a statement by its words."""
    try:
        Statement(text, {"n": 1}).require_bounded(PROCEDURES)
    except QueryError as error:
        return _kind(error)
    return "bounded"


def run_spans(text: str) -> str:
    """Decode spans in both encodings."""
    outcomes = []
    for content_type, body in (
        ("application/json", _bytes(text)),
        ("application/x-protobuf", text.encode("latin-1", "replace")),
    ):
        try:
            outcomes.append(f"{len(decode_spans(body, content_type))} spans")
        except HeadwaterError as error:
            outcomes.append(_kind(error))
    return " ".join(outcomes)


@cache
def _run_event_body() -> bytes:
    return _first_lines("spark_shop.jsonl", 1)[0].encode()


def run_headers(text: str) -> str:
    """Read each header that decides about a request, with the text as its value."""
    value = text.encode("latin-1", "replace")
    outcomes = []
    raw = [(b"traceparent", value), (b"baggage", value)]
    trace = request_trace(Headers(raw=raw))
    if trace is not None:
        body = _run_event_body()
        event = parse(body, received=_RECEIVED)
        parse(with_trace(body, event, trace), received=_RECEIVED)
        outcomes.append("trace")
    check = OriginCheck(_no_app, HostNames(frozenset({"localhost"}), local=True))
    for host, origin in ((text, ""), ("localhost", text), (text, text)):
        refusal = check._refusal(host, origin, "http")
        outcomes.append(_kind(refusal) if refusal else "same origin")
    scope = {
        "type": "http", "method": "POST", "path": "/graphql", "query_string": b"",
        "server": ("localhost", 80), "scheme": "http",
        "headers": [
            (b"host", b"localhost"), (b"cookie", value), (b"origin", value),
            (b"sec-fetch-site", value), (b"content-type", value),
        ],
    }  # fmt: skip
    connection = HTTPConnection(scope)
    outcomes.append(f"{bool(token_of(connection))}")
    try:
        outcomes.append(f"{may_count(connection, '/graphql')}")
    except HeadwaterError as error:
        outcomes.append(_kind(error))
    return " ".join(outcomes)


async def _no_app(*_: object) -> None:
    raise AssertionError("no request is sent")


def _first_lines(name: str, number: int) -> tuple[str, ...]:
    lines = (CAPTURES / name).read_text(encoding="utf-8").splitlines()
    return tuple(sorted(lines, key=len)[:number])


_EVENT_TOKENS = (
    '"eventTime"', '"2026-01-01T00:00:00Z"', '"run"', '"runId"', '"job"', '"namespace"', '"name"',
    '"inputs"', '"outputs"', '"facets"', '"columnLineage"', '"symlinks"', '"_deleted": true',
    '"FAIL"', '"COMPLETE"', '"dataset"', '"fields"', '"headwater_answer"', '"parent"', '"0001"',
    '"9999-12-31T23:59:59+23:59"', '{"a": ', "[[", "]]", "true", '"_producer": 1',
)  # fmt: skip
_SQL = (
    "select a, sum(b) as s from t join u using (id) where c > 1 group by a",
    "create table x as with y as (select * from z) select y.a, b.* from y, lateral view explode(c)",
    (
        "merge into t using s on t.id = s.id when matched then update set a = s.a when not matched "
        "then insert *"
    ),
    "insert overwrite table p partition (d='1') select case when a then b else c end from q",
    "alter table t add column c struct<a: int, b: array<string>>; drop view if exists v",
)
_SQL_TOKENS = (
    "select", "from", "where", " join ", "group by", "over (partition by", "union all", "with",
    "lateral view", "pivot", "unnest(", "struct<", "array<", "::", "$$", "merge into", "values",
    "create table", "as", "*", ",", "null", "qualify", "{{ ref('x') }}", "select *", "((((",
)  # fmt: skip
_PYTHON = (
    (
        'df = spark.table("a").where(col("x") > 1).select("y", col("z").alias("w"))\n'
        'df.write.mode("append").saveAsTable("b")\n'
    ),
    'for t in ["a", "b"]:\n    spark.sql(f"insert into {t} select * from s")\n',
    (
        'x = spark.read.format("jdbc").option("dbtable", "t").load()\nx.withColumn("a", x["b"] + 1)'
        '.groupBy("a").agg(sum("c")).write.parquet("s3://b/p")\n'
    ),
)
_PYTHON_TOKENS = (
    "spark.sql(", "spark.table(", ".select(", ".join(", "col(", "lambda x: ", "def f():\n", "f'{",
    ".write", ".saveAsTable(", "[i for i in ", "*args", "**{", "\n    ", "async ", "match x:\n",
)  # fmt: skip
_NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {"cell_type": "code", "source": [_PYTHON[0], "%sql select 1"], "metadata": {}},
            {"cell_type": "code", "source": "%%sql\nselect a from b", "metadata": {}},
        ],
    }
)
_DATABRICKS = (
    "# Databricks notebook source\n" + _PYTHON[0] + "# COMMAND ----------\n# MAGIC %sql\n"
    "# MAGIC select a from b\n"
)
_URNS = (
    "dataset:s3%3A//lake:flights/clean", "run:0198c2f4-aaaa-7bbb-8ccc-123456789012", "schema:#ab",
    "column:file:/raw/planes:tailnum", "artifact:file:/marts/delay:r:1767225600000000",
    "job:spark:flights.clean", "answer:worst-carrier-2013", "source:db:t",
)  # fmt: skip
_STATEMENTS = (
    "MATCH (d:Dataset)-[:FEEDS*1..3]->(j:Job) WHERE d.name =~ 'a.*' RETURN d, COUNT { (j)--() }",
    (
        "CALL (d) { MATCH (d) RETURN [x IN range(1, 9) | reduce(s = '', y IN [1] | s + y)] AS l } "
        "RETURN l ORDER BY l LIMIT $n"
    ),
)
_STATEMENT_TOKENS = (
    "CALL ", "db.labels()", "LOAD CSV FROM", "CREATE (n)", "EXISTS {", "COLLECT {", "/*", "*/",
    "//", "`", "\\u0043", "reduce(", "range(", "=~", "[x IN ", " | ", "UNION", "USE system",
)  # fmt: skip
_HEADERS = (
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "localhost:4000", "[::1]:80",
    "http://localhost", "headwater.dataset=db%3At,userId=alice;p=1", "headwater_session=abc; a=b",
    "same-origin", "application/json; charset=utf-8", "https://[::1]:99999/",
)  # fmt: skip
_SPANS = (
    json.dumps(
        {
            "resourceSpans": [
                {
                    "resource": {
                        "attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]
                    },
                    "scopeSpans": [
                        {
                            "spans": [
                                {
                                    "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
                                    "spanId": "00f067aa0ba902b7",
                                    "name": "n",
                                    "kind": 3,
                                    "startTimeUnixNano": "1767225600000000000",
                                    "endTimeUnixNano": "1767225600000000001",
                                    "status": {"code": 2},
                                }
                            ]
                        }
                    ],
                }
            ]
        }
    ),
    "\n\x12\n\x10\n\x0eservice.name",
)
_SECRETS = (
    "password: x", "postgres://u:p%40/w@h/db", "-----BEGIN PGP", "curl -u a:b", "X-Api-Key: ",
    "Cookie: ", "?sig=a&", "4111 1111 1111 1111", "ana@example.com", "hw_012345678901_", "Bearer ",
    "DE89 3704 0044 0532 0130 00", "+49 170 1234567", "identified by '", "token=", "secret",
)  # fmt: skip

TARGETS = {
    "events": Target(
        tuple(
            line
            for name in ("spark_shop.jsonl", "dbt_shop.jsonl", "iceberg_shop.jsonl")
            for line in _first_lines(name, 3)
        ),
        _EVENT_TOKENS,
        run_event,
    ),
    "redaction": Target(_SECRETS, _SECRETS, run_redaction),
    "urns": Target(_URNS, ("dataset:", "%3A", ":#", "//", "%", ":"), run_urn),
    "cursors": Target(
        (encode_cursor("a", "b"), encode_cursor(1.5, "a", "b"), "WyIyMDI2LTAxLTAxIiwgImEiXQ=="),
        ("WyJ", "==", "-", "_", "MQ", "Infinity"),
        run_cursor,
    ),
    "sql": Target(_SQL, _SQL_TOKENS, run_sql),
    "pyspark": Target(_PYTHON, _PYTHON_TOKENS, run_python),
    "notebooks": Target(
        (_NOTEBOOK, _DATABRICKS), (*_PYTHON_TOKENS, "%sql", "# MAGIC ", '"cells"'), run_notebook
    ),
    "templates": Target(
        ("select {{ ref('a') }} from {% if x %} {{ source('b', 'c') }} {% endif %}",),
        ("{{", "}}", "{%", "%}", "{#", "ref(", "macro", "for x in ", "set ", "config("),
        run_template,
    ),
    "statements": Target(_STATEMENTS, _STATEMENT_TOKENS, run_statement),
    "spans": Target(_SPANS, ('"spans"', '"traceId"', "\n\x12", "\x08\x01"), run_spans),
    "headers": Target(_HEADERS, ("00-", "http://", ":", "@", ",", ";", "=", "%"), run_headers),
}
