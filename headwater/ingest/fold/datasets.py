"""Fold the datasets that an event names: facets, schema, aliases, and column lineage."""

from __future__ import annotations

import msgspec

from headwater.ingest.fold.accumulator import (
    DROP,
    DeltaAccumulator,
    add_assertion,
    canonical_json,
    job_urn_of,
)
from headwater.ingest.fold.facet_readings import DatasetReading
from headwater.ingest.fold.lineage_facets import JOB, WHOLE_DATASET, Target
from headwater.schema import facts
from headwater.schema.facts import ColumnKey, DatasetFacts, DerivationKey, JobFacts, Name
from headwater.schema.memo import Memo
from headwater.schema.naming import Naming
from headwater.schema.visibility import ANY_KEY

MASKED = ":masked"
# The kinds of evidence that one dataset comes from another.
COLUMNS, LINEAGE, DECLARED, RENAMED = "columns", "lineage", "declared", "renamed"


def describe_dataset(accumulator: DeltaAccumulator, name: Name, reading: DatasetReading) -> None:
    """Add a dataset with the facts of its facets, if the key may describe it."""
    if accumulator.covers(name.namespace):
        accumulator.add_dataset(dataset_facts(accumulator, name, reading))
    else:
        accumulator.add_dataset(DatasetFacts(name, accumulator.span))


def describe_input(accumulator: DeltaAccumulator, name: Name, reading: DatasetReading) -> None:
    """Add a dataset that a job reads, with the sources that its own facets name.

    The job of the event did not write the dataset, so its lineage is that of a dataset event.
    """
    if not accumulator.covers(name.namespace):
        describe_dataset(accumulator, name, reading)
        return
    described = dataset_facts(accumulator, name, reading)
    add_declared_sources(accumulator, described, reading)
    accumulator.add_dataset(described)


def describe_output(
    accumulator: DeltaAccumulator, name: Name, reading: DatasetReading, job: Name
) -> None:
    """Add a dataset that a job writes, with its column lineage."""
    describe_dataset(accumulator, name, reading)
    add_column_lineage(accumulator, name, reading.columns, job)


def dataset_facts(
    accumulator: DeltaAccumulator, name: Name, reading: DatasetReading
) -> DatasetFacts:
    described = DatasetFacts(name, accumulator.span, accumulator.registers(reading.texts))
    if reading.schema:
        described.schemas[reading.schema] = accumulator.span
        accumulator.delta.schemas[reading.schema] = reading.fields
    if reading.unlinked and accumulator.sender:
        described.unlinked_by[accumulator.sender] = accumulator.last
    elif reading.unlinked:
        described.unlinked = accumulator.last
    # An event that drops a table may name it vaguely. Such a name must not become an alias of a
    # real table.
    if not _is_drop(reading):
        for other in reading.symlinks:
            alias = accumulator.normalise(other)
            if alias != name:
                add_assertion(
                    described.symlinks,
                    accumulator.ensure_dataset(alias),
                    accumulator.assertion(alias),
                )
        if described.symlinks:
            described.linked_by = {accumulator.sender or ANY_KEY}
    return described


def _is_drop(reading: DatasetReading) -> bool:
    lifecycle = reading.lifecycle
    return lifecycle is not None and lifecycle.lifecycle_state_change.upper() == DROP


class _Edges(msgspec.Struct, frozen=True, gc=False):
    """The lineage into one dataset: its source datasets, and its column edges by transformation."""

    sources: dict[Name, DerivationKey]
    columns: dict[frozenset[str], tuple[ColumnKey, ...]]
    masked: frozenset[tuple[Name, str, str]]

    def size(self) -> int:
        """Return the size in bytes, without the texts, which the lineage facet owns."""
        return _EDGE_BYTES * (1 + len(self.sources) + sum(map(len, self.columns.values())))


_EDGE_BYTES = 200
_edges: Memo[tuple[Naming, Name, Target, Name | None], _Edges] = Memo(
    64 * 2**20, size=lambda _, edges: edges.size()
)


def add_column_lineage(
    accumulator: DeltaAccumulator,
    target: Name,
    lineage: Target | None,
    job: Name | None,
    *,
    evidence_kind: str = COLUMNS,
) -> set[Name]:
    """Add the column lineage into a dataset; return its source datasets.

    Of a dataset that the key does not cover, only the source datasets count: it may not add columns
    to it, or personal data to its columns.
    """
    if lineage is None:
        return set()
    edges = _edges_into(accumulator.naming, target, lineage, job)
    columns = edges.columns if accumulator.covers(target.namespace) else {}
    for transformations, keys in columns.items():
        column_derivation = accumulator.derivation(transformations)
        for key in keys:
            facts.add(accumulator.delta.columns, key, column_derivation, facts.join_derivations)
    evidence = accumulator.derivation(frozenset({evidence_kind}))
    for name, derivation in edges.sources.items():
        accumulator.ensure_dataset(name)
        facts.add(accumulator.delta.derivations, derivation, evidence, facts.join_derivations)
    return set(edges.sources)


def add_declared_sources(
    accumulator: DeltaAccumulator, described: DatasetFacts, reading: DatasetReading
) -> None:
    """Add the sources that a dataset's own lineage facets name, without a job that wrote it.

    Those that are jobs wrote it, if the key may describe them.
    """
    if not reading.has_lineage:
        return
    lineage = reading.lineage
    sources = add_column_lineage(accumulator, described.dataset, reading.columns, None)
    if lineage is not None:
        sources = add_column_lineage(
            accumulator, described.dataset, lineage, None, evidence_kind=DECLARED
        )
    for name in sources - {described.dataset}:
        urn = accumulator.ensure_dataset(name)
        add_assertion(described.sources, urn, accumulator.assertion(name))
    for source in lineage.jobs() if lineage else ():
        if source.name and accumulator.covers(source.namespace):
            job = Name(source.namespace, source.name)
            urn = accumulator.add_job(JobFacts(job))
            add_assertion(described.sources, urn, accumulator.assertion(job))
    described.declared = accumulator.register(canonical_json(sorted(described.sources)))


def sources_of(
    accumulator: DeltaAccumulator, target: Name, lineage: Target | None, job: Name | None
) -> set[Name]:
    """Return the source datasets of a dataset, without adding facts."""
    if lineage is None:
        return set()
    return set(_edges_into(accumulator.naming, target, lineage, job).sources)


def masked_columns(
    accumulator: DeltaAccumulator, target: Name, lineage: Target | None, job: Name | None
) -> frozenset[tuple[Name, str, str]]:
    """Return the column edges whose transformations all mask: source, its field, target field."""
    if lineage is None or not accumulator.covers(target.namespace):
        return frozenset()
    return _edges_into(accumulator.naming, target, lineage, job).masked


def _edges_into(naming: Naming, target: Name, lineage: Target, job: Name | None) -> _Edges:
    key = (naming, target, lineage, job)
    edges = _edges.get(key)
    if edges is None:
        edges = _edges.put(key, _build_edges(*key))
    return edges


def _build_edges(naming: Naming, target: Name, lineage: Target, job: Name | None) -> _Edges:
    sources: dict[Name, DerivationKey] = {}
    columns: dict[frozenset[str], list[ColumnKey]] = {}
    through = job_urn_of(job) if job is not None else ""
    for field, field_sources in ((WHOLE_DATASET, lineage.inputs), *lineage.fields.items()):
        for source in field_sources:
            if source.type == JOB:
                continue
            name = naming.normalise(source.namespace, source.name)
            sources[name] = DerivationKey(target, name, through)
            if source.field:
                key = ColumnKey(name, source.field, target, field, through)
                columns.setdefault(source.transformations, []).append(key)
    return _Edges(
        sources, {kinds: tuple(keys) for kinds, keys in columns.items()}, _masked_edges(columns)
    )


def _masked_edges(
    columns: dict[frozenset[str], list[ColumnKey]],
) -> frozenset[tuple[Name, str, str]]:
    kinds: dict[ColumnKey, set[str]] = {}
    if not any(kind.endswith(MASKED) for some in columns for kind in some):
        return frozenset()
    for some, keys in columns.items():
        for key in keys:
            kinds.setdefault(key, set()).update(some)
    masked = sorted(
        (key.source, key.source_field, key.target_field)
        for key, some in kinds.items()
        if key.target_field and all(kind.endswith(MASKED) for kind in some)
    )
    return frozenset(masked[: facts.MASKED_MAX])


def add_derivation(
    accumulator: DeltaAccumulator, target: Name, source: Name, job: Name | None, evidence_kind: str
) -> None:
    """Add that one dataset comes from another when a job writes it."""
    key = DerivationKey(target, source, job_urn_of(job) if job is not None else "")
    facts.add(
        accumulator.delta.derivations,
        key,
        accumulator.derivation(frozenset({evidence_kind})),
        facts.join_derivations,
    )
