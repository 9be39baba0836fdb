"""Job events: lineage declared at design time. The newest declaration replaces those before it."""

from __future__ import annotations

from headwater.ingest.fold.accumulator import Said, add_assertion, halves, is_named, json_of
from headwater.ingest.fold.datasets import DECLARED, column_flows, tell_dataset, tell_output
from headwater.ingest.fold.facet_readings import read_dataset, read_job
from headwater.ingest.fold.lineage_facets import JOB, Target, lineage_deleted
from headwater.ingest.fold.run_events import into_job, tell_job
from headwater.schema.events import Event, Job
from headwater.schema.facts import JobFacts, Name, RunFacts
from headwater.schema.urns import dataset_urn


def job_event(said: Said, event: Event, job: Job) -> None:
    declared = JobFacts(Name(job.namespace, job.name))
    reading = read_job(job.facets)
    said.once(tell_job, declared.job, reading)
    outputs: dict[str, list[str] | None] = {}
    for dataset in event.inputs:
        name = said.name(dataset)
        said.once(tell_dataset, name, read_dataset(dataset.facets))
        add_assertion(declared.inputs, dataset_urn(*halves(name)), said.assertion(name))
    for dataset in event.outputs:
        name, output = said.name(dataset), read_dataset(dataset.facets)
        said.once(tell_output, name, output, declared.job)
        urn = dataset_urn(*halves(name))
        add_assertion(declared.outputs, urn, said.assertion(name))
        outputs[urn] = (
            _declared_sources(said, declared, name, output.lineage) if output.lineage else None
        )
    entries = reading.lineage
    if entries is not None:
        outputs = {urn: sources or [] for urn, sources in outputs.items()}
        _declared_entries(said, declared, entries, outputs)
    # Naming no datasets at all is not the same as saying that there are none.
    says_all = entries is not None or lineage_deleted(job.facets)
    if declared.inputs or says_all:
        declared.declared_inputs = said.register(json_of(sorted(declared.inputs)))
    if outputs or says_all:
        declared.declared_outputs = said.register(json_of(outputs))
    said.job(declared)


def _declared_entries(
    said: Said, job: JobFacts, entries: list[Target], outputs: dict[str, list[str] | None]
) -> None:
    for target in entries:
        own = target.type == JOB and (
            not target.name or Name(target.namespace, target.name) == job.job
        )
        if own:
            for source in target.datasets():
                name = said.name(source)
                add_assertion(job.inputs, said.mention(name), said.assertion(name))
            for source in target.jobs():
                other = Name(source.namespace, source.name)
                if source.name and other != job.job:
                    add_assertion(job.inputs, said.job(JobFacts(other)), said.assertion(other))
        elif target.type == JOB:
            into_job(said, RunFacts(""), job, target)
        elif is_named(target):
            name = said.naming.normalise(target.namespace, target.name)
            urn = said.mention(name)
            add_assertion(job.outputs, urn, said.assertion(name))
            outputs[urn] = sorted(
                {*(outputs.get(urn) or ()), *_declared_sources(said, job, name, target)}
            )


def _declared_sources(said: Said, job: JobFacts, output: Name, lineage: Target) -> list[str]:
    came_from = column_flows(said, output, lineage, job.job, known_by=DECLARED)
    for name in came_from:
        add_assertion(job.inputs, dataset_urn(*halves(name)), said.assertion(name))
    for source in lineage.jobs():
        if source.name and Name(source.namespace, source.name) != job.job:
            other = JobFacts(Name(source.namespace, source.name))
            other.outputs[dataset_urn(*halves(output))] = said.assertion(output)
            said.job(other)
    return sorted(dataset_urn(*halves(name)) for name in came_from)
