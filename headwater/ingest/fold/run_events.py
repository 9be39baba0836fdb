"""Run events: a run, its job, what it read and made, what it is part of and what it runs after."""

from __future__ import annotations

import msgspec

from headwater.ingest.flows import JOB, Source, Target, column_lineage, dataset_lineage, job_lineage
from headwater.ingest.fold.datasets import LINEAGE, RENAMED, column_flows, dataset_facts, derive, schema_of
from headwater.ingest.fold.said import (
    DROP,
    LIFECYCLE,
    Identifier,
    Said,
    add_claim,
    add_usage,
    halves,
    is_named,
    renamed_from,
)
from headwater.ingest.registers import decoded, registers
from headwater.schema.events import TERMINAL, Dataset, Facets, Job
from headwater.schema.facets import read_parent
from headwater.schema.facts import JobFacts, Name, Register, RunFacts, Usage
from headwater.schema.urns import canonical_run_id, dataset_urn, job_urn, run_urn


class _Version(msgspec.Struct, rename="camel"):
    dataset_version: str | int


class _CodeLocation(msgspec.Struct):
    version: str | None = None


class _DependentRun(msgspec.Struct, rename="camel"):
    run_id: str = ""


class _Dependency(msgspec.Struct):
    job: Identifier
    run: _DependentRun | None = None


class _Dependencies(msgspec.Struct):
    upstream: list[msgspec.Raw] | None = None
    downstream: list[msgspec.Raw] | None = None


_version = msgspec.json.Decoder(_Version)
_code_location = msgspec.json.Decoder(_CodeLocation)
_dependency = msgspec.json.Decoder(_Dependency)
_dependencies = msgspec.json.Decoder(_Dependencies)


def run_event(said: Said) -> None:
    event = said.event
    assert event.run is not None
    assert event.job is not None
    job = job_facts(said, event.job)
    run = RunFacts(
        run_id=canonical_run_id(event.run.run_id),
        span=said.span,
        jobs={job_urn(*halves(job.job)): job.job},
        facets=registers(event, event.run.facets),
        code=_code(said, event.job),
    )
    if event.state == "START" or event.state in TERMINAL:
        run.states = {(event.instant, event.state)}
    for dataset in event.inputs:
        _input(said, run, dataset)
    for dataset in event.outputs:
        _output(said, run, job, dataset)
    lineages = (job_lineage(event.job.facets), job_lineage(event.run.facets))
    for lineage in (lineage for lineage in lineages if lineage is not None):
        _observed(said, run, job, lineage)
    _containment(said, run, job)
    _control_flow(said, run, job)
    said.job(job)
    said.run(run)
    said.delta.heard[run_urn(run.run_id)] = event.received


def job_facts(said: Said, job: Job) -> JobFacts:
    return JobFacts(Name(job.namespace, job.name), said.span, registers(said.event, job.facets))


def _code(said: Said, job: Job) -> Register | None:
    location = decoded(_code_location, (job.facets or {}).get("sourceCodeLocation"))
    return said.register(location.version) if location and location.version else None


def _input(said: Said, run: RunFacts, dataset: Dataset) -> None:
    usage = _usage(said, dataset, dataset.input_facets)
    version = decoded(_version, (dataset.facets or {}).get("version"))
    if version is not None:
        # What was read is what the first event tells: by the last the run may itself have made a newer version.
        usage.version = Register(-said.event.instant, -said.event.rank, str(version.dataset_version))
    add_usage(run.inputs, usage)


def _output(said: Said, run: RunFacts, job: JobFacts, dataset: Dataset) -> None:
    usage = _usage(said, dataset, dataset.output_facets)
    version = decoded(_version, (dataset.facets or {}).get("version"))
    if version is not None and (said.event.state in TERMINAL or not said.event.state):
        usage.version = said.register(str(version.dataset_version))
    lifecycle = decoded(LIFECYCLE, (dataset.facets or {}).get("lifecycleStateChange"))
    if lifecycle is not None:
        kind = lifecycle.lifecycle_state_change.upper()
        usage.lifecycle, usage.made, usage.dropped = said.register(kind), kind != DROP, kind == DROP
    usage.derived = column_flows(said, usage.dataset, column_lineage(dataset.facets), job.job)
    old = renamed_from(said, usage.dataset, lifecycle)
    if old is not None:
        # What has the new name came from what had the old one, wherever else its columns came from.
        said.mention(old)
        add_usage(run.inputs, Usage(old))
        if usage.derived:
            derive(said, usage.dataset, old, job.job, RENAMED)
            usage.derived.add(old)
    # What the columns came from was read, also where the list of inputs lacks it: dbt's seeds are in none.
    for name in usage.derived - {usage.dataset}:
        add_usage(run.inputs, Usage(name))
    lineage = dataset_lineage(dataset.facets)
    if lineage is not None:
        usage.explicit = _explicit(said, run, job, usage.dataset, lineage)
    add_usage(run.outputs, usage)


def _usage(said: Said, dataset: Dataset, facets: Facets | None) -> Usage:
    name = said.name(dataset)
    said.dataset(dataset_facts(said, dataset, name))
    usage = Usage(name, registers(said.event, facets))
    partition = _partition(dataset.name, name.name)
    usage.partitions = {partition} if partition else set()
    schema = schema_of(said, dataset)
    usage.schema = said.register(schema) if schema else None
    return usage


def _partition(sent: str, name: str) -> str:
    """What stands behind a dataset's own name in the name it was sent with, however both begin: its partition."""
    last = name.rstrip("/").rpartition("/")[2]
    _, found, partition = f"/{sent.strip('/')}/".rpartition(f"/{last}/")
    return partition.strip("/") if found else ""


def _explicit(said: Said, run: RunFacts, job: JobFacts, output: Name, lineage: Target) -> set[Name]:
    """What a run's output came from, as a lineage facet says; all of it was read by the run."""
    came_from = column_flows(said, output, lineage, job.job, known_by=LINEAGE)
    job.explicit.add(dataset_urn(*halves(output)))
    for name in came_from:
        add_usage(run.inputs, Usage(name))
    for source in lineage.jobs():
        _job_source(said, source, run, output)
    return came_from


def _job_source(said: Said, source: Source, run: RunFacts, output: Name) -> None:
    """Another job whose data went into a dataset: it made it too."""
    if not source.name:
        return
    other = JobFacts(Name(source.namespace, source.name))
    urn = dataset_urn(*halves(output))
    if source.run_id and canonical_run_id(source.run_id) != run.run_id:
        made = RunFacts(canonical_run_id(source.run_id), outputs={urn: Usage(output)})
        made.jobs[said.job(other)] = other.job
        said.run(made)
    said.job(JobFacts(other.job, outputs={urn: said.claim(output)}))


def _observed(said: Said, run: RunFacts, job: JobFacts, lineage: list[Target]) -> None:
    """The lineage facet of a job, seen on a run: it adds to what the run is known to have read and made, and what it
    made is not thought to come from all that it read."""
    for usage in run.outputs.values():
        usage.explicit = usage.explicit or set()
        job.explicit.add(dataset_urn(*halves(usage.dataset)))
    for target in lineage:
        if target.type == JOB:
            into_job(said, run, job, target)
        elif is_named(target):
            output = said.naming.normalise(target.namespace, target.name)
            said.mention(output)
            add_usage(run.outputs, Usage(output, explicit=_explicit(said, run, job, output, target)))


def into_job(said: Said, run: RunFacts, job: JobFacts, target: Target) -> None:
    own = not target.name or Name(target.namespace, target.name) == job.job
    into = job if own else JobFacts(Name(target.namespace, target.name))
    into_run = RunFacts(canonical_run_id(target.run_id)) if target.run_id and not own else None
    for source in target.datasets():
        name = said.name(source)
        urn = said.mention(name)
        if own:
            add_usage(run.inputs, Usage(name))
        else:
            add_claim(into.inputs, urn, said.claim(name))
            if into_run is not None:
                add_usage(into_run.inputs, Usage(name))
    for source in target.jobs():
        _from_job(said, source, into, run if own else into_run, job)
    if not own:
        urn = said.job(into)
        if into_run is not None:
            into_run.jobs[urn] = into.job
            said.run(into_run)


def _from_job(said: Said, source: Source, into: JobFacts, run: RunFacts | None, own: JobFacts) -> None:
    """One job's data went into another without a dataset between."""
    name = Name(source.namespace, source.name) if source.name else own.job
    if name == into.job:
        return
    urn = said.job(JobFacts(name))
    add_claim(into.sources, urn, said.claim(name))
    if source.run_id and run is not None:
        other = RunFacts(canonical_run_id(source.run_id), jobs={urn: name})
        run.sources[run_urn(other.run_id)] = other.run_id
        said.run(other)


def _containment(said: Said, run: RunFacts, job: JobFacts) -> None:
    """The run this one is part of, and the one at the root: known by name and job, nothing is said of their state."""
    assert said.event.run is not None
    parent = read_parent(said.event.run.facets)
    if parent is None:
        return
    above, top = (Name(*name) if name else None for name in (parent.job, parent.root_job))
    if above is not None and above != job.job:
        job.parents[_job_above(said, above, top)] = above
    parent_id = canonical_run_id(parent.run_id) if parent.run_id else run.run_id
    root_id = canonical_run_id(parent.root_run_id) if parent.root_run_id else parent_id
    if parent_id != run.run_id:
        run.parents[run_urn(parent_id)] = parent_id
        roots = {run_urn(root_id): root_id} if root_id != parent_id else {}
        said.run(RunFacts(parent_id, roots=roots, jobs=_jobs(above)))
    if root_id not in (parent_id, run.run_id):
        run.roots[run_urn(root_id)] = root_id
        if top is not None:
            said.job(JobFacts(top))
        said.run(RunFacts(root_id, jobs=_jobs(top)))


def _job_above(said: Said, above: Name, top: Name | None) -> str:
    """The job that contains this one, itself somewhere below the job at the root unless it is that one."""
    roots = {}
    if top is not None and top != above:
        roots = {said.job(JobFacts(top)): top}
    return said.job(JobFacts(above, roots=roots))


def _jobs(name: Name | None) -> dict[str, Name]:
    return {job_urn(*halves(name)): name} if name else {}


def _control_flow(said: Said, run: RunFacts, job: JobFacts) -> None:
    """The jobDependencies facet: what runs after what. No data flows along it."""
    assert said.event.run is not None
    dependencies = decoded(_dependencies, (said.event.run.facets or {}).get("jobDependencies"))
    if dependencies is None:
        return
    for raw in dependencies.upstream or ():
        _runs_after(said, run, job, decoded(_dependency, raw), upstream=True)
    for raw in dependencies.downstream or ():
        _runs_after(said, run, job, decoded(_dependency, raw), upstream=False)


def _runs_after(said: Said, run: RunFacts, job: JobFacts, other: _Dependency | None, *, upstream: bool) -> None:
    if other is None or not is_named(other.job):
        return
    name = Name(other.job.namespace, other.job.name)
    there = RunFacts(canonical_run_id(other.run.run_id)) if other.run and other.run.run_id.strip() else None
    other_job = JobFacts(name)
    if name != job.job:
        earlier, later = (other_job, job) if upstream else (job, other_job)
        add_claim(later.after, job_urn(*halves(earlier.job)), said.claim(earlier.job))
    urn = said.job(other_job)
    if there is not None and there.run_id != run.run_id:
        there.jobs[urn] = name
        earlier_run, later_run = (there, run) if upstream else (run, there)
        later_run.after[run_urn(earlier_run.run_id)] = earlier_run.run_id
        said.run(there)
