"""`fold(events) -> GraphDelta`: what a set of events says, with no I/O, no clock and no order.

The online worker calls it on small batches, the bulk pipelines on partitions; both then `join`. Every event is
looked at alone (`facts_of`), so the result is a function of the set of events and of nothing else.

A facet that is not what its name promises is left out of what is derived from it, never the event: a strict reader
would lose every event of a local Spark, whose `dataSource` facet breaks its own schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from headwater.schema import facts, native
from headwater.schema.events import TERMINAL, Dataset, Event, Facets, Job
from headwater.schema.facts import (
    AnswerFacts,
    ColumnKey,
    DatasetFacts,
    DerivationKey,
    Flow,
    GraphDelta,
    JobFacts,
    Name,
    Register,
    Registers,
    RunFacts,
    Span,
    Usage,
)
from headwater.schema.urns import answer_urn, canonical_run_id, dataset_urn, job_urn, run_urn

T = TypeVar("T")

# Of a facet larger than this the graph keeps the short values and the beginning of texts; the event log has it whole.
FACET_BYTES_MAX = 32_768
_KEPT_CHARACTERS = 4_000
# Nested deeper, a facet is none: how deep a reader can go would depend on where it is called from.
NESTING_MAX = 200
# Facets that come with every event of a pipeline (schemas, engines, owners) are short; long ones are not remembered.
_REMEMBERED_BYTES_MAX = 4_096
# Folded into edges, so not kept as text on the node as well.
_FOLDED_FACETS = frozenset({"columnLineage", native.ARTIFACT_FACET})
# What the graph itself is made from is kept whatever its size.
_NEVER_CUT = frozenset({"schema", native.ANSWER_FACET, native.SOURCE_FACET, native.ARTIFACT_FACET, native.RUN_FACET})


class _InputField(msgspec.Struct):
    namespace: str
    name: str
    field: str
    transformations: list[dict[str, Any]] | None = None


class _OutputField(msgspec.Struct, rename="camel"):
    input_fields: list[_InputField]
    transformation_type: str | None = None


class _ColumnLineage(msgspec.Struct):
    fields: dict[str, _OutputField] = {}
    dataset: list[_InputField] | None = None


class _ParentRun(msgspec.Struct, rename="camel"):
    run_id: str


class _ParentJob(msgspec.Struct):
    namespace: str
    name: str


class _ParentFacet(msgspec.Struct):
    run: _ParentRun
    job: _ParentJob | None = None


class _ArtifactFacet(msgspec.Struct, rename="camel"):
    run_id: str


_column_lineage = msgspec.json.Decoder(_ColumnLineage)
_parent = msgspec.json.Decoder(_ParentFacet)
_artifact = msgspec.json.Decoder(_ArtifactFacet)


def fold(events: Iterable[Event]) -> GraphDelta:
    """What all these events say together. Raises nothing for any event that `parse` let through."""
    delta = GraphDelta()
    for event in events:
        facts.absorb(delta, facts_of(event))
    return delta


def facts_of(event: Event) -> GraphDelta:
    """What one event says."""
    delta = GraphDelta()
    if event.run is not None:
        _run_event(delta, event)
    elif event.dataset is not None:
        _dataset_event(delta, event, event.dataset)
    elif event.job is not None:
        _job_event(delta, event, event.job)
    return delta


def _run_event(delta: GraphDelta, event: Event) -> None:
    assert event.run is not None
    assert event.job is not None
    run = RunFacts(
        run_id=canonical_run_id(event.run.run_id),
        span=_span(event),
        jobs={job_urn(event.job.namespace, event.job.name): Name(event.job.namespace, event.job.name)},
        facets=_registers(event, event.run.facets),
    )
    if event.state == "START" or event.state in TERMINAL:
        run.states = {(event.instant, event.state)}
    for dataset in event.inputs:
        _use(delta, run.inputs, event, dataset, dataset.input_facets)
    for dataset in event.outputs:
        usage = _use(delta, run.outputs, event, dataset, dataset.output_facets)
        usage.derived |= _column_flows(delta, event, dataset, event.job)
    _job(delta, event, event.job)
    _parents(delta, event, run)
    facts.absorb(delta, GraphDelta(runs={run_urn(run.run_id): run}))


def _job_event(delta: GraphDelta, event: Event, job: Job) -> None:
    declared = _job(delta, event, job)
    for dataset in event.inputs:
        declared.inputs[_dataset(delta, event, dataset)] = Name(dataset.namespace, dataset.name)
    for dataset in event.outputs:
        declared.outputs[_dataset(delta, event, dataset)] = Name(dataset.namespace, dataset.name)
        _column_flows(delta, event, dataset, job)


def _dataset_event(delta: GraphDelta, event: Event, dataset: Dataset) -> None:
    facets = dataset.facets or {}
    answer = facets.get(native.ANSWER_FACET)
    if answer is not None:
        _answer(delta, event, dataset, answer)
        return
    urn = _dataset(delta, event, dataset)
    _column_flows(delta, event, dataset, None)
    made = _decoded(_artifact, facets.get(native.ARTIFACT_FACET))
    if made is not None and made.run_id.strip():
        register = _registers(event, {native.ARTIFACT_FACET: facets[native.ARTIFACT_FACET]})
        run = RunFacts(
            run_id=canonical_run_id(made.run_id),
            outputs={urn: Usage(Name(dataset.namespace, dataset.name), register)},
        )
        facts.absorb(delta, GraphDelta(runs={run_urn(run.run_id): run}))


def _answer(delta: GraphDelta, event: Event, dataset: Dataset, facet: msgspec.Raw) -> None:
    register = _registers(event, {native.ANSWER_FACET: facet}).get(native.ANSWER_FACET)
    if register is None:
        return
    for citation in native.citations(register.value):
        if citation.answer_id:
            delta.answers[answer_urn(citation.answer_id)] = AnswerFacts(citation.answer_id)
        else:
            _mention(delta, Name(citation.namespace, citation.name))
    facts.absorb(delta, GraphDelta(answers={answer_urn(dataset.name): AnswerFacts(dataset.name, register)}))


def _use(delta: GraphDelta, used: dict[str, Usage], event: Event, dataset: Dataset, facets: Facets | None) -> Usage:
    urn = _dataset(delta, event, dataset)
    usage = Usage(Name(dataset.namespace, dataset.name), _registers(event, facets))
    mine = used.get(urn)  # one event may name a dataset twice
    used[urn] = usage if mine is None else facts.join_usages(mine, usage)
    return used[urn]


def _dataset(delta: GraphDelta, event: Event, dataset: Dataset) -> str:
    urn = dataset_urn(dataset.namespace, dataset.name)
    kept = {name: raw for name, raw in (dataset.facets or {}).items() if name not in _FOLDED_FACETS}
    said = DatasetFacts(Name(dataset.namespace, dataset.name), _span(event), _registers(event, kept))
    facts.absorb(delta, GraphDelta(datasets={urn: said}))
    return urn


def _mention(delta: GraphDelta, dataset: Name) -> None:
    """A dataset that an event only refers to: it is in the graph, and nothing more is said of it."""
    urn = dataset_urn(dataset.namespace, dataset.name)
    facts.absorb(delta, GraphDelta(datasets={urn: DatasetFacts(dataset)}))


def _job(delta: GraphDelta, event: Event, job: Job) -> JobFacts:
    said = JobFacts(Name(job.namespace, job.name), _span(event), _registers(event, job.facets))
    facts.absorb(delta, GraphDelta(jobs={job_urn(job.namespace, job.name): said}))
    return said


def _parents(delta: GraphDelta, event: Event, run: RunFacts) -> None:
    """The run this one is part of: known by name and job, but nothing is said of its state."""
    assert event.run is not None
    parent = _decoded(_parent, (event.run.facets or {}).get("parent"))
    if parent is None or not parent.run.run_id.strip():
        return
    above = RunFacts(run_id=canonical_run_id(parent.run.run_id))
    if above.run_id == run.run_id:
        return
    urn = run_urn(above.run_id)
    run.parents[urn] = above.run_id
    if parent.job is not None and parent.job.namespace.strip() and parent.job.name.strip():
        name = Name(parent.job.namespace, parent.job.name)
        above.jobs[job_urn(name.namespace, name.name)] = name
        facts.absorb(delta, GraphDelta(jobs={job_urn(name.namespace, name.name): JobFacts(name)}))
    facts.absorb(delta, GraphDelta(runs={urn: above}))


def _column_flows(delta: GraphDelta, event: Event, dataset: Dataset, job: Job | None) -> set[Name]:
    """The column edges into one dataset; returns the datasets they come from, in any way at all."""
    lineage = _decoded(_column_lineage, (dataset.facets or {}).get("columnLineage"))
    if lineage is None:
        return set()
    target = Name(dataset.namespace, dataset.name)
    through = job_urn(job.namespace, job.name) if job is not None else ""
    came_from: set[Name] = set()
    for field, output in lineage.fields.items():
        for source in output.input_fields:
            if not _named(source) or not field:
                continue
            came_from.add(Name(source.namespace, source.name))
            key = ColumnKey(Name(source.namespace, source.name), source.field, target, field, through)
            flow = Flow(event.instant, _ways(source, output.transformation_type))
            facts.absorb(delta, GraphDelta(columns={key: flow}))
    for source in lineage.dataset or ():
        if _named(source):
            came_from.add(Name(source.namespace, source.name))
    for name in came_from:
        _mention(delta, name)
        derivation = DerivationKey(target, name, through)
        facts.absorb(delta, GraphDelta(derivations={derivation: Flow(event.instant)}))
    return came_from


def _named(source: _InputField) -> bool:
    return bool(source.namespace.strip() and source.name.strip() and source.field.strip())


def _ways(source: _InputField, older_type: str | None) -> frozenset[str]:
    """How a column came to be: `DIRECT:IDENTITY`, `INDIRECT:FILTER`, with `:masked` where it was."""
    ways: set[str] = set()
    for step in source.transformations or ():
        words = [str(step.get("type") or "DIRECT"), str(step.get("subtype") or "")]
        words.append("masked" if step.get("masking") is True else "")
        ways.add(":".join(word for word in words if word))
    if not ways:
        ways.add(f"DIRECT:{older_type}" if older_type else "DIRECT")
    return frozenset(ways)


def _span(event: Event) -> Span:
    return Span(event.instant, event.instant)


def _registers(event: Event, facets: Mapping[str, msgspec.Raw] | None) -> Registers:
    registers: Registers = {}
    for name, raw in (facets or {}).items():
        text = bytes(raw)
        read = _remembered if len(text) <= _REMEMBERED_BYTES_MAX else _canonical
        value = read(text, name in _NEVER_CUT)
        if value is not None:
            registers[name] = Register(event.instant, event.rank, value)
    return registers


def _canonical(raw: bytes, whole: bool) -> str | None:
    """A facet as canonical JSON: "" when it says it is deleted, None when it is no facet at all."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or _too_deep(raw, value):
        return None
    if value.get("_deleted") is True:
        return ""
    if len(raw) > FACET_BYTES_MAX and not whole:
        value = {key: _cut(item) for key, item in value.items() if not isinstance(item, list | dict)}
        value["_bytes"] = len(raw)
        if sum(map(len, value)) > FACET_BYTES_MAX:
            value = {"_bytes": len(raw)}
    return msgspec.json.encode(value, order="sorted").decode()


_remembered = lru_cache(maxsize=8_192)(_canonical)


def _cut(value: Any) -> Any:
    return f"{value[:_KEPT_CHARACTERS]}…" if isinstance(value, str) and len(value) > _KEPT_CHARACTERS else value


def _too_deep(raw: bytes, value: Any) -> bool:
    if raw.count(b"[") + raw.count(b"{") <= NESTING_MAX:
        return False
    level = [value]
    for _ in range(NESTING_MAX):
        level = [
            item
            for holder in level
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, list | dict)
        ]
        if not level:
            return False
    return True


def _decoded(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw | None) -> T | None:
    if raw is None:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
