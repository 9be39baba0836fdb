"""Check an event against the specification and against common faults. A faulty event is still
accepted.

`findings` is pure, and reports each finding once per event. `field` has no indexes
(`inputs[].facets.dataSource.uri`), so that the same fault of a thousand events is one row.
`schema.conformance_rules` explains each rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from headwater.schema.events import STATES, Dataset, Event, Facets
from headwater.schema.facets import (
    FACETS,
    PARENT_KEYS,
    Entity,
    Fault,
    fault_of,
    is_deleted,
    is_valid,
    kind_of,
    read_parent,
    salvage,
)
from headwater.schema.facets.dataset import DatasetOwnership, Schema, SchemaField
from headwater.schema.facets.job import JobOwnership
from headwater.schema.facets.kinds import CACHED_BYTES_MAX, has_scheme, has_zone
from headwater.schema.facets.lineage import ColumnLineage
from headwater.schema.memo import Memo
from headwater.schema.urns import canonical_run_id, is_uuid

__all__ = ["EventFacet", "Finding", "event_facets", "findings", "invalid_facets", "is_valid"]

# A larger number of findings of one event is not reported.
FINDINGS_MAX = 200
_KEY_CHARACTERS_MAX = 80
_DETAIL_CHARACTERS_MAX = 200
# Keys with another name now, or registered by their producers beside the specification.
_KNOWN_KEYS = frozenset({"parentRun", "icebergScanReport", "icebergCommitReport"})
_REASONS = ("errorMessage", "spark.exception")
_ENTITIES: tuple[Entity, ...] = ("run", "job", "dataset", "input", "output")


class Finding(NamedTuple):
    rule: str
    field: str
    detail: str = ""


class EventFacet(NamedTuple):
    """One facet of an event: its entity, its path in the event, its key and its bytes."""

    entity: Entity
    place: str
    key: str
    raw: bytes


def findings(body: bytes, event: Event, *, received: int, future_seconds: int) -> list[Finding]:
    """Return the findings of one event, each (rule, field) once.

    Args:
        body: The event as sent.
        event: The parsed event.
        received: When it was received, in microseconds since 1970.
        future_seconds: An event dated later than this after its receipt is from the future.
    """
    by_field: dict[tuple[str, str], Finding] = {}
    for finding in _each_finding(body, event, received + future_seconds * 1_000_000):
        by_field.setdefault((finding.rule, finding.field), finding)
        if len(by_field) >= FINDINGS_MAX:
            break
    return list(by_field.values())


def invalid_facets(event: Event) -> list[tuple[EventFacet, Fault]]:
    """Return the facets of an event that break their schema, each with its first fault."""
    pairs = ((facet, fault_of(facet.entity, facet.key, facet.raw)) for facet in event_facets(event))
    return [(facet, fault) for facet, fault in pairs if fault is not None]


def event_facets(event: Event) -> Iterator[EventFacet]:
    """Iterate over every facet of an event."""
    for entity, place, facets in _holders(event):
        for key, raw in facets.items():
            yield EventFacet(entity, place, key, bytes(raw))


def _holders(event: Event) -> Iterator[tuple[Entity, str, Mapping[str, msgspec.Raw]]]:
    """Iterate over the non-empty facet maps of an event, with their entity and path."""
    if event.run is not None and event.run.facets:
        yield "run", "run.facets", event.run.facets
    if event.job is not None and event.job.facets:
        yield "job", "job.facets", event.job.facets
    if event.dataset is not None and event.dataset.facets:
        yield "dataset", "dataset.facets", event.dataset.facets
    for dataset in event.inputs:
        if dataset.facets:
            yield "dataset", "inputs[].facets", dataset.facets
        if dataset.input_facets:
            yield "input", "inputs[].inputFacets", dataset.input_facets
    for dataset in event.outputs:
        if dataset.facets:
            yield "dataset", "outputs[].facets", dataset.facets
        if dataset.output_facets:
            yield "output", "outputs[].outputFacets", dataset.output_facets


def _each_finding(body: bytes, event: Event, latest: int) -> Iterator[Finding]:
    yield from _envelope_findings(event, latest)
    if event.repaired:
        yield Finding("lone-surrogate", "", f"in an event of {len(body)} bytes")
    for entity, place, facets in _holders(event):
        yield from _map_findings(entity, place, facets)
    yield from _run_findings(event)
    for place, datasets in (("inputs", event.inputs), ("outputs", event.outputs)):
        if len(datasets) > 1:
            yield from _duplicates(place, datasets)
    yield from _column_lineage_findings(event)


# The findings of facets that events share: mostly none, sometimes one or two.
_FINDING_BYTES = 500
_shared_findings: Memo[tuple[str, Facets], tuple[Finding, ...]] = Memo(
    64 * 2**20, size=lambda key, findings: key[1].size() + _FINDING_BYTES * (1 + len(findings))
)


def _map_findings(
    entity: Entity, place: str, facets: Mapping[str, msgspec.Raw]
) -> Iterable[Finding]:
    if not isinstance(facets, Facets):
        return _findings_in(entity, place, facets)
    findings = _shared_findings.get((place, facets))
    return (
        _shared_findings.put((place, facets), tuple(_findings_in(entity, place, facets)))
        if findings is None
        else findings
    )


def _findings_in(
    entity: Entity, place: str, facets: Mapping[str, msgspec.Raw]
) -> Iterator[Finding]:
    for key, sent in facets.items():
        raw = bytes(sent)
        check = _facet_findings_cached if len(raw) <= CACHED_BYTES_MAX else _findings_of_facet
        for rule, path, detail in check(entity, key, raw):
            yield Finding(
                rule, ".".join(part for part in (place, _shorten(key), path) if part), detail
            )


def _shorten(key: str) -> str:
    return key if len(key) <= _KEY_CHARACTERS_MAX else f"{key[:_KEY_CHARACTERS_MAX]}…"


def _envelope_findings(event: Event, latest: int) -> Iterator[Finding]:
    if not event.producer:
        yield Finding("missing-producer", "producer")
    elif not has_scheme(event.producer):
        yield Finding("producer-is-no-uri", "producer", event.producer[:_DETAIL_CHARACTERS_MAX])
    if not event.schema_url:
        yield Finding("missing-schema-url", "schemaURL")
    if not event.event_time.strip():
        yield Finding("missing-event-time", "eventTime")
    elif not has_zone(event.event_time):
        yield Finding("naive-event-time", "eventTime", event.event_time[:_DETAIL_CHARACTERS_MAX])
    if event.instant > latest:
        yield Finding(
            "event-from-the-future", "eventTime", event.event_time[:_DETAIL_CHARACTERS_MAX]
        )


def _run_findings(event: Event) -> Iterator[Finding]:
    if event.run is None:
        return
    if not event.state:
        yield Finding("missing-event-type", "eventType")
    elif event.event_type not in STATES:
        yield Finding(
            "lower-case-event-type", "eventType", event.event_type[:_DETAIL_CHARACTERS_MAX]
        )
    if not is_uuid(event.run.run_id):
        yield Finding("run-id-no-uuid", "run.runId", event.run.run_id[:_DETAIL_CHARACTERS_MAX])
    facets = event.run.facets or {}
    if event.state == "FAIL" and not any(key in facets for key in _REASONS):
        yield Finding("failure-without-a-reason", "run.facets.errorMessage")
    parent = read_parent(facets)
    if (
        parent
        and parent.run_id
        and canonical_run_id(parent.run_id) == canonical_run_id(event.run.run_id)
    ):
        yield Finding(
            "own-parent", "run.facets.parent.run.runId", event.run.run_id[:_DETAIL_CHARACTERS_MAX]
        )


def _findings_of_facet(entity: Entity, key: str, raw: bytes) -> tuple[tuple[str, str, str], ...]:
    """Return (rule, path inside the facet, detail) of each finding in one facet."""
    return tuple(_facet_findings_of(entity, key, raw))


_facet_findings_cached = lru_cache(maxsize=8_192)(_findings_of_facet)


class _Signature(msgspec.Struct):
    producer: Any = msgspec.field(name="_producer", default=None)
    schema_url: Any = msgspec.field(name="_schemaURL", default=None)


_signature = msgspec.json.Decoder(_Signature)


def _facet_findings_of(entity: Entity, key: str, raw: bytes) -> Iterator[tuple[str, str, str]]:
    if not raw.lstrip().startswith(b"{"):
        yield "facet-not-an-object", "", raw[:40].decode("utf-8", "replace")
        return
    yield from _key_findings(entity, key)
    try:
        signature = _signature.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return
    if not signature.producer:
        yield "facet-without-producer", "", ""
    if not signature.schema_url:
        yield "facet-without-schema-url", "", ""
    half = _missing_half(raw) if entity == "run" and key in PARENT_KEYS else ""
    if half:
        yield "half-given-parent", "", half
    elif (fault := fault_of(entity, key, raw)) is not None:
        yield "facet-breaks-its-schema", fault.path, fault.message
    if key == "ownership" and _has_unnamed_owner(entity, raw):
        yield "empty-owner", "owners[].name", ""


def _key_findings(entity: Entity, key: str) -> Iterator[tuple[str, str, str]]:
    if (entity, key) in FACETS:
        return
    if key == "parentRun":
        yield "old-parent-key", "", ""
        return
    homes = [other for other in _ENTITIES if (other, key) in FACETS]
    if homes:
        yield "facet-misplaced", "", f"it belongs to: {', '.join(homes)}"
    elif "_" not in key.strip("_") and key not in _KNOWN_KEYS:
        yield "facet-without-prefix", "", ""


def _missing_half(raw: bytes) -> str:
    parent = None if is_deleted(raw) else read_parent({"parent": raw})
    if parent is None or (parent.run_id and parent.job):
        return ""
    return "a run without its job" if parent.run_id else "a job without its run"


def _has_unnamed_owner(entity: Entity, raw: bytes) -> bool:
    kind = kind_of(entity, "ownership")
    ownership = salvage(kind, raw) if kind is not None else None
    if not isinstance(ownership, DatasetOwnership | JobOwnership):
        return False
    return any(not owner.name.strip() for owner in ownership.owners or ())


def _duplicates(place: str, datasets: Iterable[Dataset]) -> Iterator[Finding]:
    names: set[tuple[str, str]] = set()
    for dataset in datasets:
        name = (dataset.namespace, dataset.name)
        if name in names:
            yield Finding("dataset-twice", f"{place}[]", dataset.name[:_DETAIL_CHARACTERS_MAX])
        names.add(name)


# The facets that column lineage is checked against: of the dataset of the event, of its outputs,
# and of its inputs by namespace and name.
_LineageKey = tuple[
    Facets | None, tuple[Facets | None, ...], tuple[tuple[str, str, Facets | None], ...]
]
_column_findings: Memo[_LineageKey, tuple[Finding, ...]] = Memo(
    64 * 2**20, size=lambda lineage_key, findings: _size(lineage_key, findings)
)


def _size(lineage_key: _LineageKey, findings: Sequence[Finding]) -> int:
    outputs = sum([facets.size() for facets in lineage_key[1] if facets is not None])
    return outputs + _FINDING_BYTES * (
        1 + len(lineage_key[1]) + len(lineage_key[2]) + len(findings)
    )


def _column_lineage_findings(event: Event) -> Iterable[Finding]:
    """Check column lineage against the schemas in the same event."""
    own = event.dataset.facets if event.dataset is not None else None
    outputs = tuple([dataset.facets for dataset in event.outputs])
    if not any("columnLineage" in facets for facets in (own, *outputs) if facets):
        return ()
    lineage_key = (
        own,
        outputs,
        tuple([(dataset.namespace, dataset.name, dataset.facets) for dataset in event.inputs]),
    )
    findings = _column_findings.get(lineage_key)
    return (
        _column_findings.put(lineage_key, tuple(_lineage_findings(*lineage_key)))
        if findings is None
        else findings
    )


def _lineage_findings(
    own: Facets | None,
    outputs: Iterable[Facets | None],
    inputs: Iterable[tuple[str, str, Facets | None]],
) -> Iterator[Finding]:
    schemas = {(namespace, name): facets for namespace, name, facets in inputs}
    for place, facets in [("dataset", own), *(("outputs[]", output) for output in outputs)]:
        raw = (facets or Facets()).get("columnLineage")
        lineage = salvage(ColumnLineage, raw) if raw is not None else None
        if lineage is None:
            continue
        field = f"{place}.facets.columnLineage.fields"
        missing = _missing_field(lineage.fields, facets)
        if missing:
            yield Finding("unknown-column", field, missing)
        yield from _source_columns(lineage, f"{field}[].inputFields[].field", schemas)


def _source_columns(
    lineage: ColumnLineage, field: str, schemas: Mapping[tuple[str, str], Facets | None]
) -> Iterator[Finding]:
    referenced: dict[tuple[str, str], list[str]] = {}
    for output in lineage.fields.values():
        for source in output.input_fields:
            referenced.setdefault((source.namespace, source.name), []).append(source.field)
    for name, fields in referenced.items():
        missing = _missing_field(fields, schemas.get(name))
        if missing:
            yield Finding(
                "unknown-source-column", field, f"{name[1]}: {missing}"[:_DETAIL_CHARACTERS_MAX]
            )


def _missing_field(fields: Iterable[str], facets: Facets | None) -> str:
    """Return the first field absent from the schema of a dataset; "" if none is, or without a
    schema.
    """
    raw = (facets or Facets()).get("schema")
    names = _schema_names(bytes(raw)) if raw is not None else frozenset()
    if not names:
        return ""
    # The path of a field inside a struct is a.b; case-insensitive engines mix cases.
    return next((f[:_KEY_CHARACTERS_MAX] for f in fields if f and f.lower() not in names), "")


@lru_cache(maxsize=2_048)
def _schema_names(raw: bytes) -> frozenset[str]:
    schema = salvage(Schema, raw)
    return frozenset(_names(schema.fields or (), "")) if schema is not None else frozenset()


def _names(fields: Iterable[SchemaField], above: str) -> Iterator[str]:
    for field in fields:
        name = f"{above}{field.name.lower()}"
        yield name
        yield from _names(field.fields or (), f"{name}.")
