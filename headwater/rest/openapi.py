"""The description of the REST API as OpenAPI 3.1.

It is generated from the types by which requests are read and answers are written. Only the routes
for events and Cypher are described by hand, since they have no such types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from headwater import __version__
from headwater.rest.operations import Api, Operation

PATH = "/openapi.json"
_REFS = "#/components/schemas/{name}"
_SEGMENT = re.compile(r"\{(\w+)\}")
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
_EVERYWHERE = {
    401: "The key is missing or not valid.",
    403: "The key does not allow this operation.",
}
_WITH_BODY = {413: "The body is too large.", 415: "The body has an encoding other than gzip."}
_UNAVAILABLE = "Neo4j or the disk is unavailable; try again after `Retry-After` seconds."


def document(apis: Sequence[Api]) -> Json:
    """Return the OpenAPI document of these APIs."""
    types: dict[Any, None] = {}
    for api in apis:
        for operation in api.operations:
            types.update(dict.fromkeys(_types(api, operation)))
    schemas, components = msgspec.json.schema_components(list(types), ref_template=_REFS)
    by_type = dict(zip(types, schemas, strict=True))
    paths: dict[str, Json] = {}
    for api in apis:
        for operation in api.operations:
            for prefix in api.prefixes:
                described = _operation(api, operation, prefix, by_type)
                path = paths.setdefault(prefix + operation.path, {})
                path[operation.method.lower()] = described
    for name, methods in _untyped_paths().items():
        paths.setdefault(name, {}).update(methods)
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
        # The empty object: an installation without keys needs none.
        "security": [{"key": []}, {}],
    }


def _types(api: Api, operation: Operation) -> Iterable[Any]:
    yield api.error_type
    yield operation.answer
    if operation.body is not None:
        yield operation.body


def _operation(api: Api, operation: Operation, prefix: str, by_type: dict[Any, Json]) -> Json:
    described: Json = {
        "operationId": f"{operation.handler.__name__}{prefix.replace('/', '_')}_{api.name}",
        "summary": operation.summary,
        "tags": [api.name],
        "parameters": _parameters(operation),
        "responses": _responses(api, operation, by_type),
    }
    if operation.body is not None:
        described["requestBody"] = {"required": True, "content": _json(by_type[operation.body])}
    return described


def _parameters(operation: Operation) -> list[Json]:
    """Return a parameter for each field: in the path if the path names it, else in the query."""
    _, components = msgspec.json.schema_components([operation.params])
    schema = components[operation.params.__name__]
    segments = set(_SEGMENT.findall(operation.path))
    return [
        {
            "name": name,
            "in": "path" if name in segments else "query",
            "required": name in segments or name in schema.get("required", ()),
            "schema": shape,
        }
        for name, shape in schema["properties"].items()
    ]


def _responses(api: Api, operation: Operation, by_type: dict[Any, Json]) -> Json:
    error = by_type[api.error_type]
    responses: Json = {
        str(operation.status): {
            "description": operation.summary,
            "content": _json(by_type[operation.answer]),
        }
    }
    for media_type in operation.media_types:
        responses[str(operation.status)]["content"][media_type] = {
            "schema": {"type": "string", "format": "binary"}
        }
    errors = {**operation.errors, 503: _UNAVAILABLE}
    if _parameters(operation) or operation.body is not None:
        errors.setdefault(
            operation.malformed_status or api.malformed_status,
            "A parameter or the body does not fit its type.",
        )
    if operation.body is not None:
        errors.update(_WITH_BODY)
    for status, text in errors.items():
        responses[str(status)] = {"description": text, "content": _json(error)}
    for status, text in _EVERYWHERE.items():
        # The guard refuses a request before it is read; a handler may refuse it by its body.
        responses[str(status)] = {
            "description": text,
            "content": _json({"anyOf": [{"$ref": _REFS.format(name="Problem")}, error]}),
        }
    return dict(sorted(responses.items()))


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _untyped_paths() -> dict[str, Json]:
    """Return the routes of events, Cypher and evidence packs, which are described by hand."""
    event = {"type": "object", "description": "A run, job or dataset event of OpenLineage 2-0-2."}
    accepted = {
        "type": "object",
        "properties": {"sequence": {"type": "integer"}},
        "required": ["sequence"],
    }
    states = {"enum": ["success", "partial_success"]}
    batch = {"type": "object", "properties": {"status": states}, "required": ["status"]}
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
    pack = {
        "type": "object",
        "properties": {"pack": {"type": "object"}, "digest": {"type": "object"}},
        "required": ["pack", "digest"],
    }
    return {
        "/api/v1/evidence": {
            "get": {
                **_untyped(
                    "get_evidence",
                    "The evidence pack of a node",
                    pack,
                    refusals={400: "A parameter is malformed.", 404: "There is no such node."},
                ),
                "tags": ["Evidence"],
                "parameters": [
                    _query_parameter("urn", {"type": "string"}, required=True),
                    _query_parameter("at", {"type": "string", "format": "date-time"}),
                    _query_parameter("depth", {"type": "integer"}),
                ],
            }
        },
        "/api/v1/lineage": {
            "post": _untyped("send_event", "Send one event", accepted, body=event, status="201")
        },
        "/api/v1/lineage/batch": {
            "post": _untyped(
                "send_events", "Send many events", batch, body={"type": "array", "items": event}
            )
        },
        "/cypher": {
            "get": _untyped("list_queries", "The catalog of audit queries", queries),
            "post": _untyped("run_statement", "Run one read-only statement", table, body=statement),
        },
        "/cypher/{name}": {
            "post": {
                **_untyped("run_query", "Run an audit query", table, body=parameters),
                "parameters": [name],
            }
        },
    }


def _query_parameter(name: str, schema: Json, *, required: bool = False) -> Json:
    return {"name": name, "in": "query", "required": required, "schema": schema}


def _untyped(
    id: str,
    summary: str,
    answer: Json,
    *,
    body: Json | None = None,
    status: str = "200",
    refusals: Mapping[int, str] = MappingProxyType({}),
) -> Json:
    problem = _json({"$ref": _REFS.format(name="Problem")})
    errors = {**_EVERYWHERE, 503: _UNAVAILABLE, **refusals}
    if body is not None:
        errors |= {
            400: "The body cannot be read, or the statement cannot run.",
            404: "No query has this name.",
            **_WITH_BODY,
        }
        errors[422] = "The body is JSON of another type; `field` names the place."
    described: Json = {
        "operationId": id,
        "summary": summary,
        "tags": ["Events" if "event" in id else "Cypher"],
        "responses": {
            status: {"description": summary, "content": _json(answer)},
            **{
                str(code): {"description": text, "content": problem}
                for code, text in sorted(errors.items())
            },
        },
    }
    if body is not None:
        described["requestBody"] = {"required": True, "content": _json(body)}
    return described
