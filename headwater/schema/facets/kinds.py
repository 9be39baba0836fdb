"""What all facets share: their base, the formats of their texts, and the two ways of reading one.

`read` is strict: a facet keeps to its schema or it is None. `salvage` takes what can be read and leaves out what
cannot: one bad entry of a column lineage must not cost the others. A null where a field may be absent is no fault.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta

K = TypeVar("K", bound=msgspec.Struct)

# Longer texts are decoded each time: facets that come with every event of a pipeline are short.
REMEMBERED_BYTES_MAX = 4_096

_URI = r"^[A-Za-z][A-Za-z0-9+.\-]*:\S"
_UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_TIME = r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)(\[[^\]]*\])?$"
_FORMATS = {_URI: "a URI with its scheme", _UUID: "a UUID", _TIME: "an ISO 8601 time with a zone"}

Uri = Annotated[str, Meta(pattern=_URI)]
Uuid = Annotated[str, Meta(pattern=_UUID)]
Time = Annotated[str, Meta(pattern=_TIME)]
# JSON knows one kind of number: 3.0 is a whole one, and some senders write it so.
Integer = int | Annotated[float, Meta(multiple_of=1)]


_scheme = re.compile(_URI)
_zone = re.compile(r"([Zz]|[+-]\d\d(:?\d\d(:?\d\d(\.\d+)?)?)?)(\[[^\]]*\])?$")


def has_scheme(text: str) -> bool:
    """Whether a text may be a URI: it begins with a scheme and a colon."""
    return _scheme.match(text) is not None


def has_zone(text: str) -> bool:
    """Whether a time says in which zone it is."""
    # The dashes of a date are no zone: only what comes after the hours counts.
    return _zone.search(text.strip()[10:]) is not None


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """An object inside a facet."""


class Facet(Part, frozen=True, kw_only=True):
    """Any facet. Who sent it and by which schema is judged apart (`schema.conformance`): many senders leave it out."""

    producer: Any = msgspec.field(name="_producer", default=None)
    schema_url: Any = msgspec.field(name="_schemaURL", default=None)
    deleted: bool | None = msgspec.field(name="_deleted", default=None)


class Fault(NamedTuple):
    """Where a facet breaks its schema, indexes left out so that like meets like, and how."""

    path: str
    message: str


def read(kind: type[K], raw: bytes | str | msgspec.Raw) -> K | None:
    """A facet that keeps to its schema; None when it does not."""
    try:
        decoder: msgspec.json.Decoder[K] = _decoder(kind)
        return decoder.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def fault(kind: type[msgspec.Struct], raw: bytes) -> Fault | None:
    """The first thing in which a facet breaks its schema; None when it keeps to it, or says it is deleted."""
    try:
        _decoder(kind).decode(raw)
    except msgspec.ValidationError as error:
        return None if is_deleted(raw) else _fault(str(error))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return Fault("", f"cannot be read: {error}"[:_MESSAGE_MAX])
    return None


def salvage(kind: type[K], raw: bytes | str | msgspec.Raw) -> K | None:
    """What can be read of a facet: entries and optional fields that break the schema are left out.

    None when it is no object, or a field of the facet itself that must be there is missing or of another type.
    """
    whole = read(kind, raw)
    if whole is not None:
        return whole
    try:
        kept = _kept(msgspec.json.decode(raw), kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return kept if isinstance(kept, kind) else None


def is_deleted(raw: bytes) -> bool:
    """Whether a facet says that it is no more: then nothing else need be in it."""
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
    at = _PATH.search(message)
    missing = _MISSING.search(message)
    names = [_INDEX.sub("[]", at[1]) if at else "", missing[1] if missing else ""]
    said = _PATTERN.sub(lambda found: f"Expected {_format(found[2])}", _PATH.sub("", message))
    return Fault(".".join(name for name in names if name), said[:_MESSAGE_MAX])


def _format(pattern: str) -> str:
    return _FORMATS.get(pattern.replace("\\\\", "\\"), "another form")


_BROKEN = object()


def _kept(value: Any, kind: Any) -> Any:
    """`value` as `kind`, without the parts that break it; `_BROKEN` when nothing is left."""
    if not _tag_fits(value, kind):
        return _BROKEN
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        pass
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        tries = (_kept(value, arm) for arm in get_args(kind) if arm is not type(None))
        return next((one for one in tries if one is not _BROKEN), _BROKEN)
    if origin is list and isinstance(value, list):
        items = (_kept(item, get_args(kind)[0]) for item in value)
        return [item for item in items if item is not _BROKEN]
    if origin is dict and isinstance(value, dict):
        entries = {key: _kept(item, get_args(kind)[1]) for key, item in value.items()}
        return {key: item for key, item in entries.items() if item is not _BROKEN}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
        return _kept_struct(value, kind)
    return _BROKEN


def _tag_fits(value: Any, kind: Any) -> bool:
    """Outside of a union nobody asks for the tag, and an object without one would pass for any of them."""
    config = getattr(kind, "__struct_config__", None)
    if config is None or config.tag is None:
        return True
    return isinstance(value, dict) and value.get(config.tag_field) == config.tag


def _kept_struct(value: dict[str, Any], kind: type[msgspec.Struct]) -> Any:
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        one = _kept(value[field.encode_name], field.type) if field.encode_name in value else _BROKEN
        if one is not _BROKEN:
            fields[field.name] = one
        elif field.required:
            return _BROKEN
    try:
        return kind(**fields)
    except ValueError:
        return _BROKEN
