"""Read a schema registry as events: each version of a subject describes its topic.

By Confluent's TopicNameStrategy the subject `orders-value` holds the messages of the topic
`orders`, and `orders-key` their keys, which are the columns below `__key`. Subjects of other
strategies name a record and no topic; the report lists them.

Each version of a value is a schema of the topic, and a data contract `registry:SUBJECT` that allows
no column which no version has. So a producer that writes others breaks it. A registry keeps no
times of its versions: they follow each other within the second of the import.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.errors import QueryError
from headwater.importers.events import dataset, dataset_event, facets, to_time
from headwater.importers.report import ImportReport
from headwater.importers.schema_registry.client import RegisteredSchema, SchemaRegistry
from headwater.importers.schema_registry.fields import Field, read_fields
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
    """The namespace of the topics, the time of the import, and the versions that the graph has."""

    namespace: str
    instant: datetime
    known: Known


def read_registry(
    registry: SchemaRegistry, options: RegistryOptions, report: ImportReport
) -> Iterator[Event]:
    """Yield the events of all versions that the graph does not have yet, oldest first."""
    subjects = registry.subjects()
    keys = {one.removesuffix(KEY_SUFFIX) for one in subjects if one.endswith(KEY_SUFFIX)}
    for subject in subjects:
        report.counts["subjects"] += 1
        topic = subject.removesuffix(VALUE_SUFFIX)
        if subject.endswith(VALUE_SUFFIX) and topic:
            key = f"{topic}{KEY_SUFFIX}" if topic in keys else ""
            yield from _topic_events(registry, topic, subject, key, options, report)
        elif not subject.endswith(KEY_SUFFIX):
            report.notes.append(f"subject {subject!r} names a record and no topic")
        elif f"{subject.removesuffix(KEY_SUFFIX)}{VALUE_SUFFIX}" not in subjects:
            report.notes.append(f"subject {subject!r} has a key, and its topic has no value")


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
        time = options.instant + number * _MICROSECOND
        name = facet_name(contract["contractId"], contract["version"])
        own = facets(**{"schema": {"fields": columns}, name: contract})
        instant = round(time.timestamp() * 1_000_000)
        yield dataset_event(to_time(instant), dataset((options.namespace, topic), own))


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
    topic: str, schema: RegisteredSchema, columns: list[Field], allowed: list[str]
) -> dict[str, Any]:
    """Return the fields of the contract of one version of a subject."""
    content: dict[str, Any] = {
        "contractId": f"{PREFIX}{schema.subject}",
        "version": str(schema.version),
        "name": f"{schema.type} schema {schema.id} of {schema.subject}",
        "status": "active",
        "object": topic,
        "columns": [{"name": path, "physicalType": type} for path, type in _paths(columns)],
        "allowed": allowed,
    }
    text = json.dumps(content, sort_keys=True).encode("utf-8", "surrogatepass")
    return {**content, "digest": hashlib.sha256(text).hexdigest()[:16]}


def _paths(fields: Sequence[Field], prefix: str = "") -> Iterator[tuple[str, str]]:
    for one in fields:
        path = f"{prefix}{one['name']}"
        yield path, one["type"]
        yield from _paths(one.get("fields") or (), f"{path}.")
