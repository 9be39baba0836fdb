"""The stages of one write: a delta joins the graph, in the order of `STAGES`.

The reasons for the order:

1. Undated events join the delta first, as every later stage needs their facts. Then late events of
   rolled-up runs leave it: no later stage may write them.
2. Aliases come before all facts: every later stage refers to datasets by their canonical urns. When
   names are joined or split, the facts of the affected entities are written again.
3. Nodes come before edges: datasets and jobs, then runs with their versions, then answers.
4. Edges of the lineage graph follow. Detached edges come first, because new events override them.
   Derivations and columns need the edges of their jobs.
5. Versions are linked to the content they keep, and consumers to versions, when every version of
   the delta exists. A version that nothing links is deleted then. Origins of versions need the
   links of consumers.
6. Drift, parents, attempts and current edges compare entities with others in the graph, so they
   come after everything that the delta itself reports. What a model was trained on follows from the
   current edges. Nodes of removed runs leave last: until then, their old edges say what changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from headwater.ingest.project import (
    RunView,
    answer_view,
    differs_visibly,
    is_repeated_observation,
    job_properties,
    run_view,
    tag_properties,
)
from headwater.ingest.write.consumers import (
    answer_consumer,
    changed_consumers,
    has_new_origins,
    run_changes,
)
from headwater.ingest.write.containment import recompute_attempts, write_parents
from headwater.ingest.write.context import FactChanges, WriteContext
from headwater.ingest.write.current_edges import recompute_current_edges
from headwater.ingest.write.datasets import (
    DatasetBatch,
    read_datasets,
    rebind_aliases,
    resolve_names,
    write_datasets,
)
from headwater.ingest.write.kept_content import link_kept_content
from headwater.ingest.write.last_seen import write_last_seen
from headwater.ingest.write.late_events import without_rolled_up
from headwater.ingest.write.lineage_edges import (
    reported_datasets,
    restore_detached_edges,
    write_column_edges,
    write_derivations,
    write_explicit_outputs,
    write_lineage_edges,
)
from headwater.ingest.write.rows import read_facts, write_rows
from headwater.ingest.write.runs import write_runs
from headwater.ingest.write.schema_versions import recompute_drift, write_schemas
from headwater.ingest.write.shared_run_ids import (
    add_further_runs,
    further_runs,
    remove_runs,
    resolve_references,
)
from headwater.ingest.write.timelines import update_timelines
from headwater.ingest.write.trained_on import update_trained_on
from headwater.ingest.write.undated_events import with_undated_events
from headwater.ingest.write.used_aliases import used_aliases
from headwater.ingest.write.version_links import link_consumers, named_datasets
from headwater.schema.facts import (
    AnswerFacts,
    DatasetFacts,
    JobFacts,
    RunFacts,
    TagFacts,
    join_answers,
    join_jobs,
    join_tags,
)
from headwater.schema.run_senders import join_runs, settled

F = TypeVar("F", RunFacts, JobFacts, AnswerFacts, TagFacts)
Stage = Callable[[WriteContext], None]


def join_undated_events(context: WriteContext) -> None:
    """Fold the undated events of the delta at their first receipts."""
    context.delta = with_undated_events(context.transaction, context.delta, context.naming)


def drop_rolled_up_runs(context: WriteContext) -> None:
    """Leave late events of rolled-up runs out of the delta."""
    context.delta = without_rolled_up(context.transaction, context.delta, context.cache)


def resolve_datasets(context: WriteContext) -> None:
    """Join the facts of datasets, and rebind names that were joined or split."""
    transaction, cache = context.transaction, context.cache
    datasets = context.datasets = read_datasets(
        transaction, context.delta.datasets, cache, refold=context.refold
    )
    if datasets.rebound:
        # `rebind_aliases` clears the cache, so deferred updates are written first.
        write_last_seen(transaction, cache)
        used = used_aliases(transaction, datasets.rebound_aliases, context.naming)
        rebind_aliases(transaction, datasets, used, cache)


def join_facts(context: WriteContext) -> None:
    """Join the facts of runs, jobs and answers, and resolve the datasets they name."""
    transaction, cache = context.transaction, context.cache
    delta, detached = context.delta, context.datasets.detached
    urns = {*delta.runs, *detached.runs}
    stored = read_facts(transaction, "runs", RunFacts, urns, cache.runs)
    # The join with stored facts settles the others.
    new = {urn: run if urn in stored else settled(run) for urn, run in delta.runs.items()}
    context.runs = _join_changes(stored, new, cache.runs, _join_runs, detached.runs)
    context.stored_runs = stored
    add_further_runs(context)
    resolve_references(context)
    context.reporting_runs = {urn: facts for urn, (_, facts) in context.runs.items()}
    if context.refold:
        # The graph may have a run, but not the last observation of its job's edges.
        reread = read_facts(transaction, "runs", RunFacts, delta.runs, cache.runs)
        for run in list(reread.values()):
            reread |= further_runs(run)
        context.reporting_runs |= reread
    context.new_runs = context.runs.keys() - stored.keys()
    urns = {*delta.jobs, *detached.jobs}
    jobs = read_facts(transaction, "jobs", JobFacts, urns, cache.jobs)
    context.jobs = _join_changes(jobs, delta.jobs, cache.jobs, join_jobs, detached.jobs)
    if context.refold:
        unchanged = delta.jobs.keys() - context.jobs.keys()
        context.jobs |= {urn: (jobs[urn], jobs[urn]) for urn in sorted(unchanged)}
    urns = {*delta.answers, *detached.answers}
    answers = read_facts(transaction, "answers", AnswerFacts, urns, {})
    context.answers = _join_changes(answers, delta.answers, {}, join_answers, detached.answers)
    before = [facts for facts, _ in context.runs.values() if facts is not None]
    runs = [*context.reporting_runs.values(), *before]
    named = named_datasets(runs, [facts for _, facts in context.answers.values()], context.naming)
    named |= reported_datasets(context.datasets, [facts for _, facts in context.jobs.values()])
    resolve_names(transaction, context.datasets, named)


def _join_runs(a: RunFacts, b: RunFacts) -> RunFacts:
    return settled(join_runs(a, b))


def _join_changes(
    stored: Mapping[str, F],
    facts: Mapping[str, F],
    cached: dict[str, F] | dict[str, F | None],
    join: Callable[[F, F], F],
    detached: set[str],
) -> FactChanges[F]:
    """Return the facts that change by a join, and cache them.

    Facts of `detached` entities are changes in any case, as if the graph did not have them.
    """
    changes: FactChanges[F] = {}
    for urn in sorted({*facts, *detached}):
        old, new = stored.get(urn), facts.get(urn)
        joined = join(old, new) if old is not None and new is not None else new or old
        if joined is None:
            continue
        cached[urn] = joined
        if urn in detached:
            changes[urn] = (None, joined)
        elif joined != old:
            changes[urn] = (old, joined)
    return changes


def write_new_schemas(context: WriteContext) -> None:
    """Write the schemas of the delta."""
    schemas = context.delta.schemas
    write_schemas(context.transaction, context.cache.new_schemas(schemas))
    context.cache.put_schemas(schemas)


def write_dataset_nodes(context: WriteContext) -> None:
    """Write changed datasets with their aliases, columns and sources."""
    write_datasets(context.transaction, context.datasets, context.cache)


def write_jobs(context: WriteContext) -> None:
    """Write changed jobs; defer updates that change only last-seen times."""
    deferred, rows = context.cache.deferred.jobs, []
    for urn, (old, new) in context.jobs.items():
        if old is not None and is_repeated_observation(old, new):
            deferred.setdefault(urn, context.cache.position)
            continue
        deferred.pop(urn, None)
        properties = job_properties(new)
        is_visible_change = differs_visibly(job_properties(old) if old else None, properties)
        rows.append({"urn": urn, "properties": properties, "isVisibleChange": is_visible_change})
    write_rows(context.transaction, "write/lineage/jobs", rows)


def project_runs(context: WriteContext) -> None:
    """Project changed runs before and after the change, and collect the differences."""
    names, stored = context.datasets.names, context.stored_runs
    for urn, (old, new) in context.runs.items():
        context.run_views[urn] = _project_run(context, urn, old, new)
    rebound = context.datasets.detached.runs & context.runs.keys() & stored.keys()
    before = {urn: run_view(stored[urn], names) for urn in rebound}
    context.stored_views = {
        urn: (before.get(urn, old), view) for urn, (old, view) in context.run_views.items()
    }
    context.changes = run_changes(context.linked_runs, context.run_views, before, context.new_runs)
    context.consumers = changed_consumers(context.linked_runs, context.run_views)


def _project_run(
    context: WriteContext, urn: str, old: RunFacts | None, new: RunFacts
) -> tuple[RunView | None, RunView]:
    names, cached = context.datasets.names, context.cache.run_views
    cached_view = cached.take(urn)
    view = run_view(new, names)
    if not names:
        cached[urn] = view
    if old is None:
        return None, view
    if cached_view is not None and not names:
        return cached_view, view
    return run_view(old, names), view


def write_run_nodes(context: WriteContext) -> None:
    """Write changed runs with their versions and their edges to jobs and runs."""
    heartbeats = dict(context.delta.last_heartbeats)
    for urn, (_, run) in context.runs.items():
        if run.receipts is not None and run.receipts.last:
            heartbeats[urn] = max(run.receipts.last, heartbeats.get(urn, run.receipts.last))
    write_runs(context, heartbeats)


def write_answers(context: WriteContext) -> None:
    """Write changed answers."""
    rows = []
    for urn, (_, facts) in context.answers.items():
        view = answer_view(facts, context.naming, context.datasets.names)
        rows.append({"urn": urn, "properties": view.node})
        context.consumers[urn] = answer_consumer(urn, view)
    write_rows(context.transaction, "write/versions/answers", rows)


def write_tags(context: WriteContext) -> None:
    """Join the definitions of tags with those in the graph, and write changed ones."""
    if not context.delta.tags:
        return
    stored = read_facts(context.transaction, "tags", TagFacts, context.delta.tags, {})
    changes = _join_changes(stored, context.delta.tags, {}, join_tags, set())
    rows = [{"urn": urn, "properties": tag_properties(tag)} for urn, (_, tag) in changes.items()]
    write_rows(context.transaction, "write/maintenance/tags", rows)


def restore_edges(context: WriteContext) -> None:
    """Write the edges of joined and split datasets again."""
    restore_detached_edges(context.transaction, context.datasets)


def write_edges(context: WriteContext) -> None:
    """Write the edges of the lineage graph between datasets and jobs."""
    cache, datasets = context.cache, context.datasets
    runs = context.reporting_runs
    jobs = {urn: facts for urn, (_, facts) in context.jobs.items()}
    context.written_edges = write_lineage_edges(context.transaction, datasets, jobs, runs, cache)
    context.redeclared_jobs = _redeclared_jobs(context.jobs, datasets)


def _redeclared_jobs(jobs: FactChanges[JobFacts], datasets: DatasetBatch) -> set[str]:
    """Return the jobs whose reported edges differ in more than the times of observation."""
    redeclared: set[str] = set()
    for edge in datasets.detached.edges:
        redeclared.update((edge["source"], edge["target"]))
    for urn, facts in datasets.changed.items():
        before = datasets.stored.get(urn)
        if before is None or _producers(before) != _producers(facts):
            redeclared.update(facts.sources)
    redeclared = {urn for urn in redeclared if urn.startswith("job:")}
    for urn, (old, new) in jobs.items():
        if _reported_edges(old or JobFacts(new.job)) != _reported_edges(new):
            redeclared.add(urn)
    return redeclared


def _producers(dataset: DatasetFacts) -> tuple[object, ...]:
    """Return the producers that a dataset reports."""
    return (dataset.sources.keys(), dataset.declared)


def _reported_edges(job: JobFacts) -> tuple[object, ...]:
    """Return the edges that a job reports."""
    ends = (job.inputs.keys(), job.outputs.keys(), job.sources.keys(), job.after.keys())
    return (*ends, job.declared_inputs, job.declared_outputs, job.explicit)


def write_origins(context: WriteContext) -> None:
    """Write derivations and column lineage, and mark outputs whose origins are listed."""
    transaction, cache, datasets = context.transaction, context.cache, context.datasets
    derivations = cache.new_derivations(context.delta.derivations)
    columns = cache.new_derivations(context.delta.columns)
    write_derivations(transaction, datasets, derivations)
    write_column_edges(transaction, datasets, columns)
    cache.put_derivations(derivations)
    cache.put_derivations(columns)
    # A run may write a dataset that its job did not write before, with unchanged facts of the job.
    urns = context.redeclared_jobs | {key.job for key in derivations}
    urns.update(job for job, _ in context.written_edges)
    jobs = read_facts(transaction, "jobs", JobFacts, urns, cache.jobs)
    resolve_names(transaction, datasets, reported_datasets(datasets, jobs.values()))
    write_explicit_outputs(transaction, datasets, jobs)


def link_content(context: WriteContext) -> None:
    """Link versions to the versions whose content they keep."""
    for urn, (old, new) in context.run_views.items():
        update_timelines(urn, old, new, context.cache)
    link_kept_content(context)


def link_versions(context: WriteContext) -> None:
    """Link consumers to the versions they read."""
    context.linked_consumers = link_consumers(context)


def write_version_origins(context: WriteContext) -> None:
    """Write the origins of versions, among the versions that their runs read."""
    derived = {
        urn: view.derived
        for urn, (old, view) in context.run_views.items()
        if has_new_origins(old, view)
    }
    derived.update((urn, consumer.derived) for urn, consumer in context.linked_consumers.items())
    # `create_run_inputs` has written those of new runs.
    urns = sorted(derived.keys() - context.new_runs)
    rows = [{"run": urn, "derived": derived[urn]} for urn in urns]
    write_rows(context.transaction, "write/versions/derived_from", rows)


def update_drift(context: WriteContext) -> None:
    """Recompute the drift of moved versions and of their next versions."""
    recompute_drift(context.transaction, context.changes.moved, context.datasets)


def update_parents(context: WriteContext) -> None:
    """Write the parents of runs, and recompute which runs are abandoned."""
    before = context.linked_before
    changes = {urn: (before.get(urn), run) for urn, (_, run) in context.linked_runs.items()}
    write_parents(context.transaction, changes, context.run_views, context.new_runs)


def update_attempts(context: WriteContext) -> None:
    """Recompute the attempts of schedule slots."""
    recompute_attempts(context.transaction, context.stored_views)


def update_current_edges(context: WriteContext) -> None:
    """Recompute which edges of the lineage graph are current."""
    recompute_current_edges(
        context.transaction,
        context.redeclared_jobs,
        context.written_edges,
        context.stored_views,
        context.cache,
    )


def update_models(context: WriteContext) -> None:
    """Recompute which datasets models were trained on, from current edges."""
    update_trained_on(context)


STAGES: tuple[Stage, ...] = (
    join_undated_events,
    drop_rolled_up_runs,
    resolve_datasets,
    join_facts,
    write_new_schemas,
    write_dataset_nodes,
    write_jobs,
    project_runs,
    write_run_nodes,
    write_answers,
    write_tags,
    restore_edges,
    write_edges,
    write_origins,
    link_content,
    link_versions,
    write_version_origins,
    update_drift,
    update_parents,
    update_attempts,
    update_current_edges,
    update_models,
    remove_runs,
)


def write_delta(context: WriteContext) -> None:
    """Join a delta with the graph and write the changes; deferred updates stay in the cache.

    Needs the write lock. If the transaction is not committed, the caller must clear the cache.
    """
    for stage in STAGES:
        stage(context)
