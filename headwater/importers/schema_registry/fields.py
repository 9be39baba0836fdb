"""Columns of registered schemas: Avro, JSON Schema and Protobuf, as fields of OpenLineage. Pure.

A field is `{"name", "type"}`, and `{"fields"}` of a structure or of the structures in a list. Types
keep the words of their schema. A schema that contains itself ends at the repetition. References
can multiply the fields of a short text, so their number is bounded while they are expanded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from headwater.errors import HeadwaterError, QueryError

DEPTH_MAX = 20
FIELDS_MAX = 5_000
# A step is an element that is visited, or a character of a field. Ordinary fields take 50 steps.
STEPS_MAX = 1_000_000
Field = dict[str, Any]
# The column of a topic whose messages are no structures.
VALUE = "value"


class SchemaTextError(QueryError):
    """A text that is no schema of its type."""


class _Expansion:
    """The fields and the steps of one schema so far. Both are bounded."""

    def __init__(self) -> None:
        self.fields = 0
        self._steps = 0

    def count_steps(self, count: int) -> None:
        """Count visited elements or written characters. Raises SchemaTextError at the bound."""
        self._steps += count
        if self._steps > STEPS_MAX:
            raise SchemaTextError(f"the schema takes more than {STEPS_MAX} steps to expand")

    def field(self, name: object, type: str, fields: list[Field] | None = None) -> Field:
        """Return a field, and count it.

        Raises SchemaTextError if its name is no text, or the schema has too many fields.
        """
        if not isinstance(name, str) or not name.strip():
            raise SchemaTextError("the name of a field must be text")
        self.fields += 1
        if self.fields > FIELDS_MAX:
            raise SchemaTextError(f"the schema has more than {FIELDS_MAX} fields")
        self.count_steps(len(name) + len(type))
        return {"name": name, "type": type, **({"fields": fields} if fields else {})}


def read_fields(type: str, text: str, references: Sequence[tuple[str, str]] = ()) -> list[Field]:
    """Return the columns of a schema. Raises SchemaTextError.

    references: the names and texts of the schemas that it imports, those first that others import.
    """
    readers = {"AVRO": _avro_fields, "JSON": _json_fields, "PROTOBUF": _protobuf_fields}
    if type not in readers:
        raise SchemaTextError(f"schemas of type {type[:40]!r} are not read")
    try:
        return readers[type](text, references, _Expansion())
    except HeadwaterError:
        raise
    except RecursionError as error:
        raise SchemaTextError("the schema is nested too deep") from error
    except Exception as error:
        # The readers of schemas raise errors of many kinds for texts that are none.
        raise SchemaTextError(f"no {type} schema: {str(error)[:200]}") from error


def record_name(type: str, text: str) -> str:
    """Return the full name of the record that a schema describes; "" if it names none.

    It is the name and namespace in Avro, the package and first message in Protobuf, and the title
    in JSON Schema, as the serializers of Confluent name subjects after records.
    """
    if type == "PROTOBUF":
        return _protobuf_name(text)
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(schema, dict):
        return ""
    if type == "JSON":
        return str(schema.get("title") or "")
    name, namespace = str(schema.get("name") or ""), str(schema.get("namespace") or "")
    return f"{namespace}.{name}" if name and namespace and "." not in name else name


# Avro


def _avro_fields(
    text: str, references: Sequence[tuple[str, str]], expansion: _Expansion
) -> list[Field]:
    try:
        from fastavro.schema import parse_schema
    except ImportError as error:
        raise missing_extra() from error
    named: dict[str, Any] = {}
    for _, other in references:
        parse_schema(json.loads(other), named_schemas=named)
    parsed: Any = parse_schema(json.loads(text), named_schemas=named)
    type, fields = _avro_type(parsed, named, (), expansion)
    return fields or [expansion.field(VALUE, type)]


def _avro_type(
    schema: Any, named: Mapping[str, Any], within: tuple[str, ...], expansion: _Expansion
) -> tuple[str, list[Field]]:
    """Return the type of an Avro schema in words, and the fields of its structure."""
    expansion.count_steps(len(schema) if isinstance(schema, list) else 1)
    if isinstance(schema, list):
        kinds = [one for one in schema if one != "null"]
        return _avro_type(kinds[0], named, within, expansion) if len(kinds) == 1 else ("union", [])
    if isinstance(schema, str):
        return _avro_named(schema, named, within, expansion)
    kind = schema.get("type")
    if isinstance(kind, dict | list):
        return _avro_type(kind, named, within, expansion)
    if kind in ("record", "error"):
        return "record", _avro_record(schema, named, within, expansion)
    if kind == "array":
        type, nested = _avro_type(schema["items"], named, within, expansion)
        return f"array<{type}>", nested
    if kind == "map":
        fields = expansion.fields
        type, _ = _avro_type(schema["values"], named, within, expansion)
        expansion.fields = fields  # those of the values are left out
        return f"map<string,{type}>", []
    return _avro_logical(str(kind), schema), []


def _avro_named(
    name: str, named: Mapping[str, Any], within: tuple[str, ...], expansion: _Expansion
) -> tuple[str, list[Field]]:
    """Return a primitive type, or the type of a name."""
    if name not in named:
        return name, []
    if name in within or len(within) >= DEPTH_MAX:
        return "record", []
    return _avro_type(named[name], named, within, expansion)


def _avro_record(
    schema: Mapping[str, Any],
    named: Mapping[str, Any],
    within: tuple[str, ...],
    expansion: _Expansion,
) -> list[Field]:
    name = str(schema.get("name"))
    if name in within or len(within) >= DEPTH_MAX:
        return []
    fields = []
    for one in schema["fields"]:
        type, nested = _avro_type(one["type"], named, (*within, name), expansion)
        fields.append(expansion.field(one["name"], type, nested))
    return fields


def _avro_logical(kind: str, schema: Mapping[str, Any]) -> str:
    logical = str(schema.get("logicalType") or "")
    if logical == "decimal":
        return f"decimal({schema.get('precision')},{schema.get('scale') or 0})"
    if logical.startswith(("timestamp", "local-timestamp")):
        return "timestamp"
    return {"date": "date", "uuid": "uuid"}.get(logical, "time" if "time" in logical else kind)


# JSON Schema


def _json_fields(
    text: str, references: Sequence[tuple[str, str]], expansion: _Expansion
) -> list[Field]:
    schema = json.loads(text)
    if not isinstance(schema, dict):
        raise SchemaTextError("a JSON schema must be an object")
    others = {name: json.loads(other) for name, other in references}
    type, fields = _json_type(schema, _JsonScope(schema, others, expansion), ())
    return fields or [expansion.field(VALUE, type)]


class _JsonScope:
    """The schemas that the references of a JSON schema name, and its expansion."""

    def __init__(self, root: Any, others: Mapping[str, Any], expansion: _Expansion) -> None:
        self.expansion = expansion
        self._root = root
        self._others = others

    def resolve(self, reference: str) -> Any:
        """Return the schema that a reference names; an empty one if it is not known."""
        self.expansion.count_steps(len(reference))
        name, _, path = reference.partition("#")
        found = self._others.get(name) if name else self._root
        for part in path.strip("/").split("/") if path.strip("/") else ():
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}


def _json_type(schema: Any, scope: _JsonScope, within: tuple[str, ...]) -> tuple[str, list[Field]]:
    scope.expansion.count_steps(1)
    if not isinstance(schema, dict) or len(within) >= DEPTH_MAX:
        return "any", []
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in within:
            return "object", []
        return _json_type(scope.resolve(reference), scope, (*within, reference))
    for key in ("oneOf", "anyOf"):
        if isinstance(schema.get(key), list):
            scope.expansion.count_steps(len(schema[key]))
            kinds = [one for one in schema[key] if one != {"type": "null"}]
            if len(kinds) == 1:
                return _json_type(kinds[0], scope, (*within, key))
            return "union", []
    properties = dict(_json_properties(schema, scope, within))
    if properties:
        inner = (*within, "properties")
        fields = []
        for name, one in properties.items():
            type, nested = _json_type(one, scope, inner)
            fields.append(scope.expansion.field(name, type, nested))
        return "object", fields
    kind = _json_kind(schema)
    if kind == "array":
        type, nested = _json_type(schema.get("items"), scope, (*within, "items"))
        return f"array<{type}>", nested
    return kind, []


def _json_properties(
    schema: Mapping[str, Any], scope: _JsonScope, within: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    """Yield the properties of an object, with those of the schemas that it combines."""
    own = schema.get("properties")
    if isinstance(own, dict):
        scope.expansion.count_steps(len(own))
        yield from own.items()
    parts = schema.get("allOf")
    for one in parts if isinstance(parts, list) and len(within) < DEPTH_MAX else ():
        scope.expansion.count_steps(1)
        part = scope.resolve(one["$ref"]) if isinstance(one, dict) and "$ref" in one else one
        if isinstance(part, dict):
            yield from _json_properties(part, scope, (*within, "allOf"))


def _json_kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        kind = kinds[0] if len(kinds) == 1 else "union"
    formats = {"date-time": "timestamp", "date": "date", "time": "time", "uuid": "uuid"}
    if kind == "string":
        return formats.get(str(schema.get("format")), "string")
    return str(kind or "any")


# Protobuf


def _protobuf_fields(
    text: str, references: Sequence[tuple[str, str]], expansion: _Expansion
) -> list[Field]:
    try:
        from proto_schema_parser import ast
        from proto_schema_parser.parser import Parser
    except ImportError as error:
        raise missing_extra() from error
    parser = Parser(setup_parser=_end_at_errors)
    file = parser.parse(text)
    messages: dict[str, Any] = {}
    for _, other in references:
        _add_messages(parser.parse(other).file_elements, messages, ast)
    _add_messages(file.file_elements, messages, ast)
    first = next((one for one in file.file_elements if isinstance(one, ast.Message)), None)
    if first is None:
        raise SchemaTextError("a Protobuf schema must have a message")
    return _message_fields(first, messages, ast, (first.name,), expansion)


def _protobuf_name(text: str) -> str:
    """Return the full name of the first message; "" without one."""
    package = re.search(r"^[ \t]*+package\s++([\w.]++)\s*+;", text, re.MULTILINE)
    message = re.search(r"(?:^|[;}])[ \t]*+message\s++(\w++)\s*+\{", text, re.MULTILINE)
    if message is None:
        return ""
    return f"{package[1]}.{message[1]}" if package else message[1]


def _end_at_errors(parser: Any) -> None:
    """Let a parser raise its first error, where it would print it and guess."""
    from antlr4.error.ErrorStrategy import BailErrorStrategy

    parser.removeErrorListeners()
    parser._errHandler = BailErrorStrategy()


def _add_messages(elements: Iterable[Any], messages: dict[str, Any], ast: Any) -> None:
    for one in elements:
        if isinstance(one, ast.Message):
            messages[one.name] = one
            _add_messages(one.elements, messages, ast)


def _message_fields(
    message: Any,
    messages: Mapping[str, Any],
    ast: Any,
    within: tuple[str, ...],
    expansion: _Expansion,
) -> list[Field]:
    fields = []
    expansion.count_steps(len(message.elements))
    for one in message.elements:
        if isinstance(one, ast.OneOf):
            fields += _message_fields(one, messages, ast, within, expansion)
        elif isinstance(one, ast.MapField):
            fields.append(expansion.field(one.name, f"map<{one.key_type},{_last(one.value_type)}>"))
        elif isinstance(one, ast.Field):
            type, nested = _protobuf_type(one.type, messages, ast, within, expansion)
            is_list = one.cardinality == ast.FieldCardinality.REPEATED
            fields.append(expansion.field(one.name, f"array<{type}>" if is_list else type, nested))
    return fields


def _protobuf_type(
    type: str, messages: Mapping[str, Any], ast: Any, within: tuple[str, ...], expansion: _Expansion
) -> tuple[str, list[Field]]:
    if type.endswith("google.protobuf.Timestamp"):
        return "timestamp", []
    name = _last(type)
    if name not in messages:
        return name, []
    if name in within or len(within) >= DEPTH_MAX:
        return "message", []
    return "message", _message_fields(messages[name], messages, ast, (*within, name), expansion)


def _last(type: str) -> str:
    return type.rpartition(".")[2]


def missing_extra() -> HeadwaterError:
    """Return the error of a missing package."""
    return HeadwaterError(
        "schemas need the extra `contracts`",
        hint="Install it with pip install 'headwater[contracts]'.",
    )
