"""The impact of a failed run, in two lists for the person who informs others.

*Partial* nodes derive from the outputs that the run wrote before it failed. These are its own
unfinished versions, the runs that read them, directly or through others, and the versions those
wrote.

*Stale* nodes wait for the outputs that it did not write. In the lineage graph, these are the
datasets that a complete run of its job writes, and all nodes downstream of them. In the run
history, these are the runs that began after the failure and read the version from before it,
directly or through others, with the versions they wrote. Answers that rest on that version are
stale too, unless a newer version had superseded the cited one before the failure. A run that may
have read either the old version or the unfinished one is in both lists, because its events do not
say which.

A failure is *resolved* once its job has written all outputs again. Either a later attempt of the
same schedule slot succeeded, or later successful runs of the same job wrote every dataset that the
run should have written. If the job writes none, its next success counts. A success of another job
does not count, because that may have written another part. After that nothing waits. So the stale
nodes of a resolved failure are only runs and answers between the failure and the resolution.

A page of failures takes the same few statements for any number of runs.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from headwater.cypher.driver.database import Row
from headwater.lineage.node_visibility import find_hidden, select_visible
from headwater.lineage.questions.failures import (
    EDGES_MAX,
    HOPS_MAX,
    PAGE_ROWS_MAX,
    TRAVERSAL_SECONDS_MAX,
    nodes_of_kind,
    nodes_per_run,
)
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import DATASETS_DOWN, RUNS_DOWN, Layer
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView

_SECONDS_MIN = 2.0
_REACHED = ("dataset:", "job:", "run:", "artifact:", "source:", "answer:")
_OWNED = ("dataset:", "job:", "artifact:")


@dataclass(frozen=True)
class AffectedEntities:
    """Affected urns, nearest first; `owners` are those of the jobs and datasets among them."""

    datasets: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    reason: str = ""

    @property
    def truncated(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True)
class Resolution:
    """The successful run that completed the outputs of a failed run, and the time of its end."""

    run: str
    at: datetime


@dataclass(frozen=True)
class FailureImpact:
    """The impact of one failed run; `job` is the urn of its job, "" without one.

    `old` has the newest complete versions before the failure of the outputs of the run, or their
    sources.
    """

    partial: AffectedEntities = field(default_factory=AffectedEntities)
    stale: AffectedEntities = field(default_factory=AffectedEntities)
    resolution: Resolution | None = None
    job: str = ""
    old: tuple[str, ...] = ()


@dataclass(frozen=True)
class _ReachedNodes:
    """The rows of all nodes that the walks of a page reached."""

    runs: Mapping[str, Row]
    # Version -> the answers that cite it.
    citations: Mapping[str, list[Row]]
    # Job, dataset or version -> its owners and, for a version, its dataset.
    ownership: Mapping[str, Row]
    hidden: set[str]

    def affected(
        self,
        runs: list[str],
        artifacts: list[str],
        answers: list[str],
        *,
        waiting: Traversal | None = None,
        reason: str = "",
    ) -> AffectedEntities:
        """Return the visible nodes with their jobs, datasets and owners.

        `waiting` is the walk over stale datasets and jobs of the lineage graph.
        """
        datasets = nodes_of_kind("dataset", waiting)
        datasets += [self.ownership[urn]["ownedUrn"] for urn in artifacts if urn in self.ownership]
        jobs = nodes_of_kind("job", waiting)
        for run in runs:
            if run in self.runs:
                jobs += self.runs[run]["jobs"]
        entities = AffectedEntities(
            datasets=self._visible(datasets),
            jobs=self._visible(jobs),
            runs=self._visible(runs),
            artifacts=self._visible(artifacts),
            answers=self._visible(answers),
            reason=reason,
        )
        owners = self._owners([*entities.datasets, *entities.jobs, *entities.artifacts])
        return replace(entities, owners=owners)

    def _visible(self, urns: Iterable[str]) -> list[str]:
        return [urn for urn in dict.fromkeys(urns) if urn not in self.hidden]

    def _owners(self, urns: Iterable[str]) -> list[str]:
        owners: set[str] = set()
        for urn in urns:
            row = self.ownership.get(urn)
            if row is not None and row["ownedUrn"] not in self.hidden:
                owners.update(row["owners"])
        return sorted(owners)


def failure_impact(
    view: GraphView, runs: Sequence[str], *, seconds: float = TRAVERSAL_SECONDS_MAX
) -> dict[str, FailureImpact]:
    """Return the visible impact of each failed run, by urn; unknown runs are left out."""
    rows = view.read("read/failures/failed_run_outputs", urns=select_visible(view, runs))
    failures = {row["urn"]: row for row in rows}
    resolutions = {urn: resolution_of(row) for urn, row in failures.items()}
    deadline = time.monotonic() + seconds
    bounds = Bounds(HOPS_MAX, nodes_per_run(len(failures)), EDGES_MAX, deadline)
    unresolved = [row for urn, row in failures.items() if resolutions[urn] is None]
    waiting = _traverse(view, DATASETS_DOWN, {_datasets(row) for row in unresolved}, bounds)
    starts = {(urn,) for urn in failures} | {_old_versions(row) for row in failures.values()}
    history = _traverse(view, RUNS_DOWN, starts, bounds)
    nodes = _read_nodes(view, [*waiting.values(), *history.values()], deadline)
    impacts: dict[str, FailureImpact] = {}
    for urn, row in failures.items():
        resolution = resolutions[urn]
        stale = _Stale(row, resolution, history[_old_versions(row)], nodes)
        impacts[urn] = FailureImpact(
            partial=_partial(urn, history[(urn,)], nodes),
            stale=stale.affected(None if resolution else waiting[_datasets(row)]),
            resolution=resolution,
            job=row["job"] or "",
            old=_old_versions(row),
        )
    return impacts


def _traverse(
    view: GraphView, layer: Layer, starts: set[tuple[str, ...]], bounds: Bounds
) -> dict[tuple[str, ...], Traversal]:
    return traverse(
        view,
        TraversalRequest(layer, bounds, shared_rows_max=PAGE_ROWS_MAX, find_resume_points=False),
        {urns: urns for urns in starts},
    )


def resolution_of(row: Row) -> Resolution | None:
    """Return the resolution of a failure, from a row of read/failures/failed_run_outputs."""
    successes = [output["renewed"] for output in row["outputs"]] or [row["next"]]
    last = max(successes, key=_by_time) if all(successes) else None
    candidates = [success for success in (row["retry"], last) if success and success["at"]]
    first = min(candidates, key=_by_time, default=None)
    return Resolution(first["run"], first["at"]) if first else None


def _by_time(success: Row) -> tuple[datetime, str]:
    return success["at"], success["run"]


def _datasets(row: Row) -> tuple[str, ...]:
    return tuple(output["dataset"] for output in row["outputs"])


def _old_versions(row: Row) -> tuple[str, ...]:
    """Return the newest versions before a failure of the outputs of the run."""
    return tuple(sorted({output["old"] for output in row["outputs"] if output["old"]}))


def _read_nodes(view: GraphView, traversals: Sequence[Traversal], deadline: float) -> _ReachedNodes:
    seconds = max(_SECONDS_MIN, deadline - time.monotonic()) + view.planning_seconds
    reached: set[str] = set()
    cited: set[str] = set()
    for traversal in traversals:
        reached.update(urn for urn in traversal.nodes if urn.startswith(_REACHED))
        cited.update(edge.source for edge in traversal.edges if edge.type == "CITED_BY")
    runs = sorted(urn for urn in reached if urn.startswith("run:"))
    run_rows = view.read("read/failures/run_outcomes", seconds=seconds, urns=runs)
    citation_rows = view.read(
        "read/failures/citations_of_versions",
        seconds=seconds,
        urns=sorted(cited),
        limit=PAGE_ROWS_MAX,
    )
    citations: dict[str, list[Row]] = defaultdict(list)
    for row in citation_rows:
        citations[row["version"]].append(row)
    owned = {urn for urn in reached if urn.startswith(_OWNED)}
    for row in run_rows:
        owned.update(row["jobs"])
    ownership = view.read("read/nodes/owners", seconds=seconds, urns=sorted(owned))
    owned_urns = {row["ownedUrn"] for row in ownership}
    return _ReachedNodes(
        runs={row["urn"]: row for row in run_rows},
        citations=citations,
        ownership={row["urn"]: row for row in ownership},
        hidden=find_hidden(view, sorted(reached | owned | owned_urns), seconds=seconds),
    )


def _partial(urn: str, traversal: Traversal, nodes: _ReachedNodes) -> AffectedEntities:
    """Return the nodes that derive from the outputs a failed run did write."""
    return nodes.affected(
        [other for other in nodes_of_kind("run", traversal) if other != urn],
        nodes_of_kind("artifact", traversal),
        nodes_of_kind("answer", traversal),
        reason=traversal.truncated,
    )


@dataclass(frozen=True)
class _Stale:
    """The stale nodes of one failure; `old` is the walk from the versions before the failure."""

    failure: Row
    resolution: Resolution | None
    old: Traversal
    nodes: _ReachedNodes

    def affected(self, waiting: Traversal | None) -> AffectedEntities:
        """Return the waiting nodes, and the runs and answers that used the old versions since."""
        runs = [urn for urn in nodes_of_kind("run", self.old) if self._is_late(urn)]
        late = set(runs)
        written = {
            edge.target
            for edge in self.old.edges
            if edge.source in late and edge.target.startswith("artifact:")
        }
        return self.nodes.affected(
            runs,
            [urn for urn in nodes_of_kind("artifact", self.old) if urn in written],
            self._answers(written),
            waiting=waiting,
            reason=(waiting.truncated if waiting else "") or self.old.truncated,
        )

    def _is_late(self, urn: str) -> bool:
        """Return True if a run began between the failure and its resolution.

        Runs of the failed job are new attempts and do not count.
        """
        run = self.nodes.runs.get(urn)
        if run is None or run["startedAt"] is None or self.failure["job"] in run["jobs"]:
            return False
        return self._is_between(run["startedAt"])

    def _is_between(self, instant: datetime | None) -> bool:
        if instant is None or instant < self.failure["failedAt"]:
            return False
        return self.resolution is None or instant < self.resolution.at

    def _answers(self, written: set[str]) -> list[str]:
        """Return the stale answers, other answers that cite them included.

        An answer is stale if it cites a version written since the failure. It is also stale if it
        cites an older one that was still current at the failure. After the resolution, the latter
        holds only for answers generated in between.
        """
        stale: set[str] = set()
        for version in self.old.nodes:
            for citation in self.nodes.citations.get(version, ()):
                if version in written or self._cites_current(citation):
                    stale.add(citation["answer"])
        citing: dict[str, list[str]] = defaultdict(list)
        for edge in self.old.edges:
            if edge.source.startswith("answer:"):
                citing[edge.source].append(edge.target)
        pending = sorted(stale)
        while pending:
            answer = pending.pop()
            new = [other for other in citing[answer] if other not in stale]
            stale.update(new)
            pending += new
        return [urn for urn in nodes_of_kind("answer", self.old) if urn in stale]

    def _cites_current(self, citation: Row) -> bool:
        superseded = citation["superseded"]
        if superseded is not None and superseded <= self.failure["failedAt"]:
            return False
        return self.resolution is None or self._is_between(citation["generatedAt"])
