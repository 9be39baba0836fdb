"""One request to each route and to each root field, with arguments that find something.

The routes come from the application and the fields from the schema, so a new one is probed too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_required_argument,
    is_required_input_field,
)
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from headwater.graphql.schema import create_schema
from headwater.schema.urns import guid_of

SCHEMA = create_schema()._schema
LEVELS = 2
# The values of arguments, by name: those of one node, and those of the whole graph.
PLAIN = {
    "Int": "1", "Long": "1", "Float": "1", "Boolean": "true", "DateTime": '"2026-01-01T00:00:00Z"',
    "JSON": '{contractId: "c", version: "1.0.0"}',
}  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """The node about which probes ask: its urn and its names."""

    urn: str
    namespace: str
    name: str
    job: str
    run_id: str
    answer_id: str

    def value(self, argument: str) -> str | None:
        """Return the value of an argument that names a node; None for others."""
        return {
            "urn": self.urn, "id": self.urn, "before": self.urn, "after": self.urn,
            "other": self.urn, "namespace": self.namespace, "dataset": self.name,
            "name": self.name, "column": "total", "field": "total", "text": self.name,
            "owner": "team", "tag": "gold", "runId": self.run_id, "answerId": self.answer_id,
            "job": self.job, "guid": guid_of(self.urn), "asset": "DATASET", "source": self.name,
            "producer": "https://example.com/p", "version": "v1", "typeName": "Dataset",
        }.get(argument)  # fmt: skip


@dataclass(frozen=True)
class Probe:
    """One request. `endpoint` is a method and a declared path, or a root type and a field."""

    endpoint: str
    method: str
    path: str
    body: Any = None
    params: Mapping[str, str] = field(default_factory=dict)


def route_probes(app: Starlette, subject: Subject) -> Iterator[Probe]:
    """Yield a probe of each method of each route but GraphQL."""
    params = {
        "q": subject.name, "nodeId": f"dataset:{subject.namespace}:{subject.name}",
        "urn": subject.urn, "format": "json",
    }  # fmt: skip
    for route in app.routes:
        if isinstance(route, Mount) and route.path != "/graphql":
            yield Probe(f"GET {route.path}", "GET", f"{route.path}/")
        if not isinstance(route, Route) or route.path.rstrip("/") == "/graphql":
            continue
        path = route.path
        for name in route.param_convertors:
            value = quote(_segment(name, route.path, subject), safe="")
            path = path.replace(f"{{{name}}}", value).replace(f"{{{name}:path}}", value)
        for method in sorted((route.methods or {"GET", "POST", "PUT"}) - {"HEAD"}):
            is_read = method == "GET"
            yield Probe(
                f"{method} {route.path.rstrip('/') or '/'}",
                method,
                path,
                None if is_read else {},
                params if is_read else {},
            )


def _segment(name: str, path: str, subject: Subject) -> str:
    if name == "id" and ("lineage/" in path or "answers" in path):
        return subject.name
    if name == "id":
        return subject.run_id
    return subject.value(name) or "x"


def field_probes(subject: Subject, roots: tuple[str, ...] = ("Query", "Mutation")) -> list[Probe]:
    """Return a probe of each root field; it asks for every field below, `LEVELS` deep."""
    found = []
    for root in roots:
        kind = SCHEMA.type_map[root]
        assert isinstance(kind, GraphQLObjectType)
        for name, one in kind.fields.items():
            optional = ("namespace", "urn", "dataset", "text", "runId")
            given = _arguments(one.args, subject, () if name in _WHOLE else optional)
            text = f"{root.lower()} {{ {name}{given} {_selection(one.type, subject, LEVELS)} }}"
            found.append(Probe(f"{root}.{name}", "POST", "/graphql", {"query": text}))
    return found


# Fields that are also asked about one node get no optional argument: they list the graph.
_WHOLE = frozenset(
    {
        "runs", "jobs", "datasets", "answers", "findings", "contracts", "contractViolations",
        "failedRuns", "failedChecks", "failingPipelines", "schemaChanges", "personalData",
        "alerts", "models", "overdueRuns", "policyViolations", "competingDatasets",
        "runEvents", "failures", "findingChanges",
    }
)  # fmt: skip


def _arguments(
    args: Mapping[str, GraphQLArgument], subject: Subject, optional: tuple[str, ...] = ()
) -> str:
    written = []
    for name, argument in args.items():
        kind = str(get_named_type(argument.type))
        if is_required_argument(argument) or (name in optional and kind in ("ID", "String")):
            written.append(f"{name}: {value_of(argument.type, name, subject)}")
    return f"({', '.join(written)})" if written else ""


def value_of(type: Any, name: str, subject: Subject) -> str:
    """Return a value of a type, as a query writes it."""
    type = get_nullable_type(type)
    if is_list_type(type):
        return f"[{value_of(type.of_type, name, subject)}]"
    if isinstance(type, GraphQLInputObjectType):
        inner = {
            key: value_of(one.type, key, subject)
            for key, one in type.fields.items()
            if is_required_input_field(one) or key in ("namespace", "name")
        }
        return "{" + ", ".join(f"{key}: {value}" for key, value in inner.items()) + "}"
    if isinstance(type, GraphQLEnumType):
        return str(next(iter(type.values)))
    if str(type) in PLAIN:
        return PLAIN[str(type)]
    return f'"{subject.value(name) or "x"}"'


def _selection(type: Any, subject: Subject, levels: int) -> str:
    """Return a selection of all fields of a type that need no unknown argument."""
    kind = get_named_type(type)
    if is_leaf_type(kind):
        return ""
    if not isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        return "{ __typename }"
    chosen = ["__typename"]
    for name, one in kind.fields.items():
        required = any(is_required_argument(argument) for argument in one.args.values())
        is_leaf = is_leaf_type(get_named_type(one.type))
        if required or (not is_leaf and levels == 1):
            continue
        args = "(first: 20)" if "first" in one.args else ""
        chosen.append(f"{name}{args} {_selection(one.type, subject, levels - 1)}")
    return "{ " + " ".join(chosen) + " }"
