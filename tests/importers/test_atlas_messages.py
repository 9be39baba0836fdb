"""Messages of Atlas and of its hooks as events, worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.importers.atlas_messages import AtlasMessageError, events_of_message, reason_of
from headwater.schema.events import parse

NOON = 1_767_268_800_000  # 2026-01-01T12:00:00Z
TIME = "2026-01-01T12:00:00+00:00"
HIVE = "hive://primary:10000"


def wrapped(message: Any, **more: Any) -> bytes:
    """Return a message as Atlas 2 writes it to Kafka."""
    wrapper = {
        "version": {"version": "1.0.0", "versionParts": [1]},
        "msgCompressionKind": "NONE",
        "msgSplitIdx": 1,
        "msgSplitCount": 1,
        "msgSourceIP": "10.0.0.1",
        "msgCreatedBy": "hive",
        "msgCreationTime": NOON,
        **more,
    }
    return json.dumps({**wrapper, "message": message}).encode()


def notification(entity: Any, operation: str = "ENTITY_CREATE", **more: Any) -> bytes:
    message = {"type": "ENTITY_NOTIFICATION_V2", "operationType": operation, "entity": entity}
    return wrapped({**message, **more})


def table(name: str, **more: Any) -> dict[str, Any]:
    attributes = {"qualifiedName": f"{name}@primary", "name": name}
    return {"typeName": "hive_table", "guid": f"guid-{name}", "attributes": attributes, **more}


def named(event: dict[str, Any]) -> list[str]:
    """Return the name of the node of an event, and of its inputs and outputs."""
    node = event.get("dataset") or event["job"]
    sides = [*event.get("inputs", ()), *event.get("outputs", ())]
    return [f"{one['namespace']} {one['name']}" for one in (node, *sides)]


def events(body: bytes) -> list[dict[str, Any]]:
    found = events_of_message(body, 7)
    for event in found:
        parse(json.dumps(event).encode(), received=0)
    return found


def test_a_notification_states_a_table_with_its_classifications() -> None:
    sent = table("shop.orders", classifications=[{"typeName": "PII", "entityGuid": "g"}])
    [event] = events(notification({**sent, "status": "ACTIVE", "displayText": "orders"}))
    assert named(event) == [f"{HIVE} shop.orders"]
    assert event["eventTime"] == TIME
    assert event["dataset"]["facets"]["tags"]["tags"] == [
        {"key": "PII", "value": "true", "source": "ATLAS"}
    ]


@pytest.mark.parametrize(
    "reference",
    [
        {"typeName": "hive_table", "uniqueAttributes": {"qualifiedName": "shop.orders@primary"}},
        {"typeName": "hive_table", "guid": "g", "qualifiedName": "shop.orders@primary"},
        {"typeName": "hive_table", "attributes": {"qualifiedName": "shop.orders@primary"}},
    ],
)
def test_a_process_names_its_inputs_in_any_form(reference: dict[str, Any]) -> None:
    attributes = {"qualifiedName": "clean@primary", "inputs": [reference], "outputs": []}
    [event] = events(notification({"typeName": "hive_process", "attributes": attributes}))
    assert named(event) == ["atlas://primary clean", f"{HIVE} shop.orders"]


def test_the_first_version_of_notifications() -> None:
    def referred(name: str) -> dict[str, Any]:
        values = {"qualifiedName": f"{name}@primary"}
        return {"id": {"id": "g"}, "typeName": "hive_table", "values": values}

    entity = {
        "id": {"id": "guid-1"},
        "typeName": "hive_process",
        "values": {
            "qualifiedName": "clean@primary",
            "inputs": [referred("shop.orders")],
            "outputs": [referred("shop.clean")],
        },
        "traitNames": ["Gold"],
    }
    [event] = events(wrapped({"entity": entity, "operationType": "ENTITY_UPDATE", "traits": []}))
    assert named(event) == ["atlas://primary clean", f"{HIVE} shop.orders", f"{HIVE} shop.clean"]


def test_a_hook_sends_a_table_with_its_columns_and_database() -> None:
    column = {
        "typeName": "hive_column",
        "guid": "-2",
        "attributes": {"qualifiedName": "shop.orders.id@primary", "name": "id", "type": "bigint"},
    }
    content = {
        "entities": [
            {"typeName": "hive_db", "guid": "-1", "attributes": {"qualifiedName": "shop@primary"}},
            table("shop.orders") | {"attributes": {
                "qualifiedName": "shop.orders@primary", "columns": [{"guid": "-2"}]
            }},
        ],
        "referredEntities": {"-2": column},
    }  # fmt: skip
    message = {"type": "ENTITY_CREATE_V2", "user": "hive", "entities": content}
    [event] = events(wrapped(message))
    assert named(event) == [f"{HIVE} shop.orders"]
    assert event["dataset"]["facets"]["schema"]["fields"] == [{"name": "id", "type": "bigint"}]
    # Hooks of the first versions write no wrapper.
    [bare] = events(json.dumps(message).encode())
    assert bare["eventTime"] == "1970-01-01T00:00:00.000007+00:00"


def test_a_partial_update_changes_what_it_names() -> None:
    message = {
        "type": "ENTITY_PARTIAL_UPDATE_V2",
        "entityId": {
            "typeName": "hive_table",
            "uniqueAttributes": {"qualifiedName": "shop.orders@primary"},
        },
        "entity": {"entity": {"typeName": "hive_table", "attributes": {"owner": "ana"}}},
    }
    [event] = events(wrapped(message))
    assert event["dataset"]["facets"]["ownership"]["owners"] == [{"name": "ana", "type": "OWNER"}]


def test_parts_of_others_are_left_out() -> None:
    database = {"typeName": "hive_db", "attributes": {"qualifiedName": "shop@primary"}}
    column = {"typeName": "hive_column", "attributes": {"qualifiedName": "shop.orders.id@primary"}}
    assert [events(notification(one)) for one in (database, column)] == [[], []]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 5_000, "not JSON"),
        (b"3", "JSON object"),
        (b"{}", "message.type: None"),
        (wrapped("H4sIAAAA", msgCompressionKind="GZIP"), "compressed"),
        (wrapped(None), "must be an object"),
        (wrapped({"type": "ENTITY_DELETE_V2", "entities": []}), "ENTITY_DELETE_V2 is not read"),
        (notification(table("a"), "ENTITY_DELETE"), "ENTITY_DELETE is not read"),
        (notification(table("a"), operation=None), "None is not read"),  # type: ignore[arg-type]
        (notification(None), "entities[0]: it must be an object"),
        (notification({"attributes": {}}), "typeName"),
        (notification({"typeName": 3, "attributes": {}}), "typeName"),
        (notification({"typeName": "hive_table", "attributes": 3}), "attributes"),
        (notification({"typeName": "hive_table", "attributes": None}), "qualifiedName"),
        (notification(table("a") | {"classifications": [3]}), "classifications"),
        (wrapped({"type": "ENTITY_CREATE_V2", "entities": {"entities": 3}}), "must be a list"),
        (
            wrapped({"type": "ENTITY_CREATE_V2", "entities": {"entities": [table("a")] * 501}}),
            "500",
        ),
        (wrapped({"type": "ENTITY_PARTIAL_UPDATE_V2", "entityId": 3}), "entityId"),
        (wrapped({"operationType": "ENTITY_CREATE", "entity": {"values": 3}}), "entity.values"),
        (
            notification(
                {
                    "typeName": "p_process",
                    "attributes": {"qualifiedName": "p", "inputs": [{"guid": "g"}]},
                }
            ),
            "the referenced DataSet g is not found",
        ),
    ],
)
def test_a_message_that_cannot_be_read_has_a_reason(body: bytes, reason: str) -> None:
    with pytest.raises(AtlasMessageError, match=r".") as raised:
        events_of_message(body, 0)
    assert reason in raised.value.message
    assert reason_of(body) == raised.value.message


def test_a_message_that_can_be_read_has_no_reason() -> None:
    assert reason_of(notification(table("a"))) == ""


@pytest.mark.parametrize("time", [None, "now", -1, True, 2**80, 1.5])
def test_a_strange_time_is_replaced_by_that_of_the_message(time: Any) -> None:
    [event] = events(notification(table("a"), eventTime=time))
    assert event["eventTime"] == TIME
