"""What any event says of a dataset that it names: facets, schema, other names, columns it came from."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from headwater.ingest.facets import Schema, flattened
from headwater.ingest.flows import JOB, WHOLE, Target
from headwater.ingest.fold.said import DROP, IDENTIFIER, LIFECYCLE, Said, add_claim, halves, is_named
from headwater.ingest.registers import REMEMBERED_BYTES_MAX, decoded, registers
from headwater.schema import facts, native
from headwater.schema.events import Dataset, Facets
from headwater.schema.facets import is_deleted
from headwater.schema.facts import ColumnKey, DatasetFacts, DerivationKey, Flow, GraphDelta, Name
from headwater.schema.urns import job_urn, schema_hash

# Folded into edges, so not kept as text on the node as well.
_FOLDED_FACETS = frozenset({"columnLineage", "lineage", native.ARTIFACT_FACET})
# How it is known that one dataset comes from another.
COLUMNS, LINEAGE, DECLARED, RENAMED = "columns", "lineage", "declared", "renamed"


class _Symlinks(msgspec.Struct):
    identifiers: list[msgspec.Raw] = []


_symlinks = msgspec.json.Decoder(_Symlinks)
_schema = msgspec.json.Decoder(Schema)


def dataset_facts(said: Said, dataset: Dataset, name: Name) -> DatasetFacts:
    facets = {facet: raw for facet, raw in (dataset.facets or {}).items() if facet not in _FOLDED_FACETS}
    about = DatasetFacts(name, said.span, registers(said.event, facets))
    schema = schema_of(said, dataset)
    if schema:
        about.schemas[schema] = said.span
    if "symlinks" in facets and is_deleted(bytes(facets["symlinks"])):
        about.unlinked = said.event.instant
    # What drops a table names it as best it can; a name that was never more than that must not be joined to a real one.
    symlinks = decoded(_symlinks, facets.get("symlinks")) if "symlinks" in facets else None
    if symlinks is not None and symlinks.identifiers and not _is_drop(facets):
        for raw in symlinks.identifiers:
            other = decoded(IDENTIFIER, raw)
            if other is not None and is_named(other):
                alias = said.name(other)
                if alias != name:
                    add_claim(about.symlinks, said.mention(alias), said.claim(alias))
    return about


def _is_drop(facets: Facets) -> bool:
    lifecycle = decoded(LIFECYCLE, facets.get("lifecycleStateChange"))
    return lifecycle is not None and lifecycle.lifecycle_state_change.upper() == DROP


def schema_of(said: Said, dataset: Dataset) -> str:
    """The hash of the schema a dataset was sent with, which is kept with the event's facts; "" when there is none."""
    raw = (dataset.facets or {}).get("schema")
    if raw is None:
        return ""
    text = bytes(raw)
    fields = (_remembered_fields if len(text) <= REMEMBERED_BYTES_MAX else _fields)(text)
    if not fields:
        return ""
    hash = schema_hash(fields)
    said.delta.schemas[hash] = fields
    return hash


def _fields(raw: bytes) -> str:
    """The fields of a schema and their types as JSON, by their paths, in order; "" when it has none."""
    schema = decoded(_schema, msgspec.Raw(raw))
    fields = flattened(schema.fields) if schema else {}
    return msgspec.json.encode(list(fields.items())).decode() if fields else ""


_remembered_fields = lru_cache(maxsize=8_192)(_fields)


def column_flows(
    said: Said, target: Name, lineage: Target | None, job: Name | None, *, known_by: str = COLUMNS
) -> set[Name]:
    """The column edges into one dataset; returns the datasets it comes from, in any way at all."""
    came_from: set[Name] = set()
    if lineage is None:
        return came_from
    through = job_urn(*halves(job)) if job is not None else ""
    for field, sources in ((WHOLE, lineage.inputs), *lineage.fields.items()):
        for source in sources:
            if source.type == JOB:
                continue
            name = said.name(source)
            came_from.add(name)
            if source.field:
                key = ColumnKey(name, source.field, target, field, through)
                flow = Flow(said.event.instant, source.ways)
                facts.absorb(said.delta, GraphDelta(columns={key: flow}))
    for name in came_from:
        said.mention(name)
        derive(said, target, name, job, known_by)
    return came_from


def derive(said: Said, target: Name, source: Name, job: Name | None, known_by: str) -> None:
    """One dataset is known to come from another when a job makes it."""
    key = DerivationKey(target, source, job_urn(*halves(job)) if job is not None else "")
    flow = Flow(said.event.instant, frozenset({known_by}))
    facts.absorb(said.delta, GraphDelta(derivations={key: flow}))
