"""Fold job events: lineage declared at design time. A newer declaration replaces the older."""

from __future__ import annotations

from headwater.ingest.fold.accumulator import (
    DeltaAccumulator,
    add_assertion,
    canonical_json,
    dataset_urn_of,
    is_named,
    job_urn_of,
)
from headwater.ingest.fold.datasets import (
    DECLARED,
    add_column_lineage,
    describe_input,
    describe_output,
)
from headwater.ingest.fold.edits import add_edits, is_edit
from headwater.ingest.fold.facet_readings import read_dataset, read_job
from headwater.ingest.fold.lineage_facets import JOB, Target, lineage_deleted
from headwater.ingest.fold.run_events import add_job_target, describe_job, is_own_target
from headwater.schema.events import Event, Job
from headwater.schema.facts import JobFacts, Name, RunFacts


def fold_job_event(accumulator: DeltaAccumulator, event: Event, job: Job) -> None:
    """Fold a job event."""
    declared = JobFacts(Name(job.namespace, job.name))
    add_edits(accumulator, declared, job.facets)
    if is_edit(job.facets) and not event.inputs and not event.outputs:
        accumulator.add_job(declared)
        return
    reading = read_job(job.facets)
    accumulator.describe_once(describe_job, declared.job, reading)
    outputs: dict[str, list[str] | None] = {}
    for dataset in event.inputs:
        name = accumulator.normalise(dataset)
        accumulator.describe_once(describe_input, name, read_dataset(dataset.facets))
        add_assertion(declared.inputs, dataset_urn_of(name), accumulator.assertion(name))
    for dataset in event.outputs:
        name, output = accumulator.normalise(dataset), read_dataset(dataset.facets)
        accumulator.describe_once(describe_output, name, output, declared.job)
        urn = dataset_urn_of(name)
        add_assertion(declared.outputs, urn, accumulator.assertion(name))
        outputs[urn] = None
        if output.lineage:
            outputs[urn] = _add_declared_sources(accumulator, declared, name, output.lineage)
    entries = reading.lineage
    if entries is not None:
        outputs = {urn: sources or [] for urn, sources in outputs.items()}
        _add_declared_entries(accumulator, declared, entries, outputs)
    # An event without datasets declares none only if a lineage facet lists them, or is deleted.
    is_complete = entries is not None or lineage_deleted(job.facets)
    if declared.inputs or is_complete:
        declared.declared_inputs = accumulator.register(canonical_json(sorted(declared.inputs)))
    if outputs or is_complete:
        declared.declared_outputs = accumulator.register(canonical_json(outputs))
    accumulator.add_job(declared)


def _add_declared_entries(
    accumulator: DeltaAccumulator,
    job: JobFacts,
    entries: list[Target],
    outputs: dict[str, list[str] | None],
) -> None:
    """Add the entries of a job's lineage facet; enter the sources of each output in `outputs`."""
    for target in entries:
        if target.type == JOB and is_own_target(job, target):
            _add_declared_inputs(accumulator, job, target)
        elif target.type == JOB:
            add_job_target(accumulator, RunFacts(""), job, target)
        elif is_named(target):
            name = accumulator.naming.normalise(target.namespace, target.name)
            urn = accumulator.ensure_dataset(name)
            add_assertion(job.outputs, urn, accumulator.assertion(name))
            sources = _add_declared_sources(accumulator, job, name, target)
            outputs[urn] = sorted({*(outputs.get(urn) or ()), *sources})


def _add_declared_inputs(accumulator: DeltaAccumulator, job: JobFacts, target: Target) -> None:
    """Add the datasets and jobs that a declaration names as inputs of its own job."""
    for source in target.datasets():
        name = accumulator.normalise(source)
        urn = accumulator.ensure_dataset(name)
        add_assertion(job.inputs, urn, accumulator.assertion(name))
    for source in target.jobs():
        other = Name(source.namespace, source.name)
        if source.name and other != job.job:
            urn = accumulator.add_job(JobFacts(other))
            add_assertion(job.inputs, urn, accumulator.assertion(other))


def _add_declared_sources(
    accumulator: DeltaAccumulator, job: JobFacts, output: Name, lineage: Target
) -> list[str]:
    """Add the declared sources of an output as inputs of its job; return the dataset urns."""
    sources = add_column_lineage(accumulator, output, lineage, job.job, evidence_kind=DECLARED)
    for name in sources:
        add_assertion(job.inputs, dataset_urn_of(name), accumulator.assertion(name))
    for source in lineage.jobs():
        if source.name and Name(source.namespace, source.name) != job.job:
            other = JobFacts(Name(source.namespace, source.name))
            if accumulator.covers(source.namespace):
                other.outputs[dataset_urn_of(output)] = accumulator.assertion(output)
            else:
                # The key may only say what goes into its own job.
                assertion = accumulator.assertion(other.job)
                add_assertion(job.inputs, job_urn_of(other.job), assertion)
            accumulator.add_job(other)
    return sorted(dataset_urn_of(name) for name in sources)
