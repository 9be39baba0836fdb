"""Contracts as facets: what a contract of the standard promises about each of its datasets.

A facet has the fields that Headwater compares with the data. Prose, prices and support stay in the
file of the contract.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from headwater.governance.contracts.names import NamedDataset
from headwater.governance.contracts.standard import ContractError
from headwater.importers.events import dataset, dataset_event, facets
from headwater.schema.contracts import FACET_BYTES_MAX, facet_name
from headwater.schema.facets.contracts import (
    ContractColumn,
    ContractFacet,
    ContractRule,
    ServiceLevel,
)
from headwater.schema.facets.headwater import PersonName
from headwater.schema.headwater_facets import Event

_DEPTH_MAX = 20
_DIGITS = 16
OPERATORS = (
    "mustBe",
    "mustNotBe",
    "mustBeGreaterThan",
    "mustBeGreaterOrEqualTo",
    "mustBeLessThan",
    "mustBeLessOrEqualTo",
    "mustBeBetween",
    "mustNotBeBetween",
)
# Names of metrics of version 3.0.
_OLD_METRICS = {"duplicateCount": "duplicateValues", "nullCheck": "nullValues"}
_LISTED = frozenset({"array", "list"})
Part = Mapping[str, Any]


def compile_contract(document: Part, object_name: str) -> ContractFacet:
    """Return what a contract promises about one object of its schema. Raises ContractError."""
    found = [one for one in document.get("schema") or () if one["name"] == object_name]
    if not found:
        raise ContractError(f"the contract has no object {object_name[:200]!r}")
    columns = list(_columns(found[0].get("properties") or ()))
    rules = list(_rules(found[0].get("quality") or (), None))
    rules += _rules_of_columns(found[0].get("properties") or (), "")
    facet = ContractFacet(
        contract_id=document["id"],
        version=document["version"],
        name=document.get("name"),
        status=document.get("status"),
        domain=document.get("domain"),
        object=object_name,
        effective_from=document.get("contractCreatedTs"),
        owners=[PersonName(name) for name in _owners(document)],
        columns=columns,
        rules=rules,
        service_levels=list(_service_levels(document.get("slaProperties") or (), object_name)),
    )
    return msgspec.structs.replace(facet, digest=_digest(facet))


def contract_event(one: NamedDataset, facet: ContractFacet, time: str) -> Event:
    """Return the event of a contract about a dataset. Raises ContractError if it is too long."""
    fields = _fields(facet)
    size = len(json.dumps(fields, ensure_ascii=False).encode(errors="replace"))
    # The producer and the schema of the facet come with it.
    if size > FACET_BYTES_MAX - 1_000:
        raise ContractError(
            f"contract {facet.contract_id[:200]!r}: {one.object[:200]!r} has {size} bytes; the "
            f"limit is {FACET_BYTES_MAX - 1_000}",
            hint="Split the contract.",
        )
    own = facets(**{facet_name(facet.contract_id, facet.version): fields})
    return dataset_event(time, dataset((one.namespace, one.name), own))


def _fields(facet: ContractFacet) -> dict[str, Any]:
    """Return the fields of a facet that have a value, as JSON values."""
    return {key: value for key, value in _present(msgspec.to_builtins(facet)).items() if value}


def _present(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _present(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_present(item) for item in value]
    return value


def _digest(facet: ContractFacet) -> str:
    text = json.dumps(_fields(facet), sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()[:_DIGITS]


def _owners(document: Part) -> list[str]:
    """Return the team, and those of its members who own the data; all members without one."""
    team = document.get("team") or []
    members = team.get("members") or [] if isinstance(team, dict) else team
    current = [one for one in members if not one.get("dateOut")]
    named = [one for one in current if "owner" in str(one.get("role") or "").casefold()]
    names = [str(one.get("username") or one.get("name") or "") for one in named or current]
    if isinstance(team, dict) and team.get("name"):
        names.insert(0, str(team["name"]))
    return [name for name in dict.fromkeys(names) if name.strip()]


def _columns(
    properties: Iterable[Part], prefix: str = "", depth: int = 1
) -> Iterator[ContractColumn]:
    for one in properties:
        path = _path(one, prefix)
        yield ContractColumn(
            name=path,
            logical_type=one.get("logicalType"),
            physical_type=one.get("physicalType"),
            required=one.get("required") or None,
            unique=one.get("unique") or None,
            primary_key=one.get("primaryKey") or None,
            classification=one.get("classification"),
        )
        if depth < _DEPTH_MAX:
            yield from _columns(_children(one), f"{path}.", depth + 1)


def _rules_of_columns(
    properties: Iterable[Part], prefix: str, depth: int = 1
) -> Iterator[ContractRule]:
    for one in properties:
        path = _path(one, prefix)
        yield from _rules(one.get("quality") or (), path)
        if depth < _DEPTH_MAX:
            yield from _rules_of_columns(_children(one), f"{path}.", depth + 1)


def _path(one: Part, prefix: str) -> str:
    return f"{prefix}{one.get('physicalName') or one['name']}"


def _children(one: Part) -> Iterable[Part]:
    """Return the properties of a structure, or of the structures in a list."""
    items = one.get("items")
    if isinstance(items, dict) and str(one.get("logicalType")) in _LISTED:
        return items.get("properties") or ()
    return one.get("properties") or ()


def _rules(quality: Iterable[Part], column: str | None) -> Iterator[ContractRule]:
    """Yield the rules that can be compared with measures, or with checks of their name."""
    for one in quality:
        if one.get("type") == "text":
            continue
        metric = one.get("metric") or one.get("rule")
        operator = next((name for name in OPERATORS if name in one), None)
        values = _numbers(one[operator]) if operator else None
        yield ContractRule(
            metric=_OLD_METRICS.get(metric, metric) if metric else None,
            name=one.get("name"),
            column=column,
            operator=operator if values else None,
            values=values,
            unit=one.get("unit"),
        )


def _numbers(value: Any) -> list[float] | None:
    """Return a limit as numbers; None if it is none, such as a text."""
    values = value if isinstance(value, list) else [value]
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in values):
        return None
    try:
        return [float(one) for one in values]
    except OverflowError:
        return None


def _service_levels(levels: Iterable[Part], object_name: str) -> Iterator[ServiceLevel]:
    """Yield the service levels of the contract, without those of its other objects."""
    for one in levels:
        elements = [part.strip() for part in str(one.get("element") or "").split(",")]
        named = {element.partition(".")[0] for element in elements if element}
        if named and object_name not in named:
            continue
        numbers = _numbers(one["value"])
        if numbers is None and isinstance(one["value"], str):
            numbers = _number_in(one["value"])
        yield ServiceLevel(
            property=one["property"],
            value=numbers[0] if numbers else None,
            unit=one.get("unit"),
            driver=one.get("driver"),
        )


def _number_in(text: str) -> list[float] | None:
    try:
        return [float(text)]
    except ValueError:
        return None
