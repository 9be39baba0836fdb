"""Fold run events: the run, its job, inputs, outputs, parents and predecessors."""

from __future__ import annotations

from typing import NamedTuple

from headwater.ingest.fold.accumulator import (
    DROP,
    DeltaAccumulator,
    add_assertion,
    add_input,
    add_usage,
    dataset_urn_of,
    is_named,
    job_urn_of,
    renamed_from,
)
from headwater.ingest.fold.canonical_facets import canonical_texts
from headwater.ingest.fold.datasets import (
    LINEAGE,
    RENAMED,
    add_column_lineage,
    add_derivation,
    describe_input,
    describe_output,
    masked_columns,
    sources_of,
)
from headwater.ingest.fold.facet_readings import DatasetReading, JobReading, read_dataset, read_job
from headwater.ingest.fold.lineage_facets import JOB, Source, Target, job_lineage
from headwater.ingest.fold.write_evidence import (
    SILENCE_EVIDENCE,
    CommitReport,
    SqlEvidence,
    commit_evidence,
    event_evidence,
    evidence_for,
    is_dynamic_overwrite,
)
from headwater.schema.events import TERMINAL, Dataset, Event, Job, Run
from headwater.schema.facets import read_parent, salvage
from headwater.schema.facets.run import JobDependencies, JobDependency
from headwater.schema.facts import JobFacts, LwwRegister, Name, RunFacts, Usage
from headwater.schema.stream_facts import stream_facts
from headwater.schema.stream_offsets import partitions_in
from headwater.schema.traces import trace_ids_in
from headwater.schema.urns import reported_run_id, run_urn

# A run measures the version that it reads or writes, also by the facet of the dataset.
_METRICS = "dataQualityMetrics"
_SPARK = "/integration/spark"


def fold_run_event(
    accumulator: DeltaAccumulator, event: Event, event_run: Run, event_job: Job
) -> None:
    """Fold a run event."""
    job = JobFacts(Name(event_job.namespace, event_job.name))
    reading = read_job(event_job.facets)
    accumulator.describe_once(describe_job, job.job, reading)
    run = RunFacts(
        run_id=reported_run_id(event_run.run_id),
        span=accumulator.span,
        jobs={job_urn_of(job.job): job.job},
        facets=accumulator.registers(canonical_texts(event_run.facets)),
        code=accumulator.register(reading.code) if reading.code else None,
        source_hash=accumulator.register(reading.source_hash) if reading.source_hash else None,
        is_rdd_job=_is_rdd_job(event, reading),
        traces=trace_ids_in(event_run.facets),
    )
    if event.state == "START" or event.state in TERMINAL:
        run.states = {(event.instant, event.state)}
    for dataset in event.inputs:
        _add_input(accumulator, run, dataset)
    if event.outputs:
        write = _write_of(accumulator, event, reading)
        for dataset in event.outputs:
            _add_output(accumulator, run, job, dataset, write)
    for lineage in (reading.lineage, job_lineage(event_run.facets)):
        if lineage is not None:
            _add_job_lineage(accumulator, run, job, lineage)
    _set_job_of_usages(run)
    _add_parents(accumulator, run, job, event_run)
    _add_dependencies(accumulator, run, job, event_run)
    accumulator.add_job(job)
    accumulator.add_run(run, job.job.namespace)
    if not event.sender:
        heartbeats = accumulator.delta.last_heartbeats
        urn = run_urn(run.run_id)
        heartbeats[urn] = max(event.received, heartbeats.get(urn, event.received))


def _set_job_of_usages(run: RunFacts) -> None:
    """Set the job of the event as the job that read and wrote what the event reports."""
    jobs = set(run.jobs)
    for usage in (*run.inputs.values(), *run.outputs.values()):
        usage.jobs = jobs


def _is_rdd_job(event: Event, reading: JobReading) -> bool:
    """Return True for a job on Spark's RDDs, and for any job of a listener that sends no type."""
    if reading.job_type is None:
        return _SPARK in event.producer
    return reading.job_type == "RDD_JOB"


def describe_job(accumulator: DeltaAccumulator, name: Name, reading: JobReading) -> None:
    """Add a job with the facts of its facets."""
    accumulator.add_job(JobFacts(name, accumulator.span, accumulator.registers(reading.texts)))


def _add_input(accumulator: DeltaAccumulator, run: RunFacts, dataset: Dataset) -> None:
    name, reading = accumulator.normalise(dataset), read_dataset(dataset.facets)
    accumulator.describe_once(describe_input, name, reading)
    usage = _usage(accumulator, dataset, name, reading)
    if dataset.input_facets:
        texts = canonical_texts(dataset.input_facets)
        usage.facets = {**usage.facets, **accumulator.registers(texts)}
        found = partitions_in(dataset.input_facets, dataset.name)
        usage.stream = stream_facts(found, accumulator.last, accumulator.rank)
    if reading.version is not None:
        # The first event names the version that the run read. By the last event the run itself may
        # have made a newer one.
        usage.version = LwwRegister(-accumulator.first, -accumulator.rank, reading.version)
    add_usage(run.inputs, usage)


class _Write(NamedTuple):
    """What an event of a run says about its writes.

    `silence` is what it means that the producer does not report a mode.
    """

    state: str
    sql: SqlEvidence
    silence: str
    is_dynamic_overwrite: bool


def _write_of(accumulator: DeltaAccumulator, event: Event, reading: JobReading) -> _Write:
    name = event.job.name if event.job is not None else ""
    facets = event.run.facets if event.run is not None else None
    properties = (facets or {}).get("spark_properties") or b""
    silence = SILENCE_EVIDENCE.get(accumulator.naming.silent_write(event.producer), "")
    return _Write(event.state, reading.sql, silence, is_dynamic_overwrite(name, bytes(properties)))


def _write_evidence(dataset: Dataset, reading: DatasetReading, usage: Usage, write: _Write) -> str:
    """Return what an event proves about the content before a write."""
    facets = dataset.output_facets
    report = facets.get("icebergCommitReport") if facets else None
    return event_evidence(
        reported=reading.write,
        commit=commit_evidence(salvage(CommitReport, report)) if report is not None else "",
        sql=evidence_for(write.sql, dataset.name),
        silence=write.silence,
        is_part=bool(usage.partitions) or "subset" in usage.facets or write.is_dynamic_overwrite,
    )


def _add_output(
    accumulator: DeltaAccumulator, run: RunFacts, job: JobFacts, dataset: Dataset, write: _Write
) -> None:
    name, reading = accumulator.normalise(dataset), read_dataset(dataset.facets)
    accumulator.describe_once(describe_output, name, reading, job.job)
    usage = _usage(accumulator, dataset, name, reading)
    if dataset.output_facets:
        texts = canonical_texts(dataset.output_facets)
        usage.facets = {**usage.facets, **accumulator.registers(texts)}
        found = partitions_in(dataset.output_facets, dataset.name)
        usage.stream = stream_facts(found, accumulator.last, accumulator.rank)
    if reading.version is not None and (write.state in TERMINAL or not write.state):
        usage.version = accumulator.register(reading.version)
    if reading.lifecycle is not None:
        kind = reading.lifecycle.lifecycle_state_change.upper()
        usage.lifecycle = accumulator.register(kind)
        usage.made, usage.dropped = kind != DROP, kind == DROP
    evidence = _write_evidence(dataset, reading, usage, write)
    if evidence:
        usage.write_evidence = {evidence}
    usage.derived = sources_of(accumulator, name, reading.columns, job.job)
    usage.masked = set(masked_columns(accumulator, name, reading.columns, job.job))
    old = renamed_from(accumulator, name, reading.lifecycle)
    if old is not None:
        # A renamed dataset comes from the old name, in addition to the sources of its columns.
        accumulator.ensure_dataset(old)
        add_input(run.inputs, old)
        if usage.derived:
            add_derivation(accumulator, name, old, job.job, RENAMED)
            usage.derived.add(old)
    # The run read the sources of the columns, even those missing from its inputs, such as dbt
    # seeds.
    for source in usage.derived:
        if source != name:
            add_input(run.inputs, source)
    if reading.lineage is not None:
        usage.explicit = _add_output_lineage(accumulator, run, job, name, reading.lineage)
        usage.masked |= masked_columns(accumulator, name, reading.lineage, job.job)
    add_usage(run.outputs, usage)


def _usage(
    accumulator: DeltaAccumulator, dataset: Dataset, name: Name, reading: DatasetReading
) -> Usage:
    usage = Usage(name)
    partition = _partition(dataset.name, name.name)
    if partition:
        usage.partitions = {partition}
    if not accumulator.covers(name.namespace):
        return usage
    if reading.schema:
        usage.schema = accumulator.register(reading.schema)
    metrics = reading.texts.get(_METRICS)
    if metrics is not None:
        usage.facets = {_METRICS: accumulator.register(metrics)}
    return usage


def _partition(original: str, name: str) -> str:
    """Return the rest of a name as sent, after the normalised name, whatever their beginnings."""
    if original == name:
        return ""
    last = name.rstrip("/").rpartition("/")[2]
    _, found, partition = f"/{original.strip('/')}/".rpartition(f"/{last}/")
    return partition.strip("/") if found else ""


def _add_output_lineage(
    accumulator: DeltaAccumulator, run: RunFacts, job: JobFacts, output: Name, lineage: Target
) -> set[Name]:
    """Add the lineage facet of a run's output; return its sources, all inputs of the run."""
    sources = add_column_lineage(accumulator, output, lineage, job.job, evidence_kind=LINEAGE)
    job.explicit.add(dataset_urn_of(output))
    for name in sources:
        add_input(run.inputs, name)
    for source in lineage.jobs():
        _add_source_job(accumulator, source, run, job, output)
    return sources


def _add_source_job(
    accumulator: DeltaAccumulator, source: Source, run: RunFacts, job: JobFacts, output: Name
) -> None:
    """Add another job whose data went into a dataset: that job wrote it too.

    If the key may not describe that job, its data went into the job of the event.
    """
    if not source.name:
        return
    if not accumulator.covers(source.namespace):
        _add_direct_source(accumulator, source, job, run, job)
        return
    other = JobFacts(Name(source.namespace, source.name))
    urn = dataset_urn_of(output)
    if source.run_id and reported_run_id(source.run_id) != run.run_id:
        other_run = RunFacts(reported_run_id(source.run_id), outputs={urn: Usage(output)})
        other_run.jobs[accumulator.add_job(other)] = other.job
        _set_job_of_usages(other_run)
        accumulator.add_other_run(other_run, other.job.namespace)
    accumulator.add_job(JobFacts(other.job, outputs={urn: accumulator.assertion(output)}))


def _add_job_lineage(
    accumulator: DeltaAccumulator, run: RunFacts, job: JobFacts, lineage: list[Target]
) -> None:
    """Add the lineage facet of a job to its run.

    The facet adds inputs and outputs. With it, an output no longer comes from all inputs, but from
    those that the facet names.
    """
    for usage in run.outputs.values():
        usage.explicit = usage.explicit or set()
        job.explicit.add(dataset_urn_of(usage.dataset))
    for target in lineage:
        if target.type == JOB:
            add_job_target(accumulator, run, job, target)
        elif is_named(target):
            output = accumulator.naming.normalise(target.namespace, target.name)
            accumulator.ensure_dataset(output)
            sources = _add_output_lineage(accumulator, run, job, output, target)
            masked = set(masked_columns(accumulator, output, target, job.job))
            add_usage(run.outputs, Usage(output, explicit=sources, masked=masked))


def is_own_target(job: JobFacts, target: Target) -> bool:
    """Return True if a lineage entry for a job is about the job of the event."""
    return not target.name or Name(target.namespace, target.name) == job.job


def add_job_target(
    accumulator: DeltaAccumulator, run: RunFacts, job: JobFacts, target: Target
) -> None:
    """Add a lineage entry whose target is a job: the job of the event, or another."""
    if is_own_target(job, target):
        for source in target.datasets():
            name = accumulator.normalise(source)
            accumulator.ensure_dataset(name)
            add_input(run.inputs, name)
        for source in target.jobs():
            _add_direct_source(accumulator, source, job, run, job)
        return
    if not accumulator.covers(target.namespace):
        return
    other = JobFacts(Name(target.namespace, target.name))
    other_run = RunFacts(reported_run_id(target.run_id)) if target.run_id else None
    for source in target.datasets():
        name = accumulator.normalise(source)
        urn = accumulator.ensure_dataset(name)
        add_assertion(other.inputs, urn, accumulator.assertion(name))
        if other_run is not None:
            add_input(other_run.inputs, name)
    for source in target.jobs():
        _add_direct_source(accumulator, source, other, other_run, job)
    urn = accumulator.add_job(other)
    if other_run is not None:
        other_run.jobs[urn] = other.job
        _set_job_of_usages(other_run)
        accumulator.add_other_run(other_run, other.job.namespace)


def _add_direct_source(
    accumulator: DeltaAccumulator,
    source: Source,
    into: JobFacts,
    run: RunFacts | None,
    own: JobFacts,
) -> None:
    """Add that data went from one job into another without a dataset between."""
    name = Name(source.namespace, source.name) if source.name else own.job
    if name == into.job:
        return
    urn = accumulator.add_job(JobFacts(name))
    add_assertion(into.sources, urn, accumulator.assertion(name))
    if source.run_id and run is not None:
        other = RunFacts(reported_run_id(source.run_id), named_jobs={urn: name})
        accumulator.refer(run, run.sources, other.run_id, name.namespace)
        accumulator.add_other_run(other, name.namespace)


def _add_parents(
    accumulator: DeltaAccumulator, run: RunFacts, job: JobFacts, event_run: Run
) -> None:
    """Add the parent run and the root run, by id and job; their state stays unknown."""
    parent = read_parent(event_run.facets)
    if parent is None:
        return
    above, top = (Name(*name) if name else None for name in (parent.job, parent.root_job))
    if above is not None and above != job.job:
        job.parents[_add_parent_job(accumulator, above, top)] = above
    parent_id = reported_run_id(parent.run_id) if parent.run_id else run.run_id
    root_id = reported_run_id(parent.root_run_id) if parent.root_run_id else parent_id
    # Without a job of its own, the run above is of the same team.
    near, far = (name or job.job for name in (above, top))
    if parent_id != run.run_id:
        accumulator.refer(run, run.parents, parent_id, near.namespace)
        parent_run = RunFacts(parent_id, named_jobs=_jobs(above))
        if root_id != parent_id:
            accumulator.refer(parent_run, parent_run.roots, root_id, far.namespace)
        accumulator.add_other_run(parent_run, near.namespace)
    if root_id not in (parent_id, run.run_id):
        accumulator.refer(run, run.roots, root_id, far.namespace)
        if top is not None:
            accumulator.add_job(JobFacts(top))
        accumulator.add_other_run(RunFacts(root_id, named_jobs=_jobs(top)), far.namespace)
    elif root_id != parent_id and far.namespace != job.job.namespace:
        # The parent has a root with the id of this run, which is a run of another team.
        accumulator.add_other_run(RunFacts(root_id), far.namespace)


def _add_parent_job(accumulator: DeltaAccumulator, above: Name, top: Name | None) -> str:
    """Add the parent job, below the root job if that is another; return its urn."""
    roots = {}
    if top is not None and top != above:
        roots = {accumulator.add_job(JobFacts(top)): top}
    return accumulator.add_other_job(JobFacts(above, roots=roots))


def _jobs(name: Name | None) -> dict[str, Name]:
    return {job_urn_of(name): name} if name else {}


def _add_dependencies(
    accumulator: DeltaAccumulator, run: RunFacts, job: JobFacts, event_run: Run
) -> None:
    """Add the order of execution from the jobDependencies facet. No data flows along it."""
    facet = (event_run.facets or {}).get("jobDependencies")
    dependencies = salvage(JobDependencies, facet) if facet is not None else None
    if dependencies is None:
        return
    for dependency in dependencies.upstream or ():
        _add_dependency(accumulator, run, job, dependency, upstream=True)
    for dependency in dependencies.downstream or ():
        _add_dependency(accumulator, run, job, dependency, upstream=False)


def _add_dependency(
    accumulator: DeltaAccumulator,
    run: RunFacts,
    job: JobFacts,
    other: JobDependency,
    *,
    upstream: bool,
) -> None:
    if not is_named(other.job):
        return
    other_job = JobFacts(Name(other.job.namespace, other.job.name))
    if other_job.job != job.job:
        earlier, later = (other_job, job) if upstream else (job, other_job)
        add_assertion(later.after, job_urn_of(earlier.job), accumulator.assertion(earlier.job))
    urn = accumulator.add_other_job(other_job)
    if other.run is None or not other.run.run_id.strip():
        return
    other_run = RunFacts(reported_run_id(other.run.run_id))
    if other_run.run_id != run.run_id:
        other_run.named_jobs[urn] = other_job.job
        if upstream:
            accumulator.refer(run, run.after, other_run.run_id, other_job.job.namespace)
        else:
            accumulator.refer(other_run, other_run.after, run.run_id, job.job.namespace)
        accumulator.add_other_run(other_run, other_job.job.namespace)
