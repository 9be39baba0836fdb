"""The description of everything under REST, as OpenAPI 3.1, made from the types that requests are read and answers are
written with. Only those that take events or Cypher are told of by hand: they have no types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from headwater import __version__
from headwater.rest.operations import Api, Operation

PATH = "/openapi.json"
_REFS = "#/components/schemas/{name}"
_PART = re.compile(r"\{(\w+)\}")
Json = dict[str, Any]

_PROBLEM: Json = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                name: {"type": "string"} for name in ("code", "message", "field", "hint")
            },
            "required": ["code", "message"],
        }
    },
    "required": ["error"],
}
_EVERYWHERE = {401: "A key is needed, or this one is not valid.", 403: "The key is not for this."}
_WITH_BODY = {413: "The body is too large.", 415: "The body is packed in another way than gzip."}
_AWAY = "Neo4j, or the disk, cannot be used now; `Retry-After` says when to try again."


def document(apis: Sequence[Api]) -> Json:
    """The whole description."""
    wanted = {
        type: None
        for api in apis
        for operation in api.operations
        for type in _types(api, operation)
    }
    schemas, components = msgspec.json.schema_components(list(wanted), ref_template=_REFS)
    by_type = dict(zip(wanted, schemas, strict=True))
    paths: dict[str, Json] = {}
    for api in apis:
        for operation in api.operations:
            for prefix in api.prefixes:
                told = _operation(api, operation, prefix, by_type)
                paths.setdefault(prefix + operation.path, {})[operation.method.lower()] = told
    for path, told in _plain_paths().items():
        paths.setdefault(path, {}).update(told)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Headwater",
            "version": __version__,
            "description": "Data lineage over REST.",
        },
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {**components, "Problem": _PROBLEM},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        # Where no key is needed, none need be sent.
        "security": [{"key": []}, {}],
    }


def _types(api: Api, operation: Operation) -> Iterable[Any]:
    yield api.error
    yield operation.answer
    if operation.body is not None:
        yield operation.body


def _operation(api: Api, operation: Operation, prefix: str, by_type: dict[Any, Json]) -> Json:
    told: Json = {
        "operationId": f"{operation.handler.__name__}{prefix.replace('/', '_')}_{api.name}",
        "summary": operation.summary,
        "tags": [api.name],
        "parameters": _parameters(operation),
        "responses": _responses(api, operation, by_type),
    }
    if operation.body is not None:
        told["requestBody"] = {"required": True, "content": _json(by_type[operation.body])}
    return told


def _parameters(operation: Operation) -> list[Json]:
    """One for each field of the arguments: a part of the path where the path names it, else a parameter."""
    _, components = msgspec.json.schema_components([operation.arguments])
    schema = components[operation.arguments.__name__]
    parts = set(_PART.findall(operation.path))
    return [
        {
            "name": name,
            "in": "path" if name in parts else "query",
            "required": name in parts or name in schema.get("required", ()),
            "schema": shape,
        }
        for name, shape in schema["properties"].items()
    ]


def _responses(api: Api, operation: Operation, by_type: dict[Any, Json]) -> Json:
    error = by_type[api.error]
    found: Json = {
        str(operation.status): {
            "description": operation.summary,
            "content": _json(by_type[operation.answer]),
        }
    }
    for form in operation.forms:
        found[str(operation.status)]["content"][form] = {
            "schema": {"type": "string", "format": "binary"}
        }
    refusals = {**operation.refusals, 503: _AWAY}
    if _parameters(operation) or operation.body is not None:
        refusals.setdefault(
            operation.malformed or api.malformed,
            "A parameter, or the body, is not what it should be.",
        )
    if operation.body is not None:
        refusals.update(_WITH_BODY)
    for status, why in refusals.items():
        found[str(status)] = {"description": why, "content": _json(error)}
    for status, why in _EVERYWHERE.items():
        # Judged before the request is looked at, or, by what is in a body, afterwards.
        found[str(status)] = {
            "description": why,
            "content": _json({"anyOf": [{"$ref": _REFS.format(name="Problem")}, error]}),
        }
    return dict(sorted(found.items()))


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _plain_paths() -> dict[str, Json]:
    """The routes whose errors are of no client's shape: events, and auditors' Cypher."""
    event = {"type": "object", "description": "A run, job or dataset event of OpenLineage 2-0-2."}
    receipt = {
        "type": "object",
        "properties": {"receipt": {"type": "integer"}},
        "required": ["receipt"],
    }
    states = {"enum": ["success", "partial_success"]}
    whole = {"type": "object", "properties": {"status": states}, "required": ["status"]}
    parameters = {"type": "object", "description": "The parameters of the query, by name."}
    statement = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "parameters": parameters},
        "required": ["query"],
        "additionalProperties": False,
    }
    table = {
        "type": "object",
        "properties": {
            "columns": {"type": "array"},
            "rows": {"type": "array"},
            "truncated": {"type": "boolean"},
        },
        "required": ["columns", "rows", "truncated"],
    }
    queries = {
        "type": "object",
        "properties": {"queries": {"type": "array"}},
        "required": ["queries"],
    }
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        "/api/v1/lineage": {
            "post": _plain("send_event", "Send one event", receipt, body=event, status="201")
        },
        "/api/v1/lineage/batch": {
            "post": _plain(
                "send_events", "Send many events", whole, body={"type": "array", "items": event}
            )
        },
        "/cypher": {
            "get": _plain("list_queries", "The auditors' library", queries),
            "post": _plain(
                "run_statement", "Run one statement that only reads", table, body=statement
            ),
        },
        "/cypher/{name}": {
            "post": {
                **_plain("run_query", "Run a query of the library", table, body=parameters),
                "parameters": [name],
            }
        },
    }


def _plain(
    id: str, summary: str, answer: Json, *, body: Json | None = None, status: str = "200"
) -> Json:
    problem = _json({"$ref": _REFS.format(name="Problem")})
    refusals = {**_EVERYWHERE, 503: _AWAY}
    if body is not None:
        refusals |= {
            400: "What is sent cannot be read or run.",
            404: "There is no such query.",
            **_WITH_BODY,
        }
        refusals[422] = "JSON, and not what is asked for; `field` says where."
    told: Json = {
        "operationId": id,
        "summary": summary,
        "tags": ["Events" if "event" in id else "Cypher"],
        "responses": {
            status: {"description": summary, "content": _json(answer)},
            **{
                str(code): {"description": why, "content": problem}
                for code, why in sorted(refusals.items())
            },
        },
    }
    return (
        told
        if body is None
        else {**told, "requestBody": {"required": True, "content": _json(body)}}
    )
