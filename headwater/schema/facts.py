"""Facts: the content of events about one run, job, dataset or answer, as values that can be joined.

`join` is associative, commutative and idempotent. It unites sets, keeps the earliest and latest
instants, and of two values of one facet keeps the one with the higher (event instant, state rank,
value). Therefore the order, the number and the batches of events cannot change the graph:

    facts = join of the facts of each event       graph = project(facts)

Instants are microseconds since 1970, UTC. Facet values are canonical JSON; "" means a deleted
facet.

Values in a GraphDelta are replaced, never changed, so a join may share values with its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from headwater.schema.stream_facts import StreamFacts, join_streams
from headwater.schema.visibility import ANY_KEY

K = TypeVar("K")
V = TypeVar("V")
S = TypeVar("S", str, "Name")
C = TypeVar("C", str, "tuple[Name, str, str]")
# The smallest partitions and masked column edges of an output are kept, so that the order of
# arrival does not matter.
PARTITIONS_MAX, MASKED_MAX = 100, 1_000
# The smallest trace ids of a run are kept. A node shows `TRACE_IDS_MAX` of them.
TRACES_MAX, TRACE_IDS_MAX = 200, 20
# Of a dataset or a job, the newest edits by people are kept.
EDITS_MAX = 200
# The newest instants of what comes again and again are kept: captures, and new texts of answers.
INSTANTS_MAX = 200


class LwwRegister(msgspec.Struct, array_like=True, frozen=True, order=True, gc=False):
    """A last-writer-wins value: the highest (instant, rank, value) stays."""

    instant: int
    rank: int
    value: str


class Name(msgspec.Struct, array_like=True, frozen=True, order=True, cache_hash=True, gc=False):
    """The namespace and name of a dataset or a job."""

    namespace: str
    name: str


class Span(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The earliest and latest instant of observation."""

    first: int
    last: int


Registers = dict[str, LwwRegister]


class Usage(msgspec.Struct, omit_defaults=True, gc=False):
    """The use of one dataset by one run, as the events of the run report it.

    The version of an output comes from the event that ended the run: an event at its start names
    the previous version.
    """

    dataset: Name
    facets: Registers = {}
    schema: LwwRegister | None = None
    version: LwwRegister | None = None
    lifecycle: LwwRegister | None = None
    partitions: set[str] = set()
    # True if any event names it other than as dropped, and if any names it as dropped.
    made: bool = True
    dropped: bool = False
    # Origins of an output: by column lineage, and by the lineage facet (empty: it has none).
    derived: set[Name] = set()
    explicit: set[Name] | None = None
    # The urns of the jobs of the events that name it.
    jobs: set[str] = set()
    # What its events say about the content before this write (`schema.write_modes`).
    write_evidence: set[str] = set()
    stream: StreamFacts | None = None
    # True if only keys that do not cover the dataset report it: it does not fail with the run.
    foreign: bool = False
    # Column edges into it whose transformations all mask: source, its field, and the field here.
    masked: set[tuple[Name, str, str]] = set()


class RunFacts(msgspec.Struct, omit_defaults=True, gc=False):
    run_id: str
    span: Span | None = None
    # (instant, START | COMPLETE | ABORT | FAIL): RUNNING and OTHER change no state.
    states: set[tuple[int, str]] = set()
    # The jobs under which events report what the run did.
    jobs: dict[str, Name] = {}
    # Ids by urn: parent runs, root runs, runs that it was to follow, and runs whose data it took
    # directly, without a dataset between.
    parents: dict[str, str] = {}
    roots: dict[str, str] = {}
    after: dict[str, str] = {}
    sources: dict[str, str] = {}
    facets: Registers = {}
    # Version of the code: from sourceCodeLocation of the job in the events of this run.
    code: LwwRegister | None = None
    # Hash of the source code, or else of the SQL, of the job in the events of this run.
    source_hash: LwwRegister | None = None
    # True if it is a run of a job on RDDs: Spark's listener may not report its success.
    is_rdd_job: bool = False
    inputs: dict[str, Usage] = {}
    outputs: dict[str, Usage] = {}
    # Other jobs by which events of other runs name it, such as a parent facet.
    named_jobs: dict[str, Name] = {}
    # Trace ids in its facets (`headwater.schema.traces`).
    traces: set[str] = set()
    # In facts of restricted keys: by the urn of another run that they name, the namespaces of its
    # job.
    references: dict[str, set[str]] = {}
    # Whose facts these are (`headwater.schema.run_senders`), and the receipts of the events of
    # restricted keys, in microseconds since 1970. For unrestricted keys: "" and None.
    sender: str = ""
    receipts: Span | None = None
    # The facts by sender, if more than one is to be kept apart. In the graph, the other fields then
    # hold the facts of the first of `run_senders.runs_of_reports`.
    reports: dict[str, RunFacts] = {}


class Assertion(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A reference to another dataset or job, with the span of its observation."""

    name: Name
    first: int
    last: int


Assertions = dict[str, Assertion]


class Edit(msgspec.Struct, array_like=True, frozen=True, order=True, gc=False):
    """One decision of a person. `key` names its register (`headwater.schema.edits`)."""

    instant: int
    rank: int
    key: str
    value: str
    by: str = ""
    before: str = ""


class DatasetFacts(msgspec.Struct, omit_defaults=True, gc=False):
    dataset: Name
    span: Span | None = None
    facets: Registers = {}
    # Other names, by urn: from symlinks facets, and from decisions by hand ("same" or "apart").
    symlinks: Assertions = {}
    # Who sent these facets, as `Event.sender` has it; ANY_KEY for unrestricted keys.
    linked_by: set[str] = set()
    # When its symlinks facet was last deleted: earlier symlinks no longer count. A restricted key
    # deletes only symlinks to names that it covers: its deletions are kept by sender.
    unlinked: int | None = None
    unlinked_by: dict[str, int] = {}
    by_hand: Registers = {}
    # Tags that a person added or removed (`headwater.schema.tags`), and the newest deletion.
    tag_edits: Registers = {}
    deleted: int | None = None
    # Description, owners and deprecation by people (`headwater.schema.edits`), and their edits.
    edits: Registers = {}
    history: set[Edit] = set()
    # When each of its schemas was seen, by hash.
    schemas: dict[str, Span] = {}
    # Declared without a run: its origins, and the newest declaration (JSON list of their urns).
    sources: Assertions = {}
    declared: LwwRegister | None = None
    # When its data was captured or updated, by events of the dataset itself.
    captures: set[int] = set()


class JobFacts(msgspec.Struct, omit_defaults=True, gc=False):
    job: Name
    span: Span | None = None
    facets: Registers = {}
    # As in DatasetFacts.
    tag_edits: Registers = {}
    deleted: int | None = None
    edits: Registers = {}
    history: set[Edit] = set()
    parents: dict[str, Name] = {}
    roots: dict[str, Name] = {}
    # Jobs that it follows, and jobs whose data it takes without a dataset between.
    after: Assertions = {}
    sources: Assertions = {}
    # Design-time lineage: all that job events declared without a run, and the newest declaration
    # of each side: JSON of the urns of inputs, and of outputs with their origins (null: all).
    inputs: Assertions = {}
    outputs: Assertions = {}
    declared_inputs: LwwRegister | None = None
    declared_outputs: LwwRegister | None = None
    # Outputs of its runs whose origins a lineage facet states.
    explicit: set[str] = set()


class AnswerFacts(msgspec.Struct, omit_defaults=True, gc=False):
    answer_id: str
    # None for an answer that is only cited
    answer: LwwRegister | None = None
    # When it was generated, each time.
    generated: set[int] = set()


class TagFacts(msgspec.Struct, omit_defaults=True, gc=False):
    name: str
    definition: LwwRegister | None = None


class Derivation(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The facts of a column edge or a derivation: its first instant, and kinds that only grow.

    The kinds of a column edge are its transformations. The kinds of a derivation are its evidence:
    `columns` (column lineage), `lineage` (a lineage facet of a run), `declared` (a declaration
    without a run), `renamed` (a run renamed the dataset).
    """

    first: int
    kinds: frozenset[str] = frozenset()

    def covers(self, other: Derivation) -> bool:
        """Return True if a join with the other changes nothing."""
        return self.first <= other.first and self.kinds >= other.kinds


class ColumnKey(
    msgspec.Struct, array_like=True, frozen=True, order=True, cache_hash=True, gc=False
):
    """A column edge: from a field of one dataset to a field of another, through a job ("" when none
    is named).
    """

    source: Name
    source_field: str
    target: Name
    target_field: str
    job: str


class DerivationKey(
    msgspec.Struct, array_like=True, frozen=True, order=True, cache_hash=True, gc=False
):
    """A derivation: a job makes `output` from `input`."""

    output: Name
    input: Name
    job: str


class UndatedEvent(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A received event that is ordered by its first receipt, since its own time cannot order it.

    `event_instant` is that time, None without one; it lies in the future of the first receipt.
    `instant` is the earliest known receipt, or the time of an event that is not of the future but
    has the time of one that was. `first_received` and `received` are the first and the last of
    these receipts. All are in microseconds since 1970. `body` is the redacted event.
    """

    instant: int
    event_instant: int | None
    first_received: int
    received: int
    body: bytes


def merged(a: dict[K, V], b: dict[K, V], join: Callable[[V, V], V]) -> dict[K, V]:
    if not b or a is b:
        return a
    if not a:
        return b
    joined = dict(a)
    add_all(joined, b, join)
    return joined


def _union(a: set[K], b: set[K]) -> set[K]:
    return a if b <= a else a | b


def join_spans(a: Span | None, b: Span | None) -> Span | None:
    return _wider(a, b) if a is not None and b is not None else a or b


def _wider(a: Span, b: Span) -> Span:
    if a.first <= b.first and a.last >= b.last:
        return a
    return Span(min(a.first, b.first), max(a.last, b.last))


def join_registers(a: Registers, b: Registers) -> Registers:
    return merged(a, b, _later)


def _later(a: LwwRegister, b: LwwRegister) -> LwwRegister:
    return a if a >= b else b


def smaller(a: S, b: S) -> S:
    # Two spellings cannot share a urn. If a hash collides, the choice must not depend on the order.
    return a if a <= b else b


def _newer(a: LwwRegister | None, b: LwwRegister | None) -> LwwRegister | None:
    return _later(a, b) if a is not None and b is not None else a or b


def _latest(a: int | None, b: int | None) -> int | None:
    return max((instant for instant in (a, b) if instant is not None), default=None)


def is_deleted(facts: DatasetFacts | JobFacts) -> bool:
    """Return True if a deletion is not older than any observation of a dataset or a job."""
    span, deleted = facts.span, facts.deleted
    return deleted is not None and (span is None or span.last <= deleted)


def join_usages(a: Usage, b: Usage) -> Usage:
    explicit = a.explicit if b.explicit is None else b.explicit | (a.explicit or set())
    return Usage(
        dataset=smaller(a.dataset, b.dataset),
        facets=join_registers(a.facets, b.facets),
        schema=_newer(a.schema, b.schema),
        version=_newer(a.version, b.version),
        lifecycle=_newer(a.lifecycle, b.lifecycle),
        partitions=_smallest(a.partitions, b.partitions, PARTITIONS_MAX),
        made=a.made or b.made,
        dropped=a.dropped or b.dropped,
        derived=_union(a.derived, b.derived),
        explicit=explicit,
        jobs=_union(a.jobs, b.jobs),
        write_evidence=_union(a.write_evidence, b.write_evidence),
        stream=join_streams(a.stream, b.stream),
        foreign=a.foreign and b.foreign,
        masked=_smallest(a.masked, b.masked, MASKED_MAX),
    )


def _smallest(a: set[C], b: set[C], limit: int) -> set[C]:
    found = _union(a, b)
    return found if len(found) <= limit else set(sorted(found)[:limit])


def join_reports(a: RunFacts, b: RunFacts) -> RunFacts:
    """Join facts of one run that belong together (`headwater.schema.run_senders`)."""
    jobs = merged(a.jobs, b.jobs, smaller)
    named_jobs = merged(a.named_jobs, b.named_jobs, smaller)
    if named_jobs:
        named_jobs = {urn: name for urn, name in named_jobs.items() if urn not in jobs}
    return RunFacts(
        run_id=smaller(a.run_id, b.run_id),
        span=join_spans(a.span, b.span),
        states=_union(a.states, b.states),
        jobs=jobs,
        parents=merged(a.parents, b.parents, smaller),
        roots=merged(a.roots, b.roots, smaller),
        after=merged(a.after, b.after, smaller),
        sources=merged(a.sources, b.sources, smaller),
        facets=join_registers(a.facets, b.facets),
        code=_newer(a.code, b.code),
        source_hash=_newer(a.source_hash, b.source_hash),
        is_rdd_job=a.is_rdd_job or b.is_rdd_job,
        inputs=merged(a.inputs, b.inputs, join_usages),
        outputs=merged(a.outputs, b.outputs, join_usages),
        named_jobs=named_jobs,
        traces=_smallest(a.traces, b.traces, TRACES_MAX),
        references=merged(a.references, b.references, _union),
        sender=a.sender,
        receipts=join_spans(a.receipts, b.receipts),
    )


def join_assertions(a: Assertion, b: Assertion) -> Assertion:
    return Assertion(smaller(a.name, b.name), min(a.first, b.first), max(a.last, b.last))


def linked_by(facts: DatasetFacts) -> set[str]:
    """Return who declared the symlinks of a name: unrestricted keys, if facts do not state it."""
    return {ANY_KEY} if facts.symlinks and not facts.linked_by else facts.linked_by


def _join_senders(a: DatasetFacts, b: DatasetFacts) -> set[str]:
    if not a.linked_by and not b.linked_by:
        return set()
    return linked_by(a) | linked_by(b)


def join_datasets(a: DatasetFacts, b: DatasetFacts) -> DatasetFacts:
    return DatasetFacts(
        dataset=smaller(a.dataset, b.dataset),
        span=join_spans(a.span, b.span),
        facets=join_registers(a.facets, b.facets),
        symlinks=merged(a.symlinks, b.symlinks, join_assertions),
        linked_by=_join_senders(a, b),
        unlinked=_latest(a.unlinked, b.unlinked),
        unlinked_by=merged(a.unlinked_by, b.unlinked_by, max),
        by_hand=join_registers(a.by_hand, b.by_hand),
        tag_edits=join_registers(a.tag_edits, b.tag_edits),
        deleted=_latest(a.deleted, b.deleted),
        edits=join_registers(a.edits, b.edits),
        history=join_histories(a.history, b.history),
        schemas=merged(a.schemas, b.schemas, _wider),
        sources=merged(a.sources, b.sources, join_assertions),
        declared=_newer(a.declared, b.declared),
        captures=join_instants(a.captures, b.captures),
    )


def join_instants(a: set[int], b: set[int]) -> set[int]:
    """Return the newest instants of both: the order of arrival does not change them."""
    instants = _union(a, b)
    return instants if len(instants) <= INSTANTS_MAX else set(sorted(instants)[-INSTANTS_MAX:])


def join_histories(a: set[Edit], b: set[Edit]) -> set[Edit]:
    """Return the newest edits of both: the order of arrival does not change them."""
    edits = _union(a, b)
    return edits if len(edits) <= EDITS_MAX else set(sorted(edits)[-EDITS_MAX:])


def join_jobs(a: JobFacts, b: JobFacts) -> JobFacts:
    return JobFacts(
        job=smaller(a.job, b.job),
        span=join_spans(a.span, b.span),
        facets=join_registers(a.facets, b.facets),
        tag_edits=join_registers(a.tag_edits, b.tag_edits),
        deleted=_latest(a.deleted, b.deleted),
        edits=join_registers(a.edits, b.edits),
        history=join_histories(a.history, b.history),
        parents=merged(a.parents, b.parents, smaller),
        roots=merged(a.roots, b.roots, smaller),
        after=merged(a.after, b.after, join_assertions),
        sources=merged(a.sources, b.sources, join_assertions),
        inputs=merged(a.inputs, b.inputs, join_assertions),
        outputs=merged(a.outputs, b.outputs, join_assertions),
        declared_inputs=_newer(a.declared_inputs, b.declared_inputs),
        declared_outputs=_newer(a.declared_outputs, b.declared_outputs),
        explicit=_union(a.explicit, b.explicit),
    )


def join_answers(a: AnswerFacts, b: AnswerFacts) -> AnswerFacts:
    registers = [register for register in (a.answer, b.answer) if register is not None]
    return AnswerFacts(
        smaller(a.answer_id, b.answer_id),
        max(registers, default=None),
        join_instants(a.generated, b.generated),
    )


def join_tags(a: TagFacts, b: TagFacts) -> TagFacts:
    return TagFacts(smaller(a.name, b.name), _newer(a.definition, b.definition))


def join_derivations(a: Derivation, b: Derivation) -> Derivation:
    if a.covers(b):
        return a
    return Derivation(min(a.first, b.first), a.kinds | b.kinds)


def join_undated(a: UndatedEvent, b: UndatedEvent) -> UndatedEvent:
    return UndatedEvent(
        min(a.instant, b.instant),
        a.event_instant,
        min(a.first_received, b.first_received),
        max(a.received, b.received),
        # Copies may differ in spaces.
        min(a.body, b.body),
    )


def add_all(into: dict[K, V], values: Mapping[K, V], join: Callable[[V, V], V]) -> None:
    """Join values to the present values of their keys, in place."""
    for key, value in values.items():
        add(into, key, value, join)


def add(into: dict[K, V], key: K, value: V, join: Callable[[V, V], V]) -> None:
    """Join a value to the present value of its key."""
    mine = into.get(key)
    if mine is None:
        into[key] = value
    elif mine is not value:
        into[key] = join(mine, value)
