"""The description of everything under REST, as OpenAPI 3.1, made from the types that requests are read and answers are
written with. Only the two routes that take events are told of by hand: they are made elsewhere.
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
            "properties": {name: {"type": "string"} for name in ("code", "message", "field", "mend")},
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
    wanted = {type: None for api in apis for operation in api.operations for type in _types(api, operation)}
    schemas, components = msgspec.json.schema_components(list(wanted), ref_template=_REFS)
    by_type = dict(zip(wanted, schemas, strict=True))
    paths: dict[str, Json] = {}
    for api in apis:
        for operation in api.operations:
            for prefix in api.prefixes:
                told = _operation(api, operation, prefix, by_type)
                paths.setdefault(prefix + operation.path, {})[operation.method.lower()] = told
    for path, told in _event_paths().items():
        paths.setdefault(path, {}).update(told)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Headwater", "version": __version__, "description": "Data lineage over REST."},
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
        str(operation.status): {"description": operation.summary, "content": _json(by_type[operation.answer])}
    }
    refusals = {**operation.refusals, 503: _AWAY}
    if _parameters(operation) or operation.body is not None:
        refusals.setdefault(operation.malformed or api.malformed, "A parameter, or the body, is not what it should be.")
    if operation.body is not None:
        refusals.update(_WITH_BODY)
    for status, why in refusals.items():
        found[str(status)] = {"description": why, "content": _json(error)}
    for status, why in _EVERYWHERE.items():
        found[str(status)] = {"description": why, "content": _json({"$ref": _REFS.format(name="Problem")})}
    return dict(sorted(found.items()))


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _event_paths() -> dict[str, Json]:
    problem = _json({"$ref": _REFS.format(name="Problem")})
    refused = {
        str(status): {"description": why, "content": problem}
        for status, why in {
            400: "Not JSON, or a body that does not unpack.",
            **_EVERYWHERE,
            **_WITH_BODY,
            422: "JSON, but no OpenLineage event; `field` says where.",
            503: _AWAY,
        }.items()
    }
    event = {"type": "object", "description": "A run, job or dataset event of OpenLineage 2-0-2."}
    receipt = {"type": "object", "properties": {"receipt": {"type": "integer"}}, "required": ["receipt"]}
    whole = {
        "type": "object",
        "properties": {"status": {"enum": ["success", "partial_success"]}},
        "required": ["status"],
    }

    def post(id: str, summary: str, body: Json, status: str, answer: Json) -> Json:
        return {
            "post": {
                "operationId": id,
                "summary": summary,
                "tags": ["OpenLineage"],
                "requestBody": {"required": True, "content": _json(body)},
                "responses": {status: {"description": summary, "content": _json(answer)}, **refused},
            }
        }

    return {
        "/api/v1/lineage": post("send_event", "Send one event", event, "201", receipt),
        "/api/v1/lineage/batch": post(
            "send_events", "Send many events", {"type": "array", "items": event}, "200", whole
        ),
    }
