"""The base of every facet, the formats of its texts, and the two ways to read one: strict and
lenient.

Each facet has one definition, a `Facet`. A field that the specification requires and Headwater can
do without is `Expected`: its absence is a fault, and the facet is still read.

- `fault_in` is strict. It returns the first place where a facet breaks its schema.
- `salvage` is lenient. It returns the readable part of a facet: broken entries and broken optional
  fields are absent, a text of another format is kept, and a number sent as text becomes a number.

A null where a field may be absent is no fault.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta

K = TypeVar("K", bound=msgspec.Struct)
T = TypeVar("T")

# Longer texts are decoded each time: the facets of every event of a pipeline are short.
CACHED_BYTES_MAX = 4_096

_URI = r"^[A-Za-z][A-Za-z0-9+.\-]*:\S"
_UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_TIME = r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)(\[[^\]]*\])?$"
_LIFECYCLE = r"^(ALTER|CREATE|DROP|OVERWRITE|RENAME|TRUNCATE)$"
_FORMATS = {
    _URI: "a URI with its scheme",
    _UUID: "a UUID",
    _TIME: "an ISO 8601 time with a zone",
    _LIFECYCLE: "ALTER, CREATE, DROP, OVERWRITE, RENAME or TRUNCATE",
}

Uri = Annotated[str, Meta(pattern=_URI)]
Uuid = Annotated[str, Meta(pattern=_UUID)]
Time = Annotated[str, Meta(pattern=_TIME)]
LifecycleState = Annotated[str, Meta(pattern=_LIFECYCLE)]
# JSON has one kind of number: 3.0 is a whole number, and some senders write it so.
Integer = int | Annotated[float, Meta(multiple_of=1)]
# Required by the specification; a facet without it is faulty and still readable.
Expected = Annotated[T | None, Meta(extra={"expected": True})]
# A text that some senders write as a whole number.
Label = Annotated[str, Meta(extra={"accepts_number": True})]

_SCHEME = re.compile(_URI)
_ZONE = re.compile(r"([Zz]|[+-]\d\d(:?\d\d(:?\d\d(\.\d+)?)?)?)(\[[^\]]*\])?$")


def has_scheme(text: str) -> bool:
    """Return True if a text begins with a URI scheme and a colon."""
    return _SCHEME.match(text) is not None


def has_zone(text: str) -> bool:
    """Return True if an ISO 8601 time names its zone."""
    # The dashes of a date are no zone, so only the text behind the date counts.
    return _ZONE.search(text.strip()[10:]) is not None


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """An object inside a facet."""


class Facet(Part, frozen=True, kw_only=True):
    """Any facet. `schema.conformance` checks `_producer` and `_schemaURL`: many senders omit
    them.
    """

    deleted: bool | None = msgspec.field(name="_deleted", default=None)


class Fault(NamedTuple):
    """The path at which a facet breaks its schema, without indexes, and the reason."""

    path: str
    message: str


def fault_in(kind: type[msgspec.Struct], raw: bytes) -> Fault | None:
    """Return the first fault of a facet; None if it keeps to its schema or is deleted."""
    try:
        facet = _decoder(kind).decode(raw)
    except msgspec.ValidationError as error:
        fault: Fault | None = _fault(str(error))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return Fault("", f"cannot be read: {error}"[:_MESSAGE_MAX])
    else:
        fault = _absent(facet)
    return None if fault is None or is_deleted(raw) else fault


def salvage(kind: type[K], raw: bytes | str | msgspec.Raw) -> K | None:
    """Return the readable part of a facet; None if it is no object or lacks a field it cannot do
    without.

    Do not change the result: equal texts may share one.
    """
    try:
        decoder: msgspec.json.Decoder[K] = _decoder(kind)
        return decoder.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    text = raw if isinstance(raw, str) else bytes(raw)
    salvaged = _salvage_cached if len(text) <= CACHED_BYTES_MAX else _salvage
    return salvaged(kind, text)


def is_deleted(raw: bytes) -> bool:
    """Return True if the facet has `_deleted: true`; its other fields are then optional."""
    if b'"_deleted"' not in raw:
        return False
    try:
        return msgspec.json.decode(raw, type=_Deleted).deleted is True
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


class _Deleted(msgspec.Struct):
    deleted: Any = msgspec.field(name="_deleted", default=None)


@lru_cache(maxsize=256)
def _decoder(kind: type[K]) -> msgspec.json.Decoder[K]:
    return msgspec.json.Decoder(kind)


_MESSAGE_MAX = 200
_PATH = re.compile(r" - at `\$\.?([^`]*)`$")
_INDEX = re.compile(r"\[[^\]]*\]")
_MISSING = re.compile(r"missing required field `([^`]+)`")
_PATTERN = re.compile(r"Expected `str` matching regex (?P<quote>['\"])(.+)(?P=quote)", re.DOTALL)


def _fault(message: str) -> Fault:
    """Convert a message of msgspec to a fault."""
    location = _PATH.search(message)
    missing = _MISSING.search(message)
    names = [_INDEX.sub("[]", location[1]) if location else "", missing[1] if missing else ""]
    reason = _PATTERN.sub(lambda match: f"Expected {_format(match[2])}", _PATH.sub("", message))
    return Fault(".".join(name for name in names if name), reason[:_MESSAGE_MAX])


def _format(pattern: str) -> str:
    return _FORMATS.get(pattern.replace("\\\\", "\\"), "another form")


class _Field(NamedTuple):
    """A field in which an expected value may be absent: of its object, or of an object within."""

    attribute: str
    key: str
    is_expected: bool


@lru_cache(maxsize=256)
def _fields(kind: type[msgspec.Struct]) -> tuple[_Field, ...]:
    return tuple(
        _Field(field.name, field.encode_name, _is_expected(field.type))
        for field in msgspec.structs.fields(kind)
        if _holds_expected(field.type)
    )


def _holds_expected(kind: Any, seen: frozenset[type] = frozenset()) -> bool:
    """Return True if an expected value can be absent from a value of this type, at any depth."""
    if _is_expected(kind):
        return True
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        inside = seen | {kind}
        fields = msgspec.structs.fields(kind)
        return kind not in seen and any(_holds_expected(field.type, inside) for field in fields)
    return any(_holds_expected(argument, seen) for argument in get_args(kind))


def _is_expected(kind: Any) -> bool:
    return get_origin(kind) is Annotated and _has_mark(kind, "expected")


def _has_mark(kind: Any, mark: str) -> bool:
    return any(isinstance(meta, Meta) and mark in (meta.extra or ()) for meta in kind.__metadata__)


def _absent(value: Any, path: str = "") -> Fault | None:
    """Return the first absent field that the specification requires, at any depth."""
    if isinstance(value, msgspec.Struct):
        for field in _fields(type(value)):
            inner = getattr(value, field.attribute)
            if inner is None and field.is_expected:
                return Fault(
                    f"{path}.{field.key}".lstrip("."),
                    f"Object missing required field `{field.key}`",
                )
            fault = _absent(inner, f"{path}.{field.key}")
            if fault is not None:
                return fault
    elif isinstance(value, list):
        faults = (_absent(item, f"{path}[]") for item in value)
        return next((fault for fault in faults if fault is not None), None)
    elif isinstance(value, dict):
        faults = (_absent(item, f"{path}[]") for item in value.values())
        return next((fault for fault in faults if fault is not None), None)
    return None


_BROKEN = object()


def _salvage(kind: type[K], raw: bytes | str) -> K | None:
    try:
        readable = _readable(msgspec.json.decode(raw), kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return readable if isinstance(readable, kind) else None


_salvage_cached = lru_cache(maxsize=8_192)(_salvage)


def _readable(value: Any, kind: Any) -> Any:
    """Return `value` as `kind`, without its broken parts; `_BROKEN` if nothing is left."""
    if not _has_tag(value, kind):
        return _BROKEN
    try:
        return msgspec.convert(value, kind, strict=False)
    except (msgspec.ValidationError, RecursionError):
        pass
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _readable_struct(value, kind) if isinstance(value, dict) else _BROKEN
    origin = get_origin(kind)
    reader = _READERS.get(origin)
    return _BROKEN if reader is None else reader(value, kind)


def _readable_union(value: Any, kind: Any) -> Any:
    arms = (_readable(value, arm) for arm in get_args(kind) if arm is not type(None))
    return next((arm for arm in arms if arm is not _BROKEN), _BROKEN)


def _readable_list(value: Any, kind: Any) -> Any:
    if not isinstance(value, list):
        return _BROKEN
    items = (_readable(item, get_args(kind)[0]) for item in value)
    return [item for item in items if item is not _BROKEN]


def _readable_dict(value: Any, kind: Any) -> Any:
    if not isinstance(value, dict):
        return _BROKEN
    entries = {key: _readable(item, get_args(kind)[1]) for key, item in value.items()}
    return {key: item for key, item in entries.items() if item is not _BROKEN}


def _readable_annotated(value: Any, kind: Any) -> Any:
    """Read a text of another format as it was sent; hold numbers to their constraints."""
    if type(value) is int and _has_mark(kind, "accepts_number"):
        return str(value)
    base = get_args(kind)[0]
    return _BROKEN if base in (int, float) else _readable(value, base)


_READERS = {
    Union: _readable_union,
    UnionType: _readable_union,
    list: _readable_list,
    dict: _readable_dict,
    Annotated: _readable_annotated,
}


def _has_tag(value: Any, kind: Any) -> bool:
    """Return True unless `kind` has a tag that `value` lacks.

    Outside of a union msgspec does not check the tag, so an object without one would fit any arm.
    """
    config = getattr(kind, "__struct_config__", None)
    if config is None or config.tag is None:
        return True
    return isinstance(value, dict) and value.get(config.tag_field) == config.tag


def _readable_struct(value: dict[str, Any], kind: type[msgspec.Struct]) -> Any:
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        key = field.encode_name
        readable = _readable(value[key], field.type) if key in value else _BROKEN
        if readable is not _BROKEN:
            fields[field.name] = readable
        elif field.required:
            return _BROKEN
    try:
        return kind(**fields)
    except ValueError:
        return _BROKEN
