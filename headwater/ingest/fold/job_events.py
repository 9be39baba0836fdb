"""Job events: lineage declared at design time. The newest declaration replaces those before it."""

from __future__ import annotations

from headwater.ingest.flows import JOB, Target, column_lineage, dataset_lineage, job_lineage, lineage_deleted
from headwater.ingest.fold.datasets import DECLARED, column_flows, dataset_facts
from headwater.ingest.fold.run_events import into_job, job_facts
from headwater.ingest.fold.said import Said, add_claim, halves, is_named, json_of
from headwater.schema.events import Dataset, Job
from headwater.schema.facts import JobFacts, Name, RunFacts
from headwater.schema.urns import dataset_urn


def job_event(said: Said, job: Job) -> None:
    declared = job_facts(said, job)
    outputs: dict[str, list[str] | None] = {}
    for dataset in said.event.inputs:
        name = _declared_dataset(said, dataset)
        add_claim(declared.inputs, dataset_urn(*halves(name)), said.claim(name))
    for dataset in said.event.outputs:
        name = _declared_dataset(said, dataset)
        column_flows(said, name, column_lineage(dataset.facets), declared.job)
        lineage = dataset_lineage(dataset.facets)
        urn = dataset_urn(*halves(name))
        add_claim(declared.outputs, urn, said.claim(name))
        outputs[urn] = _declared_sources(said, declared, name, lineage) if lineage else None
    entries = job_lineage(job.facets)
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


def _declared_dataset(said: Said, dataset: Dataset) -> Name:
    name = said.name(dataset)
    said.dataset(dataset_facts(said, dataset, name))
    return name


def _declared_entries(said: Said, job: JobFacts, entries: list[Target], outputs: dict[str, list[str] | None]) -> None:
    for target in entries:
        own = target.type == JOB and (not target.name or Name(target.namespace, target.name) == job.job)
        if own:
            for source in target.datasets():
                name = said.name(source)
                add_claim(job.inputs, said.mention(name), said.claim(name))
            for source in target.jobs():
                other = Name(source.namespace, source.name)
                if source.name and other != job.job:
                    add_claim(job.inputs, said.job(JobFacts(other)), said.claim(other))
        elif target.type == JOB:
            into_job(said, RunFacts(""), job, target)
        elif is_named(target):
            name = said.naming.normalise(target.namespace, target.name)
            urn = said.mention(name)
            add_claim(job.outputs, urn, said.claim(name))
            outputs[urn] = sorted({*(outputs.get(urn) or ()), *_declared_sources(said, job, name, target)})


def _declared_sources(said: Said, job: JobFacts, output: Name, lineage: Target) -> list[str]:
    came_from = column_flows(said, output, lineage, job.job, known_by=DECLARED)
    for name in came_from:
        add_claim(job.inputs, dataset_urn(*halves(name)), said.claim(name))
    for source in lineage.jobs():
        if source.name and Name(source.namespace, source.name) != job.job:
            other = JobFacts(Name(source.namespace, source.name))
            other.outputs[dataset_urn(*halves(output))] = said.claim(output)
            said.job(other)
    return sorted(dataset_urn(*halves(name)) for name in came_from)
