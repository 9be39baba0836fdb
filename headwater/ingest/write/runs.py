"""The runs of a delta: their nodes, the versions they wrote, and their edges to jobs and runs.

One statement creates a new run with its versions and edges. Of a run in the graph, only changed
properties are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.project import (
    Properties,
    RunView,
    RunViews,
    changed_properties,
    time_at,
    without_nulls,
)
from headwater.ingest.write.context import WriteContext
from headwater.ingest.write.rows import write_rows
from headwater.ingest.write.schema_versions import write_artifact_schemas
from headwater.schema.facts import RunFacts
from headwater.schema.urns import schema_urn

# By urn: the facts in the graph, and the facts it must have.
Changes = Mapping[str, tuple[RunFacts | None, RunFacts]]


def write_runs(context: WriteContext, heartbeats: Mapping[str, int]) -> None:
    """Write changed runs, the versions they wrote, and their edges to jobs and runs.

    `heartbeats` has when the last event of a run was received, in microseconds since 1970.
    """
    transaction, facts, views = context.transaction, context.linked_runs, context.run_views
    changes = context.changes
    created = [
        _new_run(urn, facts[urn][1], views[urn][1], heartbeats) for urn in sorted(changes.new)
    ]
    write_rows(transaction, "write/runs/create_runs", created)
    existing = {urn: pair for urn, pair in sorted(views.items()) if urn not in changes.new}
    # Other writers set `status` and `heartbeatLost` too, and an event of the run overrides them.
    nodes = [
        {
            "urn": urn,
            "properties": changed_properties(
                old.node if old else None, view.node, "status", "heartbeatLost"
            ),
            "running": view.is_running,
            "heartbeat": time_at(heartbeats.get(urn)),
        }
        for urn, (old, view) in existing.items()
    ]
    write_rows(transaction, "write/runs/update_runs", nodes)
    if changes.withdrawn:
        transaction.run("write/versions/withdraw_artifacts", urns=changes.withdrawn)
    artifacts: list[Row] = []
    for urn, pair in existing.items():
        artifacts.extend(_changed_artifacts(urn, *pair))
    write_rows(transaction, "write/versions/artifacts", artifacts)
    write_artifact_schemas(transaction, existing.values())
    before = context.linked_before
    unlinked = {urn for urn in existing if _lost_links(before[urn], facts[urn][1])}
    if unlinked:
        transaction.run("write/runs/unlink_runs", urns=sorted(unlinked))
    _write_edges(transaction, facts, views, existing, unlinked)


def _lost_links(old: RunFacts, new: RunFacts) -> bool:
    """Return True if a run no longer has all its links: another sender has taken an id over."""
    if not (old.reports or new.reports or new.references):
        return False
    return bool(_links(old) - _links(new))


def _links(run: RunFacts) -> set[tuple[str, str]]:
    """Return the jobs, preceding runs and dropped datasets of a run."""
    found = {("job", urn) for urn in _jobs(run)}
    found |= {("after", urn) for urn in run.after}
    found |= {("source", urn) for urn in run.sources}
    return found | {("dropped", urn) for urn, usage in run.outputs.items() if usage.dropped}


def _write_edges(
    transaction: Transaction,
    facts: Changes,
    views: RunViews,
    existing: RunViews,
    unlinked: set[str],
) -> None:
    run_of = []
    for urn, pair in existing.items():
        old, run = facts[urn]
        is_linked = urn not in unlinked and not _has_new_index_key(*pair)
        linked = _jobs(old or run) if is_linked else ()
        run_of += [{"run": urn, "job": job} for job in _jobs(run) if job not in linked]
    write_rows(transaction, "write/runs/run_of", run_of)
    triggers, feeds = [], []
    for urn, (_, run) in facts.items():
        triggers += [{"run": urn, "before": other} for other in sorted(run.after)]
        feeds += [{"run": urn, "before": other} for other in sorted(run.sources)]
    write_rows(transaction, "write/runs/triggers", triggers)
    write_rows(transaction, "write/runs/feeds", feeds)
    dropped = []
    for urn, (_, view) in views.items():
        dropped += [{"run": urn, "dataset": dataset} for dataset in view.dropped]
    write_rows(transaction, "write/runs/dropped", dropped)


def _new_run(urn: str, facts: RunFacts, view: RunView, heartbeats: Mapping[str, int]) -> Row:
    made = [
        {
            "urn": artifact,
            "dataset": properties["dataset"],
            "properties": without_nulls(_stored_properties(properties, view)),
            "produced": without_nulls(view.produced[artifact]),
            "schema": schema_urn(properties["schemaHash"]) if properties["schemaHash"] else None,
        }
        for artifact, properties in sorted(view.artifacts.items())
    ]
    heartbeat = time_at(heartbeats.get(urn)) if view.is_running else None
    node = {**view.node, "urn": urn, "lastHeartbeatAt": heartbeat}
    return {"properties": without_nulls(node), "jobs": _jobs(facts), "made": made}


def _jobs(run: RunFacts) -> list[str]:
    return sorted({*run.jobs, *run.named_jobs})


def _has_new_index_key(old: RunView | None, new: RunView) -> bool:
    """Return True if the properties changed by which the index finds a run of a job."""
    return old is None or any(
        old.node[key] != new.node[key] for key in ("namespace", "pipelineName", "startedAt")
    )


def _changed_artifacts(urn: str, old: RunView | None, view: RunView) -> Iterator[Row]:
    for artifact, properties in sorted(view.artifacts.items()):
        before = old.artifacts.get(artifact) if old else None
        stored_before = _stored_properties(before, old) if old and before else None
        stored = _stored_properties(properties, view)
        produced = view.produced[artifact]
        # Another stage sets the status of versions of unfinished runs to ABANDONED.
        is_open = not properties["complete"]
        is_changed = (before, stored_before) != (properties, stored)
        if is_open or is_changed or (old and old.produced.get(artifact) != produced):
            yield {
                "urn": artifact,
                "run": urn,
                "dataset": properties["dataset"],
                "properties": changed_properties(before, stored, "status", "startedAt"),
                "produced": produced,
            }


def _stored_properties(properties: Properties, view: RunView) -> Properties:
    """Return a version without its start, if that is the start of its run."""
    if properties["startedAt"] == view.node["startedAt"]:
        return {**properties, "startedAt": None}
    return properties
