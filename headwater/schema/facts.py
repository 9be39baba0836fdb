"""Facts: what the events say of one run, job, dataset or answer, as values that can be joined.

`join` is associative, commutative and idempotent: sets are united, the earliest and latest instants kept, and of
two values of one facet the one with the higher (event instant, state rank, value) stays. That is the whole reason
why neither the order, nor the number of times, nor the batches in which events arrive can change the graph:

    facts = join of what each event says          graph = project(facts)

Instants are microseconds since 1970, UTC. Facet values are canonical JSON text; "" stands for a deleted facet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

K = TypeVar("K")
V = TypeVar("V")
S = TypeVar("S", str, "Name")


class Register(msgspec.Struct, array_like=True, frozen=True, order=True):
    """A last-writer-wins value: the highest (instant, rank, value) stays."""

    instant: int
    rank: int
    value: str


class Name(msgspec.Struct, array_like=True, frozen=True, order=True):
    """The two halves of the name of a dataset or a job."""

    namespace: str
    name: str


class Span(msgspec.Struct, array_like=True, frozen=True):
    """The earliest and the latest instant at which something was seen. None where it was only referred to."""

    first: int
    last: int


Registers = dict[str, Register]


class Usage(msgspec.Struct, omit_defaults=True):
    """How one run used one dataset: its input or output facets, and for an output the datasets it came from."""

    dataset: Name
    facets: Registers = {}
    derived: set[Name] = set()


class RunFacts(msgspec.Struct, omit_defaults=True):
    run_id: str
    span: Span | None = None
    # (instant, START | COMPLETE | ABORT | FAIL): RUNNING and OTHER change no state and are not kept one by one
    states: set[tuple[int, str]] = set()
    jobs: dict[str, Name] = {}
    parents: dict[str, str] = {}
    facets: Registers = {}
    inputs: dict[str, Usage] = {}
    outputs: dict[str, Usage] = {}


class DatasetFacts(msgspec.Struct, omit_defaults=True):
    dataset: Name
    span: Span | None = None
    facets: Registers = {}


class JobFacts(msgspec.Struct, omit_defaults=True):
    job: Name
    span: Span | None = None
    facets: Registers = {}
    # design-time lineage: what job events declare without a run
    inputs: dict[str, Name] = {}
    outputs: dict[str, Name] = {}


class AnswerFacts(msgspec.Struct, omit_defaults=True):
    answer_id: str
    # None for an answer that others cite and nobody has sent yet
    answer: Register | None = None


class Flow(msgspec.Struct, array_like=True, frozen=True):
    """A column edge or a derivation. It only ever grows: when it was first seen, and in which ways."""

    first: int
    ways: frozenset[str] = frozenset()

    def covers(self, other: Flow) -> bool:
        """Whether the other says nothing that this does not say already."""
        return self.first <= other.first and self.ways >= other.ways


class ColumnKey(msgspec.Struct, array_like=True, frozen=True, order=True):
    """A column edge: from a field of one dataset to a field of another, through a job ("" when none is named)."""

    source: Name
    source_field: str
    target: Name
    target_field: str
    job: str


class DerivationKey(msgspec.Struct, array_like=True, frozen=True, order=True):
    """On the map: `output` is known to come from `input` when `job` makes it."""

    output: Name
    input: Name
    job: str


class GraphDelta(msgspec.Struct):
    """What a set of events says, by urn: the only thing that is ever written to the graph."""

    runs: dict[str, RunFacts] = {}
    jobs: dict[str, JobFacts] = {}
    datasets: dict[str, DatasetFacts] = {}
    answers: dict[str, AnswerFacts] = {}
    columns: dict[ColumnKey, Flow] = {}
    derivations: dict[DerivationKey, Flow] = {}


def _merged(a: Mapping[K, V], b: Mapping[K, V], join: Callable[[V, V], V]) -> dict[K, V]:
    if not b:
        return dict(a)
    merged = dict(a)
    for key, value in b.items():
        mine = merged.get(key)
        merged[key] = value if mine is None else join(mine, value)
    return merged


def join_spans(a: Span | None, b: Span | None) -> Span | None:
    if a is None or b is None:
        return a or b
    return Span(min(a.first, b.first), max(a.last, b.last))


def join_registers(a: Registers, b: Registers) -> Registers:
    return _merged(a, b, max)


def _smaller(a: S, b: S) -> S:
    # Two spellings cannot share a urn; should a hash ever collide, the choice must not depend on order.
    return min(a, b)


def join_usages(a: Usage, b: Usage) -> Usage:
    return Usage(_smaller(a.dataset, b.dataset), join_registers(a.facets, b.facets), a.derived | b.derived)


def join_runs(a: RunFacts, b: RunFacts) -> RunFacts:
    return RunFacts(
        run_id=_smaller(a.run_id, b.run_id),
        span=join_spans(a.span, b.span),
        states=a.states | b.states,
        jobs=_merged(a.jobs, b.jobs, _smaller),
        parents=_merged(a.parents, b.parents, _smaller),
        facets=join_registers(a.facets, b.facets),
        inputs=_merged(a.inputs, b.inputs, join_usages),
        outputs=_merged(a.outputs, b.outputs, join_usages),
    )


def join_datasets(a: DatasetFacts, b: DatasetFacts) -> DatasetFacts:
    return DatasetFacts(_smaller(a.dataset, b.dataset), join_spans(a.span, b.span), join_registers(a.facets, b.facets))


def join_jobs(a: JobFacts, b: JobFacts) -> JobFacts:
    return JobFacts(
        job=_smaller(a.job, b.job),
        span=join_spans(a.span, b.span),
        facets=join_registers(a.facets, b.facets),
        inputs=_merged(a.inputs, b.inputs, _smaller),
        outputs=_merged(a.outputs, b.outputs, _smaller),
    )


def join_answers(a: AnswerFacts, b: AnswerFacts) -> AnswerFacts:
    said = [register for register in (a.answer, b.answer) if register is not None]
    return AnswerFacts(_smaller(a.answer_id, b.answer_id), max(said, default=None))


def join_flows(a: Flow, b: Flow) -> Flow:
    return Flow(min(a.first, b.first), a.ways | b.ways)


def join(a: GraphDelta, b: GraphDelta) -> GraphDelta:
    """Both together. The empty GraphDelta changes nothing."""
    return GraphDelta(
        runs=_merged(a.runs, b.runs, join_runs),
        jobs=_merged(a.jobs, b.jobs, join_jobs),
        datasets=_merged(a.datasets, b.datasets, join_datasets),
        answers=_merged(a.answers, b.answers, join_answers),
        columns=_merged(a.columns, b.columns, join_flows),
        derivations=_merged(a.derivations, b.derivations, join_flows),
    )


def absorb(into: GraphDelta, delta: GraphDelta) -> None:
    """`into = join(into, delta)`, in place: folding many events stays linear in their number."""
    _absorb(into.runs, delta.runs, join_runs)
    _absorb(into.jobs, delta.jobs, join_jobs)
    _absorb(into.datasets, delta.datasets, join_datasets)
    _absorb(into.answers, delta.answers, join_answers)
    _absorb(into.columns, delta.columns, join_flows)
    _absorb(into.derivations, delta.derivations, join_flows)


def _absorb(into: dict[K, V], values: Mapping[K, V], join: Callable[[V, V], V]) -> None:
    for key, value in values.items():
        mine = into.get(key)
        into[key] = value if mine is None else join(mine, value)
