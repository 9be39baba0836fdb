"""What any event says of a dataset that it names: facets, schema, other names, columns it came from."""

from __future__ import annotations

import msgspec

from headwater.ingest.fold.accumulator import DROP, Said, add_assertion, halves
from headwater.ingest.fold.facet_readings import Reading
from headwater.ingest.fold.lineage_facets import JOB, WHOLE, Target
from headwater.schema import facts
from headwater.schema.facts import ColumnKey, DatasetFacts, DerivationKey, Name
from headwater.schema.memo import Memo
from headwater.schema.naming import Naming
from headwater.schema.urns import job_urn

# How it is known that one dataset comes from another.
COLUMNS, LINEAGE, DECLARED, RENAMED = "columns", "lineage", "declared", "renamed"


def tell_dataset(said: Said, name: Name, reading: Reading) -> None:
    """A dataset as an event describes it."""
    said.dataset(dataset_facts(said, name, reading))


def tell_output(said: Said, name: Name, reading: Reading, job: Name) -> None:
    """A dataset as the output of a job: what its columns came from too."""
    tell_dataset(said, name, reading)
    column_flows(said, name, reading.columns, job)


def dataset_facts(said: Said, name: Name, reading: Reading) -> DatasetFacts:
    about = DatasetFacts(name, said.span, said.registers(reading.texts))
    if reading.schema:
        about.schemas[reading.schema] = said.span
        said.delta.schemas[reading.schema] = reading.fields
    if reading.unlinked:
        about.unlinked = said.last
    # What drops a table names it as best it can; a name that was never more than that must not be joined to a real one.
    if not _is_drop(reading):
        for other in reading.symlinks:
            alias = said.name(other)
            if alias != name:
                add_assertion(about.symlinks, said.mention(alias), said.assertion(alias))
    return about


def _is_drop(reading: Reading) -> bool:
    lifecycle = reading.lifecycle
    return lifecycle is not None and lifecycle.lifecycle_state_change.upper() == DROP


class _Edges(msgspec.Struct, frozen=True, gc=False):
    """What flows into one dataset: the datasets it comes from in any way at all, with how the graph knows that, and its
    column edges by their ways."""

    came_from: dict[Name, DerivationKey]
    columns: dict[frozenset[str], tuple[ColumnKey, ...]]

    def size(self) -> int:
        """In bytes, without the texts: those are the lineage's own."""
        return _EDGE_BYTES * (1 + len(self.came_from) + sum(map(len, self.columns.values())))


_EDGE_BYTES = 200
_edges: Memo[tuple[Naming, Name, Target, Name | None], _Edges] = Memo(
    64 * 2**20, size=lambda _, edges: edges.size()
)


def column_flows(
    said: Said, target: Name, lineage: Target | None, job: Name | None, *, known_by: str = COLUMNS
) -> set[Name]:
    """The column edges into one dataset; returns the datasets it comes from, in any way at all."""
    if lineage is None:
        return set()
    edges = _edges_into(said.naming, target, lineage, job)
    for ways, keys in edges.columns.items():
        flow = said.flow(ways)
        for key in keys:
            facts.add(said.delta.columns, key, flow, facts.join_derivations)
    known = said.flow(frozenset({known_by}))
    for name, derivation in edges.came_from.items():
        said.mention(name)
        facts.add(said.delta.derivations, derivation, known, facts.join_derivations)
    return set(edges.came_from)


def sources_of(said: Said, target: Name, lineage: Target | None, job: Name | None) -> set[Name]:
    """The datasets it comes from, and nothing said of it."""
    return (
        set(_edges_into(said.naming, target, lineage, job).came_from)
        if lineage is not None
        else set()
    )


def _edges_into(naming: Naming, target: Name, lineage: Target, job: Name | None) -> _Edges:
    about = (naming, target, lineage, job)
    edges = _edges.get(about)
    if edges is None:
        edges = _edges.put(about, _read_edges(*about))
    return edges


def _read_edges(naming: Naming, target: Name, lineage: Target, job: Name | None) -> _Edges:
    came_from: dict[Name, DerivationKey] = {}
    columns: dict[frozenset[str], list[ColumnKey]] = {}
    through = job_urn(*halves(job)) if job is not None else ""
    for field, sources in ((WHOLE, lineage.inputs), *lineage.fields.items()):
        for source in sources:
            if source.type == JOB:
                continue
            name = naming.normalise(source.namespace, source.name)
            came_from[name] = DerivationKey(target, name, through)
            if source.field:
                key = ColumnKey(name, source.field, target, field, through)
                columns.setdefault(source.ways, []).append(key)
    return _Edges(came_from, {ways: tuple(keys) for ways, keys in columns.items()})


def derive(said: Said, target: Name, source: Name, job: Name | None, known_by: str) -> None:
    """One dataset is known to come from another when a job makes it."""
    key = DerivationKey(target, source, job_urn(*halves(job)) if job is not None else "")
    facts.add(said.delta.derivations, key, said.flow(frozenset({known_by})), facts.join_derivations)
