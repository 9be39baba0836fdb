"""How values of facts are shown as properties: times, counts, texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from headwater.errors import EventError
from headwater.schema.events import parse_instant, to_datetime
from headwater.schema.facets import salvage
from headwater.schema.facets.dataset import DatasetTag
from headwater.schema.facets.job import JobTag
from headwater.schema.facets.run import RunTag
from headwater.schema.facts import DatasetFacts, JobFacts, Name, Registers, Span
from headwater.schema.facts_codec import pack
from headwater.schema.urns import dataset_urn

T = TypeVar("T", bound=msgspec.Struct)

Properties = dict[str, Any]
# Names by which datasets go here, by the urn of the other name they were sent with; those without an entry go by
# their own.
Names = Mapping[str, Name]
# What Neo4j can hold; a count beyond it is no count.
_COUNT_MAX = 2**63 - 1
# The one facet of which it is shown when it was said.
_DATED = "lifecycleStateChange"
# Of a dataset or a job, what changes with every event.
_BESIDE = frozenset({"firstSeen", "lastSeen", "facts"})


def read_facet(kind: type[T], facets: Registers, name: str) -> T | None:
    """Return the readable part of a facet; None if it is absent, deleted or of another form."""
    register = facets.get(name)
    return salvage(kind, register.value) if register is not None and register.value else None


def canonical_name(name: Name, names: Names) -> Name:
    """The name by which a dataset goes."""
    return names.get(dataset_urn(name.namespace, name.name), name) if names else name


def parse_count(value: object) -> int | None:
    """A count that may have come as text or as 1.0; None when it is none, or more than Neo4j can hold."""
    try:
        count = msgspec.convert(value, int, strict=False)
    except msgspec.ValidationError:
        return None
    return count if abs(count) <= _COUNT_MAX else None


def time_at(instant: int | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


def parse_time(text: str | None) -> datetime | None:
    return time_at(parse_instant_or_none(text))


def parse_instant_or_none(text: str | None) -> int | None:
    """The instant that a text names; None when it names none."""
    if not text:
        return None
    try:
        return parse_instant(text)
    except EventError:
        return None


def seen(span: Span | None) -> Properties:
    return {
        "firstSeen": time_at(span.first) if span else None,
        "lastSeen": time_at(span.last) if span else None,
    }


def without_nulls(properties: Properties) -> Properties:
    """Those of which there is anything to tell: all that a new node or edge needs."""
    return {key: value for key, value in properties.items() if value is not None}


def changed_properties(old: Properties | None, new: Properties, *always: str) -> Properties:
    """What is not as it was, and what is written in any case."""
    if old is None:
        return new
    return {key: value for key, value in new.items() if key in always or old[key] != value}


def is_repeated_observation(old: DatasetFacts | JobFacts, new: DatasetFacts | JobFacts) -> bool:
    """Whether nothing is new in what is said of a dataset or a job but when it was said."""
    mine, now = old.facets, new.facets
    if len(mine) != len(now) or any(
        name not in now or now[name].value != mine[name].value for name in mine
    ):
        return False
    if mine.get(_DATED) != now.get(_DATED):
        return False
    if isinstance(old, DatasetFacts) and isinstance(new, DatasetFacts):
        firsts = {hash: span.first for hash, span in old.schemas.items()}
        return firsts == {hash: span.first for hash, span in new.schemas.items()}
    return _declared(old) == _declared(new)


def _declared(facts: DatasetFacts | JobFacts) -> tuple[bool, bool] | None:
    return (
        (bool(facts.declared_inputs), bool(facts.declared_outputs))
        if isinstance(facts, JobFacts)
        else None
    )


def last_seen_row(
    urn: str, facts: DatasetFacts | JobFacts, own: DatasetFacts | JobFacts
) -> Properties:
    """The row that is to be written of one of which nothing is new but when it was said."""
    return {"urn": urn, "properties": {**seen(facts.span), "facts": pack(own)}, "shown": False}


def differs_visibly(old: Properties | None, new: Properties) -> bool:
    """Whether what is shown of a node beside when it was seen is not what it was."""
    return old is None or any(old[key] != value for key, value in new.items() if key not in _BESIDE)


def tag_texts(tags: Iterable[DatasetTag | JobTag | RunTag] | None) -> list[str] | None:
    """Tags as `key=value`, those of a field as `field:key=value`; a tag whose value says nothing more is its key."""
    words = []
    for tag in tags or ():
        word = tag.key if tag.value in (None, "", "true", tag.key) else f"{tag.key}={tag.value}"
        field = tag.field if isinstance(tag, DatasetTag) else None
        words.append(f"{field}:{word}" if field else word)
    return sorted(set(words)) or None
