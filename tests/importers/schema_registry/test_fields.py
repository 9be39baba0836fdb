"""Columns of Avro, JSON and Protobuf schemas."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from headwater.importers.schema_registry.fields import SchemaTextError, read_fields, record_name


def avro(*fields: Any, **more: Any) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": list(fields), **more})


def test_avro() -> None:
    line = {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}]}
    price = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
    found = read_fields(
        "AVRO",
        avro(
            {"name": "id", "type": "long"},
            {"name": "mail", "type": ["null", "string"], "default": None},
            {"name": "price", "type": price},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "lines", "type": {"type": "array", "items": line}},
            {"name": "first", "type": ["null", "Line"]},
            {"name": "notes", "type": {"type": "map", "values": "string"}},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A"]}},
            {"name": "either", "type": ["int", "string"]},
        ),
    )
    sku = [{"name": "sku", "type": "string"}]
    assert found == [
        {"name": "id", "type": "long"},
        {"name": "mail", "type": "string"},
        {"name": "price", "type": "decimal(10,2)"},
        {"name": "at", "type": "timestamp"},
        {"name": "day", "type": "date"},
        {"name": "lines", "type": "array<record>", "fields": sku},
        {"name": "first", "type": "record", "fields": sku},
        {"name": "notes", "type": "map<string,string>"},
        {"name": "kind", "type": "enum"},
        {"name": "either", "type": "union"},
    ]


def test_an_avro_schema_that_contains_itself_and_one_that_imports() -> None:
    tree = avro({"name": "next", "type": ["null", "Order"]})
    assert read_fields("AVRO", tree) == [{"name": "next", "type": "record"}]
    line = json.dumps(
        {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}]}
    )
    found = read_fields("AVRO", avro({"name": "line", "type": "Line"}), [("Line", line)])
    assert found[0]["fields"] == [{"name": "sku", "type": "string"}]
    assert read_fields("AVRO", '"long"') == [{"name": "value", "type": "long"}]


def test_json() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "mail": {"type": ["null", "string"]},
            "at": {"type": "string", "format": "date-time"},
            "address": {"$ref": "#/definitions/Address"},
            "lines": {"type": "array", "items": {"properties": {"sku": {"type": "string"}}}},
            "either": {"oneOf": [{"type": "null"}, {"type": "number"}]},
            "self": {"$ref": "#"},
            "gone": {"$ref": "#/definitions/Nobody"},
            "far": {"$ref": "far.json#/definitions/F"},
        },
        "allOf": [{"properties": {"more": True}}],
        "definitions": {"Address": {"properties": {"city": {"type": "string"}}}},
    }
    far = json.dumps({"definitions": {"F": {"type": "boolean"}}})
    found = {
        one["name"]: one for one in read_fields("JSON", json.dumps(schema), [("far.json", far)])
    }
    types = {name: one["type"] for name, one in found.items()}
    assert types == {
        "id": "integer",
        "mail": "string",
        "at": "timestamp",
        "address": "object",
        "lines": "array<object>",
        "either": "number",
        "self": "object",
        "gone": "any",
        "far": "boolean",
        "more": "any",
    }
    assert found["address"]["fields"] == [{"name": "city", "type": "string"}]
    assert found["lines"]["fields"] == [{"name": "sku", "type": "string"}]
    assert read_fields("JSON", '{"type": "string"}') == [{"name": "value", "type": "string"}]


def test_protobuf() -> None:
    text = """syntax = "proto3"; package shop;
    message Order {
      int64 id = 1;
      repeated Line lines = 2;
      map<string, int32> counts = 3;
      oneof contact { string mail = 4; string phone = 5; }
      google.protobuf.Timestamp at = 6;
      Order parent = 7;
      shop.other.Address address = 8;
      message Line { string sku = 1; }
      enum Kind { NONE = 0; }
      Kind kind = 9;
    }"""
    address = 'syntax = "proto3"; message Address { string city = 1; }'
    assert read_fields("PROTOBUF", text, [("address.proto", address)]) == [
        {"name": "id", "type": "int64"},
        {"name": "lines", "type": "array<message>", "fields": [{"name": "sku", "type": "string"}]},
        {"name": "counts", "type": "map<string,int32>"},
        {"name": "mail", "type": "string"},
        {"name": "phone", "type": "string"},
        {"name": "at", "type": "timestamp"},
        {"name": "parent", "type": "message"},
        {"name": "address", "type": "message", "fields": [{"name": "city", "type": "string"}]},
        {"name": "kind", "type": "Kind"},
    ]


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("AVRO", "{"),
        ("AVRO", '{"type": "record"}'),
        ("AVRO", avro({"name": "a", "type": "Unknown"})),
        ("AVRO", avro({"name": 7, "type": "int"})),
        ("JSON", "[1]"),
        ("JSON", "{"),
        ("PROTOBUF", "message {"),
        ("PROTOBUF", "message A { int64 }"),
        ("PROTOBUF", 'syntax = "proto3";'),
        ("THRIFT", "struct A {}"),
        ("JSON", "[" * 100_000),
        (
            "AVRO",
            json.dumps(
                {
                    "type": "record",
                    "name": "A",
                    "fields": [{"name": f"f{n}", "type": "int"} for n in range(6_000)],
                }
            ),
        ),
    ],
)
def test_texts_that_are_no_schemas(type: str, text: str) -> None:
    with pytest.raises(SchemaTextError):
        read_fields(type, text)


def avro_levels(level: int, type: Any) -> Any:
    """Return a record that names the record of the next level twice, down to a type."""
    if level == 0:
        return type
    inner = avro_levels(level - 1, type)
    second = inner["name"] if isinstance(inner, dict) else inner
    fields = [{"name": "a", "type": inner}, {"name": "b", "type": second}]
    return {"type": "record", "name": f"R{level}", "fields": fields}


def avro_maps(level: int) -> Any:
    """Return a record of two maps of the record of the next level."""
    if level == 0:
        return "string"
    inner = avro_maps(level - 1)
    second = inner["name"] if isinstance(inner, dict) else inner
    fields = [
        {"name": name, "type": {"type": "map", "values": values}}
        for name, values in (("a", inner), ("b", second))
    ]
    return {"type": "record", "name": f"R{level}", "fields": fields}


def json_levels(part: str) -> str:
    """Return a JSON schema of 19 levels, each with three references to the next."""

    def level(next: int) -> dict[str, Any]:
        each = [{"$ref": f"#/d/m{next}"} for _ in "abc"]
        return {part: dict(zip("abc", each, strict=True)) if part == "properties" else each}

    levels: dict[str, Any] = {f"m{number}": level(number + 1) for number in range(19)}
    return json.dumps({**level(0), "d": {**levels, "m19": {"type": "string"}}})


PROTOBUF_LEVELS = 'syntax = "proto3";' + "".join(
    f"message M{level} {{ M{level + 1} a = 1; M{level + 1} b = 2; }}" for level in range(20)
)
PROTOBUF_EMPTY = 'syntax = "proto3";' + "".join(
    f"message M{level} {{ {body} }}"
    for level, body in enumerate(
        [" ".join(f"M1 f{number} = {number};" for number in range(1, 4_001)), "option a = 1;" * 500]
    )
)


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("PROTOBUF", PROTOBUF_LEVELS + "message M20 { string a = 1; }"),
        ("PROTOBUF", PROTOBUF_EMPTY),
        ("JSON", json_levels("properties")),
        ("JSON", json_levels("allOf")),
        ("AVRO", json.dumps(avro_levels(20, "string"))),
        ("AVRO", json.dumps(avro_levels(20, ["null", "string"]))),
        ("AVRO", json.dumps(avro_maps(20))),
        ("AVRO", json.dumps(avro_levels(11, "string")).replace('"a"', f'"{"a" * 2_000}"')),
    ],
)
def test_references_that_multiply_end_at_a_bound(type: str, text: str) -> None:
    started = time.monotonic()
    with pytest.raises(SchemaTextError, match=r"more than (5000 fields|1000000 steps)"):
        read_fields(type, text)
    assert time.monotonic() - started < 20.0


def test_the_fields_of_map_values_do_not_count() -> None:
    fields = [{"name": f"f{number}", "type": "int"} for number in range(3_000)]
    value = {"type": "record", "name": "Value", "fields": fields}
    text = avro({"name": "values", "type": {"type": "map", "values": value}}, *fields)
    assert len(read_fields("AVRO", text)) == 3_001


def test_a_deep_schema_ends() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        deep = {"properties": {"a": deep}}
    [one] = read_fields("JSON", json.dumps(deep))
    assert one["name"] == "a"


@pytest.mark.parametrize(
    ("type", "text", "name"),
    [
        ("AVRO", '{"type": "record", "name": "Order", "namespace": "shop"}', "shop.Order"),
        ("AVRO", '{"type": "record", "name": "shop.Order", "namespace": "x"}', "shop.Order"),
        ("AVRO", '{"type": "record", "name": "Order"}', "Order"),
        ("AVRO", '"string"', ""),
        ("AVRO", "{", ""),
        ("JSON", '{"title": "Order", "type": "object"}', "Order"),
        ("JSON", "[]", ""),
        ("PROTOBUF", 'syntax = "proto3";\npackage shop.v1;\nmessage Order {}', "shop.v1.Order"),
        ("PROTOBUF", 'syntax = "proto3"; message Click { string page = 1; }', "Click"),
        ("PROTOBUF", "nothing", ""),
        ("PROTOBUF", "  package\n\nshop ;\n\n  message\nOrder\n{}", "shop.Order"),
        # Each line was the start of another attempt.
        ("PROTOBUF", "\n" * 200_000 + "message Order {}", "Order"),
    ],
)
def test_the_name_of_a_record(type: str, text: str, name: str) -> None:
    assert record_name(type, text) == name
