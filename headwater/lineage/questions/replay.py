"""The replay plan after a run wrote corrupt data: which runs to repeat, and in which order.

A plan starts from a run, from one version, or from a dataset whose versions since an instant are
corrupt. For a version, only its descendants are spoiled, but its whole run is repeated.

The *run history* holds the nodes really built from it. Every run that read a spoiled version,
directly or through others, is replaced by another run of its job, in the order of the data. Runs of
one job, and runs that wrote the same dataset, never share a step. They are replaced in the order in
which they ran. So a job that reads its own earlier version repeats all its later runs one by one,
and the newest version is written last. Other runs that do not wait for each other share a step and
may run at the same time. Runs that read from each other in a cycle, which takes overlapping runs,
have no order. They share one step and are marked.

The *lineage graph* names the jobs that would read spoiled data next without having done so yet.
They have no run to replace. Together with the run history it shows which jobs feed each other. Run
in the order of the steps, such jobs end; started by triggers, they may not.

A version that kept the content of a spoiled one, because its run appended, is spoiled too. The runs
that read it are replaced. The appending run is not: it did not read that content, and what it added
is good.

The *last good* version of a dataset is the newest complete one that was written before the first
corrupt run began and does not derive from it. A run is *superseded* if later complete versions,
not spoiled, have replaced all its outputs. Then the current data needs no replacement of the run,
but data built from it in between may. Answers come last, cited answers before those that cite them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.nodes import require_node
from headwater.lineage.questions.failures import nodes_of_kind
from headwater.lineage.questions.topological_order import (
    Group,
    parallel_steps,
    strongly_connected_components,
)
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import DATASETS_DOWN, RUNS_DOWN
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

HOPS_MAX = 1_000
NODES_MAX = 5_000
EDGES_MAX = 50_000
VERSIONS_MAX = 1_000
TRAVERSAL_SECONDS_MAX = 5.0
_LATEST = datetime.max.replace(tzinfo=UTC)
_Successors = Mapping[str, Collection[str]]


@dataclass(frozen=True)
class Input:
    """A dataset that a run read, its versions, and the runs that must be repeated first."""

    dataset: str
    versions: list[str]
    wait_for: list[str]


@dataclass(frozen=True)
class Output:
    """A version to replace, and the last good version of its dataset, None without one."""

    dataset: str
    version: str
    last_good: str | None


@dataclass(frozen=True)
class Rerun:
    """A run to replace; `job` is "" if its job is unknown."""

    run: str
    job: str
    inputs: list[Input]
    outputs: list[Output]
    owners: list[str]
    reads_own_output: bool
    in_cycle: bool
    superseded: bool


@dataclass(frozen=True)
class ReplayPlan:
    """The runs to replace, in steps.

    `corrupt_runs` are the starts. `next_jobs` would read spoiled data next, nearest first. `cycles`
    are groups of jobs that feed each other.
    """

    corrupt_runs: list[str]
    steps: list[list[Rerun]] = field(default_factory=list)
    next_jobs: list[str] = field(default_factory=list)
    cycles: list[list[str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    reason: str = ""

    @property
    def truncated(self) -> bool:
        return bool(self.reason)


def replay_plan(
    view: GraphView,
    urn: str,
    *,
    since: datetime | None = None,
    timeout_seconds: float = TRAVERSAL_SECONDS_MAX,
) -> ReplayPlan:
    """Return the plan to replace the data that a corrupt run spoiled.

    `since` is required for a dataset and refused for other nodes. Raises NotFoundError without a
    visible node, QueryError for a bad urn or `since`.
    """
    starts = _read_starts(view, urn, since)
    bounds = Bounds.within(
        timeout_seconds, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX
    )
    traversal = traverse(view, TraversalRequest(RUNS_DOWN, bounds), {urn: starts.urns})[urn]
    spoiled = _read_spoiled(view, starts.corrupt_runs, traversal)
    ahead = traverse(
        view, TraversalRequest(DATASETS_DOWN, bounds), {urn: spoiled.current_datasets()}
    )[urn]
    next_jobs = nodes_of_kind("job", ahead)
    answers = nodes_of_kind("answer", traversal)
    builder = _read_builder(view, spoiled, [*next_jobs, *answers])
    successors = _run_successors(spoiled, traversal)
    steps = builder.steps(successors)
    replayed_jobs = {row["job"] for row in spoiled.runs.values()}
    owners: set[str] = set()
    for step in steps:
        for rerun in step:
            owners.update(rerun.owners)
    return ReplayPlan(
        corrupt_runs=builder.visible(starts.corrupt_runs),
        steps=steps,
        next_jobs=builder.visible(job for job in next_jobs if job not in replayed_jobs),
        cycles=builder.cycles(successors, ahead),
        answers=builder.visible(_in_order(answers, _edge_successors(traversal))),
        owners=sorted(owners),
        reason=starts.reason or traversal.truncated or ahead.truncated,
    )


class _Starts(NamedTuple):
    """The nodes where the traversal starts, and the corrupt runs.

    `reason` is "nodes" if there are more versions than are read.
    """

    urns: list[str]
    corrupt_runs: list[str]
    reason: str = ""


def _read_starts(view: GraphView, urn: str, since: datetime | None) -> _Starts:
    kind = parse_urn(urn).kind
    if kind not in ("run", "artifact", "dataset"):
        raise QueryError(
            f"a {kind} cannot be replayed: urn {urn!r} names no run, version or dataset",
            hint="Name the corrupt run, or the version or dataset that it spoiled.",
        )
    if (since is not None) != (kind == "dataset"):
        raise QueryError(
            "`since` is required for a dataset and not allowed for a run or a version",
            hint="Name the corrupt run or version, or a dataset and since when it is corrupt.",
        )
    urn = str(require_node(view, urn)["urn"])
    if kind == "run":
        return _Starts([urn], [urn])
    if kind == "artifact":
        rows = view.read("read/traversal/version_producers", urns=[urn], limit=VERSIONS_MAX)
        return _Starts([urn], sorted({row["jobOrRun"] for row in rows}))
    rows = view.read("read/failures/versions_since", dataset=urn, since=since, limit=VERSIONS_MAX)
    return _Starts(
        urns=sorted(row["urn"] for row in rows),
        corrupt_runs=sorted({row["run"] for row in rows if row["run"]}),
        reason="nodes" if len(rows) >= VERSIONS_MAX else "",
    )


@dataclass(frozen=True)
class _Spoiled:
    """The runs to replace and the versions they spoiled."""

    # Run -> its row of read/failures/run_inputs_and_outputs.
    runs: Mapping[str, Row]
    # Version -> its dataset, its time (`at`) and its run.
    versions: Mapping[str, Row]
    # Dataset -> its last good version (`good`) and the time of its newest good one (`newestAt`).
    good: Mapping[str, Row]
    # Version -> the version whose content it kept.
    kept: Mapping[str, str]

    def is_superseded(self, version: Row) -> bool:
        newest = self.good.get(version["dataset"], {}).get("newestAt")
        return newest is not None and version["at"] is not None and newest > version["at"]

    def writers(self, urn: str) -> set[str]:
        """Return the runs to replace that wrote content of a version."""
        writers: set[str] = set()
        version: str | None = urn
        while version is not None:
            if version in self.versions:
                writers.add(self.versions[version]["run"])
            version = self.kept.get(version)
        return writers

    def current_datasets(self) -> list[str]:
        """Return the datasets whose current version is spoiled."""
        return sorted(
            {
                version["dataset"]
                for version in self.versions.values()
                if not self.is_superseded(version)
            }
        )


def _read_spoiled(view: GraphView, corrupt_runs: list[str], traversal: Traversal) -> _Spoiled:
    rows = view.read(
        "read/failures/run_inputs_and_outputs",
        urns=sorted({*corrupt_runs, *nodes_of_kind("run", traversal)}),
        limit=VERSIONS_MAX,
    )
    runs = {row["urn"]: row for row in rows}
    reached = set(nodes_of_kind("artifact", traversal))
    versions: dict[str, Row] = {}
    for run, row in runs.items():
        for output in row["outputs"]:
            if output["urn"] in reached:
                versions[output["urn"]] = {**output, "run": run}
    began = min((_began(runs[run]) for run in corrupt_runs if run in runs), default=_LATEST)
    kept = {
        edge.target: edge.source
        for edge in traversal.edges
        if edge.source in reached and edge.target in reached
    }
    # A version that kept spoiled content is no good one, although its run is not repeated.
    datasets = {version["dataset"] for version in versions.values()}
    good = _read_good(view, datasets, {*versions, *reached}, began)
    return _Spoiled(runs, versions, good, kept)


def _read_good(
    view: GraphView, datasets: set[str], spoiled: set[str], began: datetime
) -> dict[str, Row]:
    """Read the last good version before `began`, and the newest good one, by dataset."""
    if began == _LATEST or not datasets:
        return {}
    rows = view.read(
        "read/failures/last_good_versions", urns=sorted(datasets), at=began, spoiled=sorted(spoiled)
    )
    return {row["urn"]: row for row in rows}


def _read_builder(view: GraphView, spoiled: _Spoiled, others: Iterable[str]) -> _PlanBuilder:
    """Read owners and visibility of all nodes that the plan names; `others` are not of the runs."""
    urns = {*spoiled.runs, *others}
    jobs: set[str] = set()
    for row in spoiled.runs.values():
        for version in (*row["inputs"], *row["outputs"]):
            urns.update((version["urn"], version["dataset"]))
        if row["job"]:
            jobs.add(row["job"])
    urns |= jobs
    urns.update(row["good"] for row in spoiled.good.values() if row["good"])
    hidden = find_hidden(view, sorted(urns))
    datasets = {version["dataset"] for version in spoiled.versions.values()}
    rows = view.read("read/nodes/owners", urns=sorted((jobs | datasets) - hidden))
    return _PlanBuilder(spoiled, {row["urn"]: row["owners"] for row in rows}, hidden)


def _edge_successors(traversal: Traversal) -> dict[str, set[str]]:
    successors: dict[str, set[str]] = defaultdict(set)
    for edge in traversal.edges:
        successors[edge.source].add(edge.target)
    return successors


def _run_successors(spoiled: _Spoiled, traversal: Traversal) -> dict[str, set[str]]:
    """Return the runs that read the outputs of each run, through any nodes between them."""
    neighbours = _edge_successors(traversal)
    for version, row in spoiled.versions.items():
        neighbours[row["run"]].add(version)
    successors: dict[str, set[str]] = {}
    for run in spoiled.runs:
        following: set[str] = set()
        crossed: set[str] = set()
        stack = list(neighbours.get(run, ()))
        while stack:
            node = stack.pop()
            if node in spoiled.runs:
                following.add(node)
            elif node not in crossed:
                crossed.add(node)
                stack.extend(neighbours.get(node, ()))
        successors[run] = following
    return successors


def _in_order(nodes: Iterable[str], successors: _Successors) -> Iterator[str]:
    for step in parallel_steps(nodes, successors):
        for group in step:
            yield from group


def _run_steps(runs: Mapping[str, Row], successors: _Successors) -> list[list[Group]]:
    """Return the runs in steps: by the data, then runs of one job or dataset as they ran.

    Such runs are chained by the step that the data alone gives them, then by their start. All
    chains use the same order, so they add no cycle.
    """
    rank: dict[str, tuple[int, datetime, Group, datetime, str]] = {}
    for number, step in enumerate(parallel_steps(runs, successors)):
        for group in step:
            first = min(_began(runs[run]) for run in group)
            for run in group:
                rank[run] = (number, first, group, _began(runs[run]), run)
    # Job or dataset -> the runs that must not share a step.
    exclusive: dict[str, set[str]] = defaultdict(set)
    for run, row in runs.items():
        if row["job"] is not None:
            exclusive[row["job"]].add(run)
        for output in row["outputs"]:
            exclusive[output["dataset"]].add(run)
    chained = {run: set(following) for run, following in successors.items()}
    for chain in exclusive.values():
        for before, after in pairwise(sorted(chain, key=rank.__getitem__)):
            chained[before].add(after)
    return parallel_steps(runs, chained)


def _began(row: Row) -> datetime:
    return row["startedAt"] or _LATEST


@dataclass(frozen=True)
class _PlanBuilder:
    """Builds the entries of a plan from visible nodes."""

    spoiled: _Spoiled
    owners: Mapping[str, list[str]]
    hidden: set[str]

    def visible(self, urns: Iterable[str]) -> list[str]:
        return [urn for urn in dict.fromkeys(urns) if urn not in self.hidden]

    def steps(self, successors: _Successors) -> list[list[Rerun]]:
        """Return the steps with at least one visible run."""
        steps: list[list[Rerun]] = []
        for groups in _run_steps(self.spoiled.runs, successors):
            step: list[Rerun] = []
            for group in groups:
                step += self._reruns(group, successors)
            if step:
                steps.append(step)
        return steps

    def _reruns(self, group: Group, successors: _Successors) -> list[Rerun]:
        is_cycle = len(group) > 1
        return [self._rerun(run, is_cycle or run in successors[run]) for run in self.visible(group)]

    def _rerun(self, run: str, in_cycle: bool) -> Rerun:
        row = self.spoiled.runs[run]
        inputs = self._inputs(row)
        written = self.visible(output["urn"] for output in row["outputs"])
        versions = self.spoiled.versions
        outputs = [versions[urn] for urn in written if urn in versions]
        owners: set[str] = set()
        for owned in (row["job"], *(output["dataset"] for output in outputs)):
            owners.update(self.owners.get(owned, ()))
        return Rerun(
            run=run,
            job=row["job"] or "",
            inputs=inputs,
            outputs=[self._output(output) for output in outputs],
            owners=sorted(owners),
            reads_own_output=self._is_own_output(row, inputs),
            in_cycle=in_cycle,
            superseded=bool(outputs) and all(map(self.spoiled.is_superseded, outputs)),
        )

    def _inputs(self, row: Row) -> list[Input]:
        versions: dict[str, list[str]] = defaultdict(list)
        for version in row["inputs"]:
            if version["urn"] not in self.hidden and version["dataset"] not in self.hidden:
                versions[version["dataset"]].append(version["urn"])
        return [Input(dataset, urns, self._writers(urns)) for dataset, urns in versions.items()]

    def _writers(self, versions: Iterable[str]) -> list[str]:
        """Return the visible runs that wrote spoiled versions, or content that these kept."""
        writers: set[str] = set()
        for urn in versions:
            writers |= self.spoiled.writers(urn)
        return self.visible(sorted(writers))

    def _output(self, version: Row) -> Output:
        good: str | None = self.spoiled.good.get(version["dataset"], {}).get("good")
        return Output(version["dataset"], version["urn"], good if good not in self.hidden else None)

    def _is_own_output(self, row: Row, inputs: list[Input]) -> bool:
        """Return True if a run of the same job wrote a spoiled input."""
        for read in inputs:
            for writer in read.wait_for:
                if self.spoiled.runs[writer]["job"] == row["job"]:
                    return True
        return False

    def cycles(self, successors: _Successors, ahead: Traversal) -> list[list[str]]:
        """Return the jobs that feed each other, in the run history or in the lineage graph."""
        job_successors = _edge_successors(ahead)
        runs = self.spoiled.runs
        for run, following in successors.items():
            job = runs[run]["job"] or run
            job_successors[job].update(runs[other]["job"] or other for other in following)
        groups = strongly_connected_components({*job_successors, *ahead.nodes}, job_successors)
        cycles: list[list[str]] = []
        for group in groups:
            jobs = self.visible(urn for urn in group if urn.startswith("job:"))
            if len(jobs) > 1:
                cycles.append(jobs)
        return sorted(cycles)
