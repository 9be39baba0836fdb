"""Convert values of facts to properties: times, counts, texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from headwater.schema.edits import approvals_of, deprecation_of
from headwater.schema.events import parse_instant_or_none, to_datetime
from headwater.schema.facets import salvage
from headwater.schema.facets.dataset import DatasetOwnership, DatasetTag
from headwater.schema.facets.job import JobOwnership, JobTag
from headwater.schema.facets.run import RunTag
from headwater.schema.facts import DatasetFacts, JobFacts, Name, Registers, Span, is_deleted
from headwater.schema.facts_codec import pack
from headwater.schema.tags import tag_text
from headwater.schema.urns import dataset_urn

T = TypeVar("T", bound=msgspec.Struct)

Properties = dict[str, Any]
# Canonical names of datasets by the urn of an alias. Names without an entry are canonical.
Names = Mapping[str, Name]
# The greatest integer of Neo4j; larger counts are dropped.
_COUNT_MAX = 2**63 - 1
# The facets whose time is a property of the node.
_DATED = ("lifecycleStateChange", "dataQualityAssertions")
# The properties of a dataset or a job that change with every event.
_VOLATILE = frozenset({"firstSeen", "lastSeen", "checkedAt", "facts"})


def read_facet(kind: type[T], facets: Registers, name: str) -> T | None:
    """Return the readable part of a facet; None if it is absent, deleted or of another form."""
    register = facets.get(name)
    return salvage(kind, register.value) if register is not None and register.value else None


def canonical_name(name: Name, names: Names) -> Name:
    """Return the canonical name of a dataset."""
    return names.get(dataset_urn(name.namespace, name.name), name) if names else name


def parse_count(value: object) -> int | None:
    """Return a count sent as a number or text; None if it is malformed or too large."""
    try:
        count = msgspec.convert(value, int, strict=False)
    except msgspec.ValidationError:
        return None
    return count if abs(count) <= _COUNT_MAX else None


def time_at(instant: int | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


def parse_time(text: str | None) -> datetime | None:
    return time_at(parse_instant_or_none(text))


def seen_properties(span: Span | None) -> Properties:
    return {
        "firstSeen": time_at(span.first) if span else None,
        "lastSeen": time_at(span.last) if span else None,
    }


def without_nulls(properties: Properties) -> Properties:
    """Return the properties that are not None: all that a new node or edge needs."""
    return {key: value for key, value in properties.items() if value is not None}


def changed_properties(old: Properties | None, new: Properties, *always: str) -> Properties:
    """Return the changed properties, and those in `always`."""
    if old is None:
        return new
    return {key: value for key, value in new.items() if key in always or old[key] != value}


def is_repeated_observation(old: DatasetFacts | JobFacts, new: DatasetFacts | JobFacts) -> bool:
    """Return True if new facts of a dataset or a job differ from the old only in their times."""
    before, now = old.facets, new.facets
    if len(before) != len(now) or any(
        name not in now or now[name].value != before[name].value for name in before
    ):
        return False
    if any(before.get(name) != now.get(name) for name in _DATED):
        return False
    if old.tag_edits != new.tag_edits or deleted_at(old) != deleted_at(new):
        return False
    if old.edits != new.edits or old.history != new.history:
        return False
    if isinstance(old, DatasetFacts) and isinstance(new, DatasetFacts):
        firsts = {hash: span.first for hash, span in old.schemas.items()}
        return firsts == {hash: span.first for hash, span in new.schemas.items()}
    return _declared(old) == _declared(new)


def deleted_at(facts: DatasetFacts | JobFacts) -> datetime | None:
    """Return the time of the deletion; None if a later event named the dataset or the job."""
    return time_at(facts.deleted) if is_deleted(facts) else None


def owner_names(ownership: DatasetOwnership | JobOwnership | None) -> list[str] | None:
    """Return the names of the owners in a facet; None without one."""
    return None if ownership is None else [owner.name for owner in ownership.owners or ()]


def approval_properties(edits: Registers) -> Properties:
    """Return the approvals of a dataset or a job."""
    found = approvals_of(edits) if edits else []
    return {"approvals": msgspec.json.encode(found).decode() if found else None}


def deprecation_properties(edits: Registers) -> Properties:
    """Return the deprecation of a dataset or a job, and its time."""
    found = deprecation_of(edits)
    if found is None:
        return {"deprecation": None, "deprecatedAt": None}
    deprecation, instant = found
    return {
        "deprecation": msgspec.json.encode(deprecation).decode(),
        "deprecatedAt": to_datetime(instant),
    }


def _declared(facts: DatasetFacts | JobFacts) -> tuple[bool, bool] | None:
    if not isinstance(facts, JobFacts):
        return None
    return bool(facts.declared_inputs), bool(facts.declared_outputs)


def last_seen_row(
    urn: str, facts: DatasetFacts | JobFacts, own: DatasetFacts | JobFacts
) -> Properties:
    """Return the row that updates the times of a node and no other property."""
    return {
        "urn": urn,
        "properties": {**seen_properties(facts.span), "facts": pack(own)},
        "isVisibleChange": False,
    }


def differs_visibly(old: Properties | None, new: Properties) -> bool:
    """Return True if a property other than the times of a node changed."""
    return old is None or any(
        old[key] != value for key, value in new.items() if key not in _VOLATILE
    )


def tag_texts(
    tags: Iterable[DatasetTag | JobTag | RunTag] | None, *, of_field: bool = False
) -> list[str] | None:
    """Return tags as `key=value`, with `field:` before the tags of a field unless `of_field`.

    A tag without a value, or with its key or "true" for a value, is its key alone.
    """
    words = []
    for tag in tags or ():
        word = tag_text(tag)
        field = tag.field if isinstance(tag, DatasetTag) and not of_field else None
        words.append(f"{field}:{word}" if field else word)
    return sorted(set(words)) or None
