"""The runs of a delta: their nodes, the versions they made, and what moved by that.

A run that was not there before is made with its versions and edges in one statement; of one that was, only what differs
is written.
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
from headwater.ingest.write.rows import run_rows
from headwater.ingest.write.schema_versions import write_artifact_schemas
from headwater.ingest.write.version_links import (
    Reader,
    RunChanges,
    gone_versions,
    moved_versions,
    run_reader,
)
from headwater.schema.facts import RunFacts
from headwater.schema.urns import schema_urn

# By urn: what the graph held of a run, and what it must hold now.
Changes = Mapping[str, tuple[RunFacts | None, RunFacts]]


def write_runs(
    transaction: Transaction,
    changes: Changes,
    views: RunViews,
    heard: Mapping[str, int],
    changed: RunChanges,
) -> None:
    """Write the nodes of runs, of the versions they made, and what they have to do with jobs and other runs; `changed`
    is what `run_changes` tells of the same."""
    created = [_new_run(urn, changes[urn][1], views[urn][1], heard) for urn in sorted(changed.new)]
    run_rows(transaction, "write/runs/create_runs", created)
    here = {urn: pair for urn, pair in sorted(views.items()) if urn not in changed.new}
    # What others write of a run, and news of it make void, is written in any case.
    nodes = [
        {
            "urn": urn,
            "properties": changed_properties(
                old.node if old else None, view.node, "status", "heartbeatLost"
            ),
            "running": view.is_running,
            "heard": time_at(heard.get(urn)),
        }
        for urn, (old, view) in here.items()
    ]
    run_rows(transaction, "write/runs/update_runs", nodes)
    if changed.gone:
        transaction.run("write/versions/withdraw_artifacts", urns=changed.gone)
    run_rows(
        transaction,
        "write/versions/artifacts",
        [row for urn, pair in here.items() for row in _artifacts(urn, *pair)],
    )
    write_artifact_schemas(transaction, here.values())
    run_of = [
        {"run": urn, "job": job}
        for urn in here
        for job in sorted(changes[urn][1].jobs)
        if _stands_anew(*here[urn]) or job not in (changes[urn][0] or changes[urn][1]).jobs
    ]
    run_rows(transaction, "write/runs/run_of", run_of)
    facts = {urn: run for urn, (_, run) in changes.items()}
    for statement, others in (("triggers", "after"), ("feeds", "sources")):
        rows = [
            {"run": urn, "before": other}
            for urn, run in facts.items()
            for other in sorted(getattr(run, others))
        ]
        run_rows(transaction, f"write/runs/{statement}", rows)
    dropped = [
        {"run": urn, "dataset": dataset}
        for urn, (_, view) in views.items()
        for dataset in view.dropped
    ]
    run_rows(transaction, "write/runs/dropped", dropped)


def _new_run(urn: str, facts: RunFacts, view: RunView, heard: Mapping[str, int]) -> Row:
    made = [
        {
            "urn": artifact,
            "dataset": properties["dataset"],
            "properties": without_nulls(_kept(properties, view)),
            "produced": without_nulls(view.produced[artifact]),
            "schema": schema_urn(properties["schemaHash"]) if properties["schemaHash"] else None,
        }
        for artifact, properties in sorted(view.artifacts.items())
    ]
    node = {
        **view.node,
        "urn": urn,
        "lastHeartbeatAt": time_at(heard.get(urn)) if view.is_running else None,
    }
    return {"properties": without_nulls(node), "jobs": sorted(facts.jobs), "made": made}


def _stands_anew(old: RunView | None, new: RunView) -> bool:
    """Whether a run is found by another name or time among those of its job."""
    return old is None or any(
        old.node[key] != new.node[key] for key in ("namespace", "pipelineName", "startedAt")
    )


def _artifacts(urn: str, old: RunView | None, view: RunView) -> Iterator[Row]:
    """The versions of a run that are not what they were."""
    for artifact, properties in sorted(view.artifacts.items()):
        before = old.artifacts.get(artifact) if old else None
        was = _kept(before, old) if old and before else None
        now = _kept(properties, view)
        produced = view.produced[artifact]
        # Of a version of a run that did not end, others write whether it was abandoned.
        is_open = not properties["complete"]
        if (
            is_open
            or (before, was) != (properties, now)
            or (old and old.produced.get(artifact) != produced)
        ):
            yield {
                "urn": artifact,
                "run": urn,
                "dataset": properties["dataset"],
                "properties": changed_properties(before, now, "status", "startedAt"),
                "produced": produced,
            }


def _kept(properties: Properties, view: RunView) -> Properties:
    """What a version keeps of itself: when it was begun its run tells, but of one of an earlier attempt."""
    return (
        {**properties, "startedAt": None}
        if properties["startedAt"] == view.node["startedAt"]
        else properties
    )


def derives_anew(old: RunView | None, new: RunView) -> bool:
    """Whether any version of a run is new, or comes from other datasets than it did."""
    before = old.artifacts if old else {}
    return any(
        urn not in before or (old and old.derived.get(urn) != new.derived.get(urn))
        for urn in new.artifacts
    )


def run_readers(changes: Changes, views: RunViews) -> dict[str, Reader]:
    """The runs among these whose links must be made afresh whatever moved."""
    return {
        urn: run_reader(urn, changes[urn][1], view)
        for urn, (old, view) in views.items()
        if _reads_anew(changes[urn], old, view)
    }


def _reads_anew(facts: tuple[RunFacts | None, RunFacts], old: RunView | None, new: RunView) -> bool:
    """Whether a run began, read, or runs after, anything else than it did."""
    before, now = facts
    if old is None or before is None:
        return True
    was = (old.node["startedAt"], old.reads, before.after)
    return was != (new.node["startedAt"], new.reads, now.after)


def run_changes(
    changes: Changes, views: RunViews, parted: Mapping[str, RunView], new: set[str]
) -> RunChanges:
    """What moves by these changes. `parted` is what was shown, by the names of now, of the runs that are written as if
    for the first time because a dataset of theirs was taken apart: their other datasets were not."""
    shown = [
        *((urn, *pair) for urn, pair in views.items()),
        *((urn, old, views[urn][1]) for urn, old in parted.items()),
    ]
    return RunChanges(
        moved=[version for urn, old, view in shown for version in moved_versions(urn, old, view)],
        gone=sorted(urn for _, old, view in shown for urn in gone_versions(old, view)),
        new=new,
        placed_anew=[
            urn
            for urn, (old, run) in changes.items()
            if run.after and (old is None or old.after != run.after)
        ],
        triggering={before for _, run in changes.values() for before in run.after},
    )
