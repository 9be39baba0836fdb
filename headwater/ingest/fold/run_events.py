"""Run events: a run, its job, what it read and made, what it is part of and what it runs after."""

from __future__ import annotations

from headwater.ingest.fold.accumulator import (
    DROP,
    Said,
    add_assertion,
    add_input,
    add_usage,
    halves,
    is_named,
    renamed_from,
)
from headwater.ingest.fold.datasets import (
    LINEAGE,
    RENAMED,
    column_flows,
    derive,
    sources_of,
    tell_dataset,
    tell_output,
)
from headwater.ingest.fold.facet_readings import JobReading, Reading, read_dataset, read_job
from headwater.ingest.fold.lineage_facets import JOB, Source, Target, job_lineage
from headwater.ingest.fold.registers import canonical
from headwater.schema.events import TERMINAL, Dataset, Event, Job, Run
from headwater.schema.facets import read_parent, salvage
from headwater.schema.facets.run import JobDependencies, JobDependency
from headwater.schema.facts import JobFacts, LwwRegister, Name, RunFacts, Usage
from headwater.schema.urns import canonical_run_id, dataset_urn, job_urn, run_urn


def run_event(said: Said, event: Event, sent: Run, of: Job) -> None:
    job = JobFacts(Name(of.namespace, of.name))
    reading = read_job(of.facets)
    said.once(tell_job, job.job, reading)
    run = RunFacts(
        run_id=canonical_run_id(sent.run_id),
        span=said.span,
        jobs={job_urn(*halves(job.job)): job.job},
        facets=said.registers(canonical(sent.facets)),
        code=said.register(reading.code) if reading.code else None,
    )
    if event.state == "START" or event.state in TERMINAL:
        run.states = {(event.instant, event.state)}
    for dataset in event.inputs:
        _input(said, run, dataset)
    for dataset in event.outputs:
        _output(said, run, job, dataset, event.state)
    for lineage in (reading.lineage, job_lineage(sent.facets)):
        if lineage is not None:
            _observed(said, run, job, lineage)
    _containment(said, run, job, sent)
    _control_flow(said, run, job, sent)
    said.job(job)
    said.run(run)
    heard = said.delta.last_heartbeats
    urn = run_urn(run.run_id)
    heard[urn] = max(event.received, heard.get(urn, event.received))


def tell_job(said: Said, name: Name, reading: JobReading) -> None:
    """A job as an event describes it."""
    said.job(JobFacts(name, said.span, said.registers(reading.texts)))


def _input(said: Said, run: RunFacts, dataset: Dataset) -> None:
    name, reading = said.name(dataset), read_dataset(dataset.facets)
    said.once(tell_dataset, name, reading)
    usage = _usage(said, dataset, name, reading)
    if dataset.input_facets:
        usage.facets = said.registers(canonical(dataset.input_facets))
    if reading.version is not None:
        # What was read is what the first event tells: by the last the run may itself have made a newer version.
        usage.version = LwwRegister(-said.first, -said.rank, reading.version)
    add_usage(run.inputs, usage)


def _output(said: Said, run: RunFacts, job: JobFacts, dataset: Dataset, state: str) -> None:
    name, reading = said.name(dataset), read_dataset(dataset.facets)
    said.once(tell_output, name, reading, job.job)
    usage = _usage(said, dataset, name, reading)
    if dataset.output_facets:
        usage.facets = said.registers(canonical(dataset.output_facets))
    if reading.version is not None and (state in TERMINAL or not state):
        usage.version = said.register(reading.version)
    if reading.lifecycle is not None:
        kind = reading.lifecycle.lifecycle_state_change.upper()
        usage.lifecycle, usage.made, usage.dropped = said.register(kind), kind != DROP, kind == DROP
    usage.derived = sources_of(said, name, reading.columns, job.job)
    old = renamed_from(said, name, reading.lifecycle)
    if old is not None:
        # What has the new name came from what had the old one, wherever else its columns came from.
        said.mention(old)
        add_input(run.inputs, old)
        if usage.derived:
            derive(said, name, old, job.job, RENAMED)
            usage.derived.add(old)
    # What the columns came from was read, also where the list of inputs lacks it: dbt's seeds are in none.
    for source in usage.derived:
        if source != name:
            add_input(run.inputs, source)
    if reading.lineage is not None:
        usage.explicit = _explicit(said, run, job, name, reading.lineage)
    add_usage(run.outputs, usage)


def _usage(said: Said, dataset: Dataset, name: Name, reading: Reading) -> Usage:
    usage = Usage(name)
    partition = _partition(dataset.name, name.name)
    if partition:
        usage.partitions = {partition}
    if reading.schema:
        usage.schema = said.register(reading.schema)
    return usage


def _partition(sent: str, name: str) -> str:
    """What stands behind a dataset's own name in the name it was sent with, however both begin: its partition."""
    if sent == name:
        return ""
    last = name.rstrip("/").rpartition("/")[2]
    _, found, partition = f"/{sent.strip('/')}/".rpartition(f"/{last}/")
    return partition.strip("/") if found else ""


def _explicit(said: Said, run: RunFacts, job: JobFacts, output: Name, lineage: Target) -> set[Name]:
    """What a run's output came from, as a lineage facet says; all of it was read by the run."""
    sources = column_flows(said, output, lineage, job.job, known_by=LINEAGE)
    job.explicit.add(dataset_urn(*halves(output)))
    for name in sources:
        add_input(run.inputs, name)
    for source in lineage.jobs():
        _job_source(said, source, run, output)
    return sources


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
    said.job(JobFacts(other.job, outputs={urn: said.assertion(output)}))


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
            add_usage(
                run.outputs, Usage(output, explicit=_explicit(said, run, job, output, target))
            )


def into_job(said: Said, run: RunFacts, job: JobFacts, target: Target) -> None:
    own = not target.name or Name(target.namespace, target.name) == job.job
    into = job if own else JobFacts(Name(target.namespace, target.name))
    into_run = RunFacts(canonical_run_id(target.run_id)) if target.run_id and not own else None
    for source in target.datasets():
        name = said.name(source)
        urn = said.mention(name)
        if own:
            add_input(run.inputs, name)
        else:
            add_assertion(into.inputs, urn, said.assertion(name))
            if into_run is not None:
                add_input(into_run.inputs, name)
    for source in target.jobs():
        _from_job(said, source, into, run if own else into_run, job)
    if not own:
        urn = said.job(into)
        if into_run is not None:
            into_run.jobs[urn] = into.job
            said.run(into_run)


def _from_job(
    said: Said, source: Source, into: JobFacts, run: RunFacts | None, own: JobFacts
) -> None:
    """One job's data went into another without a dataset between."""
    name = Name(source.namespace, source.name) if source.name else own.job
    if name == into.job:
        return
    urn = said.job(JobFacts(name))
    add_assertion(into.sources, urn, said.assertion(name))
    if source.run_id and run is not None:
        other = RunFacts(canonical_run_id(source.run_id), jobs={urn: name})
        run.sources[run_urn(other.run_id)] = other.run_id
        said.run(other)


def _containment(said: Said, run: RunFacts, job: JobFacts, sent: Run) -> None:
    """The run this one is part of, and the one at the root: known by name and job, nothing is said of their state."""
    parent = read_parent(sent.facets)
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


def _control_flow(said: Said, run: RunFacts, job: JobFacts, sent: Run) -> None:
    """The jobDependencies facet: what runs after what. No data flows along it."""
    facet = (sent.facets or {}).get("jobDependencies")
    dependencies = salvage(JobDependencies, facet) if facet is not None else None
    if dependencies is None:
        return
    for dependency in dependencies.upstream or ():
        _runs_after(said, run, job, dependency, upstream=True)
    for dependency in dependencies.downstream or ():
        _runs_after(said, run, job, dependency, upstream=False)


def _runs_after(
    said: Said, run: RunFacts, job: JobFacts, other: JobDependency, *, upstream: bool
) -> None:
    if not is_named(other.job):
        return
    name = Name(other.job.namespace, other.job.name)
    there = (
        RunFacts(canonical_run_id(other.run.run_id))
        if other.run and other.run.run_id.strip()
        else None
    )
    other_job = JobFacts(name)
    if name != job.job:
        earlier, later = (other_job, job) if upstream else (job, other_job)
        add_assertion(later.after, job_urn(*halves(earlier.job)), said.assertion(earlier.job))
    urn = said.job(other_job)
    if there is not None and there.run_id != run.run_id:
        there.jobs[urn] = name
        earlier_run, later_run = (there, run) if upstream else (run, there)
        later_run.after[run_urn(earlier_run.run_id)] = earlier_run.run_id
        said.run(there)
