"""What a picture shows of a node at once: its state, its newest data, its people and its size.

The latest state decides. A job has the state of its newest run. A dataset has the state of its
newest data: of a version that a run left unfinished, of a producer that did not refresh it, or of a
job further upstream that failed.

| state | a job | a dataset |
|---|---|---|
| RUNNING | its newest run runs | its newest version is being written |
| FAILED | its newest run failed | |
| ABORTED | its newest run was stopped | |
| NO_NEWS | its newest run sent no end, and is too old to run | that run was to write it |
| PARTIAL | | its newest version was left by a run that failed or was stopped |
| SKIPPED | the newest run of its DAG succeeded without it | |
| STALE | | a job that writes it failed, was stopped or skipped since, and left no version |
| UPSTREAM_FAILED | a job upstream failed or was stopped, or its DAG failed before it | the same |
| OK | its newest run succeeded | its newest version is complete |
| UNKNOWN | no run of it is known | no version of it is known |

The first that holds, in this order, is the state. A failure upstream counts while it is the newest
run of its job, and as far as a traversal of `NODES_MAX` nodes finds it. Each kind of node is read
by one statement for all nodes, whatever their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import read_nodes
from headwater.lineage.traversal.bfs import traverse_from
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP, Layer
from headwater.lineage.traversal.request import DEPTH_MAX, Bounds, TraversalRequest
from headwater.lineage.view import GraphView

OK, RUNNING, FAILED, ABORTED = "OK", "RUNNING", "FAILED", "ABORTED"
NO_NEWS, SKIPPED, UPSTREAM_FAILED = "NO_NEWS", "SKIPPED", "UPSTREAM_FAILED"
STALE, PARTIAL, UNKNOWN = "STALE", "PARTIAL", "UNKNOWN"
NODES_MAX = 5_000
EDGES_MAX = 20_000
TRAVERSAL_SECONDS_MAX = 2.0
# The neighbours of one node that are counted.
NEIGHBOURS_MAX = 1_000
_URNS_PER_QUERY_MAX = 1_000
_LAST_INSTANT = datetime(9999, 12, 31, tzinfo=UTC)
_STATE_OF_STATUS = {
    "RUNNING": RUNNING,
    "COMPLETE": OK,
    "FAIL": FAILED,
    "ABORT": ABORTED,
    "ABANDONED": NO_NEWS,
}
# The state of a dataset by the status of the run that left its newest version unfinished.
_STATE_OF_UNFINISHED = {"RUNNING": RUNNING, "ABANDONED": NO_NEWS}
_FAILED = (FAILED, ABORTED)


class NodeState(NamedTuple):
    """A state, the instant at which it began, and the job that causes it from elsewhere."""

    state: str
    since: datetime | None = None
    cause: str | None = None


@dataclass(frozen=True)
class NodeOverview:
    """What a picture shows of a node. A count is None if it has no meaning for the kind of node.

    `updated_at` is the time of its newest complete data. `state` is None for kinds without one.
    """

    state: NodeState | None = None
    last_run_at: datetime | None = None
    last_run_id: str | None = None
    updated_at: datetime | None = None
    row_count: int | None = None
    owners: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    type: str | None = None
    column_count: int | None = None
    upstream_count: int | None = None
    downstream_count: int | None = None


def node_overviews(
    view: GraphView, urns: Iterable[str], as_of: datetime | None = None
) -> dict[str, NodeOverview]:
    """Return the overview of each visible node that exists, by urn.

    Runs and versions count up to `as_of`; None: all. Neighbours are those of the current graph.
    """
    visible = select_visible(view, dict.fromkeys(urns))
    of_graph = [urn for urn in visible if urn.startswith(("dataset:", "job:"))]
    others = [urn for urn in visible if not urn.startswith(("dataset:", "job:"))]
    overviews = {urn: _history_overview(row) for urn, row in read_nodes(view, others).items()}
    if of_graph:
        overviews |= _graph_overviews(view, of_graph, as_of)
    return overviews


def _graph_overviews(
    view: GraphView, urns: list[str], as_of: datetime | None
) -> dict[str, NodeOverview]:
    """Return the overviews of datasets and jobs, with the failures upstream of them."""
    at = as_of or _LAST_INSTANT
    above = _reach(view, DATASETS_UP, urns, as_of)
    jobs = _read(view, "job", urns, at)
    datasets = _read(view, "dataset", urns, at)
    producers = set(chain.from_iterable(row["producers"] for row in datasets.values()))
    unread = _read(view, "job", sorted(producers - jobs.keys()), at)
    states = {urn: _state_of_job(row, at) for urn, row in (jobs | unread).items()}
    failures = {urn: state for urn, state in states.items() if state.state in _FAILED}
    failures |= _failures(view, sorted(above.nodes.keys() - states.keys()), at)
    inherited = _inherited(view, failures, as_of)
    overviews = {}
    for urn in urns:
        if urn in datasets:
            state = _state_of_dataset(datasets[urn], states)
            overviews[urn] = _dataset_overview(datasets[urn], state)
        elif urn in jobs:
            overviews[urn] = _job_overview(jobs[urn], states[urn])
        else:
            continue
        failure = inherited.get(urn)
        own = overviews[urn].state
        if failure and own and own.state == OK:
            overviews[urn] = replace(overviews[urn], state=failure)
    return overviews


class _Reached(NamedTuple):
    nodes: Mapping[str, int]
    edges: Iterable[Edge]


def _reach(
    view: GraphView, layer: Layer, starts: Iterable[str], as_of: datetime | None
) -> _Reached:
    bounds = Bounds.within(
        TRAVERSAL_SECONDS_MAX, depth=DEPTH_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX
    )
    request = TraversalRequest(layer, bounds, as_of=as_of, find_resume_points=False)
    reached = traverse_from(view, request, list(starts))
    return _Reached(reached.nodes, reached.edges)


def _failures(view: GraphView, urns: Iterable[str], at: datetime) -> dict[str, NodeState]:
    """Return the states of the failed jobs among these nodes, by urn."""
    states = {}
    jobs = [urn for urn in urns if urn.startswith("job:")]
    visible = view.visibility.regexes
    for some in chunks(jobs, _URNS_PER_QUERY_MAX):
        for row in view.read("read/nodes/failing_jobs", urns=some, at=at, visible=visible):
            state = NodeState(*_state_of_run(row["last"], at))
            if state.state in _FAILED:
                states[row["urn"]] = state
    return states


def _read(view: GraphView, kind: str, urns: Iterable[str], at: datetime) -> dict[str, Row]:
    """Read the rows of the nodes of a kind, by urn."""
    rows: dict[str, Row] = {}
    of_kind = [urn for urn in urns if urn.startswith(f"{kind}:")]
    visible = view.visibility.regexes
    for some in chunks(of_kind, _URNS_PER_QUERY_MAX):
        name = f"read/nodes/{kind}_overviews"
        for row in view.read(name, urns=some, at=at, visible=visible, limit=NEIGHBOURS_MAX):
            rows[row["urn"]] = row
    return rows


def _inherited(
    view: GraphView, failures: Mapping[str, NodeState], as_of: datetime | None
) -> dict[str, NodeState]:
    """Return the state that each node downstream of failed jobs has from the nearest of them."""
    if not failures:
        return {}
    below = _reach(view, DATASETS_DOWN, sorted(failures), as_of)
    targets: dict[str, list[str]] = defaultdict(list)
    for edge in sorted(below.edges):
        targets[edge.source].append(edge.target)
    causes = {urn: urn for urn in sorted(failures)}
    queue = list(causes)
    for urn in queue:
        for target in targets[urn]:
            if target not in causes and target in below.nodes:
                causes[target] = causes[urn]
                queue.append(target)
    return {
        urn: NodeState(UPSTREAM_FAILED, failures[cause].since, cause)
        for urn, cause in causes.items()
        if urn != cause
    }


def _state_of_job(row: Row, at: datetime) -> NodeState:
    """Return the state of a job from its own runs and those of its DAG."""
    last = row["last"]
    if last is None:
        return NodeState(UNKNOWN)
    state, since = _state_of_run(last, at)
    execution = row["execution"]
    if state in (OK, NO_NEWS) and _is_later(execution, last):
        outcome, ended = _state_of_run(execution, at)
        if outcome == OK:
            return NodeState(SKIPPED, ended, execution["job"])
        if outcome in _FAILED:
            return NodeState(UPSTREAM_FAILED, ended, execution["job"])
    return NodeState(state, since)


def _is_later(execution: Row | None, last: Row) -> bool:
    """Return True if a run of the DAG began after the last run of a job in it."""
    if execution is None or execution["startedAt"] is None or last["startedAt"] is None:
        return False
    return bool(execution["startedAt"] > last["startedAt"])


def _state_of_run(run: Mapping[str, Any], at: datetime) -> tuple[str, datetime | None]:
    """Return the state of a run at an instant, and when it began."""
    state = _STATE_OF_STATUS.get(run["status"], UNKNOWN)
    ended = run["failedAt"] if state == FAILED else run["finishedAt"]
    ended = ended or run["finishedAt"] or run["failedAt"]
    if state == RUNNING or (ended is not None and ended > at):
        return RUNNING, run["startedAt"]
    if state == NO_NEWS:
        return state, run.get("lastSeen") or ended or run["startedAt"]
    return state, ended or run["startedAt"]


def _state_of_dataset(row: Row, jobs: Mapping[str, NodeState]) -> NodeState:
    """Return the state of a dataset from its versions and the jobs that write it."""
    newest, left = row["newest"], row["left"]
    if left is not None:
        state = _STATE_OF_UNFINISHED.get(left["status"], PARTIAL)
        return NodeState(state, left["createdAt"])
    made = newest["createdAt"] if newest else None
    missed = [
        NodeState(STALE, jobs[urn].since, urn)
        for urn in row["producers"]
        if urn in jobs and _left_out(jobs[urn], made)
    ]
    if missed:
        return min(missed, key=lambda state: (state.since or _LAST_INSTANT, state.cause or ""))
    if made is None:
        return NodeState(UNKNOWN)
    return NodeState(OK, made)


def _left_out(job: NodeState, made: datetime | None) -> bool:
    """Return True if a job did not refresh a dataset whose newest version is from `made`."""
    if job.state not in (*_FAILED, SKIPPED) or job.since is None:
        return False
    return made is None or job.since > made


def _dataset_overview(row: Row, state: NodeState) -> NodeOverview:
    newest = row["newest"] or {}
    return NodeOverview(
        state=state,
        updated_at=newest.get("createdAt") or row["captured"],
        row_count=newest.get("rowCount"),
        owners=row["owners"] or [],
        tags=row["tags"] or [],
        type=row["type"],
        column_count=row["columns"],
        upstream_count=len(row["upstream"]),
        downstream_count=len(row["downstream"]),
    )


def _job_overview(row: Row, state: NodeState) -> NodeOverview:
    last = row["last"] or {}
    return NodeOverview(
        state=state,
        last_run_at=last.get("startedAt"),
        last_run_id=last.get("runId"),
        owners=row["owners"] or [],
        tags=row["tags"] or [],
        type=row["type"],
        upstream_count=len(row["upstream"]),
        downstream_count=len(row["downstream"]),
    )


def _history_overview(row: Row) -> NodeOverview:
    """Return the overview of a run, a version, a source, an answer or a column."""
    kind = row["urn"].partition(":")[0]
    overview = NodeOverview(
        owners=row.get("owners") or [], tags=row.get("tags") or [], type=row.get("type")
    )
    if kind == "run":
        keys = ("status", "startedAt", "finishedAt", "failedAt", "lastSeen")
        run = {key: row.get(key) for key in keys}
        state = NodeState(*_state_of_run(run, _LAST_INSTANT))
        return replace(
            overview, state=state, last_run_at=run["startedAt"], last_run_id=row.get("runId")
        )
    if kind == "artifact":
        unfinished = _STATE_OF_UNFINISHED.get(row.get("status") or "", PARTIAL)
        return replace(
            overview,
            state=NodeState(OK if row.get("complete") else unfinished, row.get("createdAt")),
            updated_at=row.get("createdAt"),
            row_count=row.get("rowCount"),
        )
    return replace(
        overview,
        updated_at=row.get("capturedAt") or row.get("generatedAt"),
        row_count=row.get("rowCount"),
    )
