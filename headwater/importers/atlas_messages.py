"""Messages of Apache Atlas as events: the topics ATLAS_ENTITIES and ATLAS_HOOK. Pure.

Atlas sends a notification to ATLAS_ENTITIES for each entity that was created or changed, and its
hooks send the entities themselves to ATLAS_HOOK. Both are mapped as the REST paths map entities
(`importers.atlas`). A notification names other entities by qualified name, or it is refused: guids
of Atlas are known to Atlas only. Entities that are parts of others, such as databases, are left
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from headwater.errors import EventError, QueryError
from headwater.importers.atlas import (
    COLUMNS_MAX,
    ENTITIES_MAX,
    AtlasEntityError,
    Entity,
    map_entities,
)
from headwater.schema.events import to_datetime
from headwater.schema.headwater_facets import Event
from headwater.schema.stored_json import decode, no_number

_SIDES = ("inputs", "outputs")
_STATED = frozenset(
    {
        "ENTITY_CREATE", "ENTITY_UPDATE", "CLASSIFICATION_ADD", "CLASSIFICATION_UPDATE",
        "CLASSIFICATION_DELETE", "TRAIT_ADD", "TRAIT_UPDATE", "TRAIT_DELETE",
    }
)  # fmt: skip
_MILLISECONDS_MAX = 32_503_680_000_000


class AtlasMessageError(QueryError):
    """A message that cannot be read; the text names its field."""


def events_of_message(body: bytes, received: int) -> list[Event]:
    """Return the events that state the entities of a message.

    Args:
        body: The value of the message: JSON.
        received: When Kafka got it, in microseconds since 1970, if the message has no time.

    Raises:
        AtlasMessageError: The message is no message of Atlas, deletes something, or names an
            entity that cannot be read.
    """
    try:
        wrapper = decode(body, out_of_range=no_number)
    except EventError as error:
        raise AtlasMessageError(f"the message is not JSON: {error}"[:300]) from error
    if not isinstance(wrapper, dict):
        raise AtlasMessageError("the message must be a JSON object")
    message = wrapper.get("message", wrapper)
    if not isinstance(message, dict):
        raise AtlasMessageError(
            "message: it must be an object; compressed and split messages are not read"
        )
    entities, referred = _entities(message)
    if len(entities) > ENTITIES_MAX or len(referred) > COLUMNS_MAX:
        raise AtlasMessageError(f"message: it has over {ENTITIES_MAX} entities")
    time = _time(message.get("eventTime"), wrapper.get("msgCreationTime"), received)
    try:
        return map_entities(entities, referred, _unknown, time, field="message.entities").events
    except AtlasEntityError as error:
        raise AtlasMessageError(f"{error.field}: {error.message}") from error


def reason_of(body: bytes) -> str:
    """Return why a message cannot be read; empty if it can."""
    try:
        events_of_message(body, 0)
    except AtlasMessageError as error:
        return error.message
    return ""


def _unknown(guid: str) -> str | None:  # noqa: ARG001
    return None


def _entities(message: Mapping[str, Any]) -> tuple[list[Entity], dict[str, Entity]]:
    """Return the entities of a message, and those that they refer to by guid."""
    kind = message.get("type")
    if kind in ("ENTITY_NOTIFICATION_V1", "ENTITY_NOTIFICATION_V2") or "operationType" in message:
        operation = message.get("operationType")
        if operation not in _STATED:
            raise AtlasMessageError(f"message.operationType: {str(operation)[:100]} is not read")
        return _stated([_flat(message.get("entity"))], {})
    if kind in ("ENTITY_CREATE_V2", "ENTITY_FULL_UPDATE_V2"):
        content = _object(message.get("entities"), "message.entities")
        entities = content.get("entities")
        if not isinstance(entities, list):
            raise AtlasMessageError("message.entities.entities: it must be a list")
        return _stated(entities, _object(content.get("referredEntities") or {}, "referredEntities"))
    if kind == "ENTITY_PARTIAL_UPDATE_V2":
        return _partial(message)
    raise AtlasMessageError(f"message.type: {str(kind)[:100]} is not read")


def _partial(message: Mapping[str, Any]) -> tuple[list[Entity], dict[str, Entity]]:
    """Return the entity of a partial update, with the name that the message gives it."""
    named = _object(message.get("entityId"), "message.entityId")
    content = _object(message.get("entity"), "message.entity")
    entity = _object(content.get("entity"), "message.entity.entity")
    attributes = {**(named.get("uniqueAttributes") or {}), **(entity.get("attributes") or {})}
    kind = entity.get("typeName") or named.get("typeName")
    referred = _object(content.get("referredEntities") or {}, "referredEntities")
    return _stated([{**entity, "typeName": kind, "attributes": attributes}], referred)


def _stated(
    entities: list[Any], referred: Mapping[str, Any]
) -> tuple[list[Entity], dict[str, Entity]]:
    found = list(_converted(entities))
    guids = {one.guid for one in found if one.guid and not one.is_part}
    own = [one for one in found if not one.is_part or _table_of(one) in guids]
    by_guid = dict(zip(referred, _converted(list(referred.values())), strict=True))
    return own, by_guid


def _converted(entities: list[Any]) -> Iterator[Entity]:
    for number, entity in enumerate(entities):
        field = f"message.entities[{number}]"
        try:
            yield msgspec.convert(_with_names(_object(entity, field)), type=Entity)
        except msgspec.ValidationError as error:
            raise AtlasMessageError(f"{field}: {error}") from error


def _table_of(column: Entity) -> str | None:
    table = column.attributes.get("table")
    guid = table.get("guid") if isinstance(table, Mapping) else None
    return guid if isinstance(guid, str) and column.type_name.lower().endswith("_column") else None


def _with_names(entity: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entity whose references carry their qualified names where Atlas's own REST does."""
    attributes = entity.get("attributes")
    if not isinstance(attributes, Mapping):
        return {**entity, "attributes": attributes or {}}
    named = dict(attributes)
    for side in _SIDES:
        if isinstance(named.get(side), list):
            named[side] = [_reference(one) for one in named[side]]
    return {**entity, "attributes": named}


def _reference(reference: Any) -> Any:
    if not isinstance(reference, Mapping) or reference.get("uniqueAttributes"):
        return reference
    inner = reference.get("attributes")
    inner = inner if isinstance(inner, Mapping) else {}
    name = reference.get("qualifiedName") or inner.get("qualifiedName")
    return {**reference, "uniqueAttributes": {"qualifiedName": name}} if name else reference


def _flat(entity: Any) -> Any:
    """Return an entity of the first version of notifications in the form of the second."""
    if not isinstance(entity, Mapping) or "values" not in entity:
        return entity
    values = _object(entity["values"], "message.entity.values")
    own = {key: _flat_value(value) for key, value in values.items()}
    traits = entity.get("traitNames")
    names = traits if isinstance(traits, list) else []
    identity = entity.get("id")
    return {
        "typeName": entity.get("typeName"),
        "guid": identity.get("id") if isinstance(identity, Mapping) else None,
        "attributes": own,
        "classifications": [{"typeName": name} for name in names],
    }


def _flat_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_flat_value(one) for one in value]
    if isinstance(value, Mapping) and "values" in value:
        inner = value["values"] if isinstance(value["values"], Mapping) else {}
        return {"typeName": value.get("typeName"), "qualifiedName": inner.get("qualifiedName")}
    return value


def _object(value: Any, field: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise AtlasMessageError(f"{field}: it must be an object")
    return value


def _time(of_event: Any, of_message: Any, received: int) -> str:
    """Return the first of these times that is one, as text."""
    for milliseconds in (of_event, of_message):
        if type(milliseconds) is int and 0 < milliseconds < _MILLISECONDS_MAX:
            return datetime.fromtimestamp(milliseconds / 1_000, UTC).isoformat()
    return to_datetime(received).isoformat()
