"""Read a schema registry as events: each version of a subject describes its topic.

By Confluent's TopicNameStrategy the subject `orders-value` holds the messages of the topic
`orders`, and `orders-key` their keys, which are the columns below `__key`. By
TopicRecordNameStrategy a subject is a topic and the full name of its record, `orders-shop.Order`,
and a topic may hold several records. By RecordNameStrategy it is a record in any topic; the options
name its topics.

Each version of a value is a schema of the topic, and a data contract `registry:SUBJECT` that allows
no column which no version has. So a producer that writes others breaks it. A contract about one of
several records allows the columns of all. A registry keeps no times of its versions: they follow
each other within the second of the import.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from headwater.errors import QueryError
from headwater.importers.events import dataset, dataset_event, facets, to_time
from headwater.importers.report import ImportReport
from headwater.importers.schema_registry.client import RegisteredSchema, SchemaRegistry
from headwater.importers.schema_registry.fields import Field, read_fields, record_name
from headwater.schema.contracts import facet_name
from headwater.schema.headwater_facets import Event

PREFIX = "registry:"
KEY_COLUMN = "__key"
VALUE_SUFFIX, KEY_SUFFIX = "-value", "-key"
VERSIONS_MAX = 100
_REFERENCES_DEPTH_MAX = 10
_MICROSECOND = timedelta(microseconds=1)
# From a contract and the name of a dataset to its versions in the graph, with their digests.
Known = Callable[[str, str, str], set[tuple[str, str | None]]]


@dataclass(frozen=True)
class RegistryOptions:
    """The namespace of the topics, the time of the import, and the versions that the graph has.

    topics: the topics of a subject that is named after a record, by subject.
    """

    namespace: str
    instant: datetime
    known: Known
    topics: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Registered:
    """A version of a subject with its columns."""

    schema: RegisteredSchema
    fields: list[Field]
    is_newest: bool


def read_registry(
    registry: SchemaRegistry, options: RegistryOptions, report: ImportReport
) -> Iterator[Event]:
    """Yield the events of all versions that the graph does not have yet, oldest first."""
    subjects = registry.subjects()
    keys = {one.removesuffix(KEY_SUFFIX) for one in subjects if one.endswith(KEY_SUFFIX)}
    records: dict[str, list[str]] = defaultdict(list)
    for subject in subjects:
        report.counts["subjects"] += 1
        topic = subject.removesuffix(VALUE_SUFFIX)
        if subject.endswith(VALUE_SUFFIX) and topic:
            key = f"{topic}{KEY_SUFFIX}" if topic in keys else ""
            yield from _topic_events(registry, topic, subject, key, options, report)
        elif not subject.endswith(KEY_SUFFIX):
            for name in _topics_of(registry, subject, options, report):
                records[name].append(subject)
        elif f"{subject.removesuffix(KEY_SUFFIX)}{VALUE_SUFFIX}" not in subjects:
            report.notes.append(f"subject {subject!r} has a key, and its topic has no value")
    for topic, some in sorted(records.items()):
        if f"{topic}{VALUE_SUFFIX}" in subjects:
            report.notes.append(f"subject {some[0]!r} is passed over: its topic has a value")
        else:
            key = f"{topic}{KEY_SUFFIX}" if topic in keys else ""
            yield from _record_events(registry, topic, some, key, options, report)


def _topics_of(
    registry: SchemaRegistry, subject: str, options: RegistryOptions, report: ImportReport
) -> Sequence[str]:
    """Return the topics of a subject that is named after a record."""
    if subject in options.topics:
        return options.topics[subject]
    versions = _versions(registry, subject, report)
    read = _read(registry, subject, versions[-1], report) if versions else None
    name = record_name(read[0].type, read[0].text) if read else ""
    topic = subject.removesuffix(f"-{name}")
    if name and topic not in ("", subject):
        return [topic]
    report.notes.append(
        f"subject {subject!r} names a record and no topic; give its topic with "
        f"--topic {subject}=TOPIC"
    )
    return ()


def _record_events(
    registry: SchemaRegistry,
    topic: str,
    subjects: Sequence[str],
    key: str,
    options: RegistryOptions,
    report: ImportReport,
) -> Iterator[Event]:
    """Yield the events of a topic with one or more records, each of a subject of its own."""
    key_fields = _newest_fields(registry, key, report) if key else []
    by_subject = {one: _registered(registry, one, report) for one in subjects}
    paths = {
        subject: {path for one in some for path, _ in _paths([*one.fields, *key_fields])}
        for subject, some in by_subject.items()
    }
    newest = [one.fields for one in chain.from_iterable(by_subject.values()) if one.is_newest]
    columns = _merged([*newest, key_fields])
    types = _types_of_all(chain.from_iterable(by_subject.values()))
    number = 0
    for subject, some in by_subject.items():
        known = options.known(f"{PREFIX}{subject}", options.namespace, topic)
        allowed = set(chain.from_iterable(paths[one] for one in subjects if one != subject))
        for one in some:
            report.counts["versions"] += 1
            own = [*one.fields, *key_fields]
            allowed.update(path for path, _ in _paths(own))
            contract = _contract(topic, one.schema, own, sorted(allowed), types)
            is_known = (contract["version"], contract["digest"]) in known
            is_past = not one.is_newest and contract["version"] in {each for each, _ in known}
            if is_known or is_past:
                report.counts["unchanged"] += 1
            else:
                yield _event(topic, columns, contract, options, number)
            number += 1


def _registered(registry: SchemaRegistry, subject: str, report: ImportReport) -> list[_Registered]:
    """Return the versions of a subject that can be read, oldest first."""
    versions = _versions(registry, subject, report)
    read = [_read(registry, subject, version, report) for version in versions]
    found = [one for one in read if one is not None]
    return [
        _Registered(schema, fields, number == len(found))
        for number, (schema, fields) in enumerate(found, 1)
    ]


def _types_of_all(registered: Iterable[_Registered]) -> Mapping[str, set[str]]:
    """Return the types of each column in the newest versions of the records of a topic."""
    found: dict[str, set[str]] = defaultdict(set)
    for one in registered:
        for path, type in _paths(one.fields) if one.is_newest else ():
            found[path].add(type)
    return found


def _merged(records: Iterable[Sequence[Field]]) -> list[Field]:
    """Return the columns of several records; one that differs between them has the type union."""
    found: dict[str, Field] = {}
    for one in chain.from_iterable(records):
        name = one["name"]
        if name in found and found[name] != one:
            found[name] = {"name": name, "type": "union"}
        found.setdefault(name, one)
    return list(found.values())


def _event(
    topic: str,
    columns: list[Field],
    contract: dict[str, Any],
    options: RegistryOptions,
    number: int,
) -> Event:
    time = options.instant + number * _MICROSECOND
    name = facet_name(contract["contractId"], contract["version"])
    own = facets(**{"schema": {"fields": columns}, name: contract})
    instant = round(time.timestamp() * 1_000_000)
    return dataset_event(to_time(instant), dataset((options.namespace, topic), own))


def _topic_events(
    registry: SchemaRegistry,
    topic: str,
    subject: str,
    key: str,
    options: RegistryOptions,
    report: ImportReport,
) -> Iterator[Event]:
    key_fields = _newest_fields(registry, key, report) if key else []
    known = options.known(f"{PREFIX}{subject}", options.namespace, topic)
    allowed: set[str] = set()
    for number, version in enumerate(_versions(registry, subject, report)):
        read = _read(registry, subject, version, report)
        if read is None:
            continue
        schema, fields = read
        report.counts["versions"] += 1
        columns = [*fields, *key_fields]
        allowed.update(path for path, _ in _paths(columns))
        contract = _contract(topic, schema, columns, sorted(allowed))
        if (str(version), contract["digest"]) in known:
            report.counts["unchanged"] += 1
            continue
        yield _event(topic, columns, contract, options, number)


def _versions(registry: SchemaRegistry, subject: str, report: ImportReport) -> Sequence[int]:
    try:
        return registry.versions(subject)[-VERSIONS_MAX:]
    except QueryError as error:
        report.add_problem(subject, error.message)
        return ()


def _newest_fields(registry: SchemaRegistry, subject: str, report: ImportReport) -> list[Field]:
    """Return the columns of the newest key of a topic, below one column."""
    versions = _versions(registry, subject, report)
    read = _read(registry, subject, versions[-1], report) if versions else None
    if read is None:
        return []
    fields = read[1]
    if len(fields) == 1 and "fields" not in fields[0] and fields[0]["name"] == "value":
        return [{"name": KEY_COLUMN, "type": fields[0]["type"]}]
    return [{"name": KEY_COLUMN, "type": "struct", "fields": fields}]


def _read(
    registry: SchemaRegistry, subject: str, version: int, report: ImportReport
) -> tuple[RegisteredSchema, list[Field]] | None:
    try:
        schema = registry.schema(subject, version)
        references = _references(registry, schema, {})
        return schema, read_fields(schema.type, schema.text, list(references.items()))
    except QueryError as error:
        report.add_problem(f"{subject} version {version}", error.message)
    return None


def _references(
    registry: SchemaRegistry, schema: RegisteredSchema, found: dict[str, str], depth: int = 1
) -> dict[str, str]:
    """Return the texts of the schemas that a schema imports, those first that others import."""
    for one in schema.references if depth <= _REFERENCES_DEPTH_MAX else ():
        if one.name not in found:
            other = registry.schema(one.subject, one.version)
            _references(registry, other, found, depth + 1)
            found[one.name] = other.text
    return found


def _contract(
    topic: str,
    schema: RegisteredSchema,
    columns: list[Field],
    allowed: list[str],
    types: Mapping[str, set[str]] | None = None,
) -> dict[str, Any]:
    """Return the fields of the contract of one version of a subject.

    types: those of all records of the topic; a column with several is promised without its type.
    """
    promised = [
        {"name": path, "physicalType": type}
        for path, type in _paths(columns)
        if len({*(types or {}).get(path, ()), type}) == 1
    ]
    content: dict[str, Any] = {
        "contractId": f"{PREFIX}{schema.subject}",
        "version": str(schema.version),
        "name": f"{schema.type} schema {schema.id} of {schema.subject}",
        "status": "active",
        "object": topic,
        "columns": promised,
        "allowed": allowed,
    }
    text = json.dumps(content, sort_keys=True).encode("utf-8", "surrogatepass")
    return {**content, "digest": hashlib.sha256(text).hexdigest()[:16]}


def _paths(fields: Sequence[Field], prefix: str = "") -> Iterator[tuple[str, str]]:
    for one in fields:
        path = f"{prefix}{one['name']}"
        yield path, one["type"]
        yield from _paths(one.get("fields") or (), f"{path}.")
