"""A draft of a contract from what the graph knows about a dataset. Pure.

The draft keeps to the standard. Its server is of type `custom`, and custom properties name the
dataset, so that its import finds the same dataset again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from headwater.errors import QueryError
from headwater.governance.contracts.names import NAME_PROPERTY, NAMESPACE_PROPERTY
from headwater.schema.contracts import CLASSIFICATION_TAG
from headwater.schema.durations import parse_duration
from headwater.schema.type_changes import family_of

API_VERSION = "v3.1.0"
_FRESHNESS_TAG = "freshness="
_LOGICAL = {
    "integer": "integer",
    "real": "number",
    "decimal": "number",
    "text": "string",
}
_WORDS = {
    **dict.fromkeys(("struct", "record", "row", "object"), "object"),
    **dict.fromkeys(("array", "list"), "array"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    "date": "date",
    "time": "time",
    **dict.fromkeys(("timestamp", "timestamptz", "timestamp_ntz", "datetime"), "timestamp"),
}
_HEAD = re.compile(r"[a-z_]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
Data = dict[str, Any]


def draft_contract(dataset: Mapping[str, Any]) -> Data:
    """Return a draft of a contract in the form of the standard.

    dataset: `namespace`, `name`, `description`, `owners`, `tags` and `fields` (with `name` and
    `type`), as GraphQL answers them.
    """
    tags = list(dataset.get("tags") or ())
    document: Data = {
        "apiVersion": API_VERSION,
        "kind": "DataContract",
        "id": _UNSAFE.sub("-", f"{dataset['namespace']}-{dataset['name']}").strip("-").lower(),
        "name": dataset["name"],
        "version": "0.1.0",
        "status": "draft",
        "servers": [
            {
                "server": "graph",
                "type": "custom",
                "customProperties": [_property(NAMESPACE_PROPERTY, dataset["namespace"])],
            }
        ],
        "schema": [_object(dataset, tags)],
    }
    owners = list(dataset.get("owners") or ())
    if owners:
        members = [{"username": owner, "role": "Owner"} for owner in owners]
        document["team"] = {"name": owners[0], "members": members}
    levels = list(_service_levels(tags))
    if levels:
        document["slaProperties"] = levels
    return document


def _property(name: str, value: str) -> Data:
    return {"property": name, "value": value}


def _object(dataset: Mapping[str, Any], tags: Iterable[str]) -> Data:
    own: Data = {
        "name": dataset["name"],
        "customProperties": [_property(NAME_PROPERTY, dataset["name"])],
    }
    if dataset.get("description"):
        own["description"] = dataset["description"]
    classes = _classifications(tags)
    fields = {one["name"]: one.get("type") for one in dataset.get("fields") or ()}
    properties = _properties(fields, classes, "")
    if properties:
        own["properties"] = properties
    return own


def _classifications(tags: Iterable[str]) -> dict[str, str]:
    """Return the classifications of columns, from tags as `mail:classification=restricted`."""
    found = {}
    for tag in tags:
        column, mark, value = tag.partition(f":{CLASSIFICATION_TAG}=")
        if mark:
            found[column] = value
    return found


def _properties(
    fields: Mapping[str, str | None], classes: Mapping[str, str], prefix: str
) -> list[Data]:
    """Return the columns directly below a path, each with its own ones."""
    below = [name for name in fields if name.startswith(prefix)]
    own = [name for name in below if not _is_nested(name, below)]
    found = []
    for name in own:
        type = fields[name]
        logical = _logical_type(type)
        one: Data = {"name": name.removeprefix(prefix)}
        if logical:
            one["logicalType"] = logical
        if type:
            one["physicalType"] = type
        if name in classes:
            one["classification"] = classes[name]
        nested = _properties(fields, classes, f"{name}.")
        if nested and logical == "array":
            one["items"] = {"logicalType": "object", "properties": nested}
        elif nested:
            one |= {"logicalType": "object", "properties": nested}
        found.append(one)
    return found


def _is_nested(name: str, names: Iterable[str]) -> bool:
    return any(name != other and name.startswith(f"{other}.") for other in names)


def _logical_type(type: str | None) -> str | None:
    text = (type or "").strip().casefold()
    family = family_of(text)
    if family in _LOGICAL:
        return _LOGICAL[family]
    head = _HEAD.match(text)
    return _WORDS.get(head[0]) if head else None


def _service_levels(tags: Iterable[str]) -> Iterable[Data]:
    for tag in tags:
        if tag.casefold().startswith(_FRESHNESS_TAG):
            try:
                length = parse_duration(tag[len(_FRESHNESS_TAG) :], name="freshness")
            except QueryError:
                continue
            hours = length.total_seconds() / 3600
            yield {"property": "freshness", "value": hours, "unit": "h"}
            return
