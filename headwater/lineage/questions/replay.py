"""What to run again, and in which order, after a run wrote something corrupt.

It starts from a run, from one version (then only what was built from that is spoiled, but its whole run is to be run
again), or from a dataset, of which everything made at or after an instant is corrupt.

*History* tells what was really built from that: every run that read a spoiled version, directly or through others, is
to be replaced by another run of its job. The order is that of the data. Runs of one job, and runs that wrote the same
dataset, never come in the same step: they are replaced in the order in which they ran, so that a job which reads its
own earlier version gets all its later runs again, one by one, and the newest version is the last one written. All else
that does not wait for each other is in one step and may run at the same time. Runs that read from each other in a
circle (it takes runs that overlap) cannot be put in an order: they are in one step, and say so.

*The map* tells which jobs would read what is spoiled next without having done so yet; there is nothing of theirs to
replace. It also tells, together with history, which jobs feed each other: run one after the other as the steps say,
they end; left to triggers, they may not.

The *last good* version of a dataset is the newest complete one that was made before the first corrupt run began and was
not built from it. A run is *superseded* when all that it wrote has been made anew since by a complete version that is
not spoiled: what is current needs no replacement of it, but what was built from it in between may. Answers come last,
those that other answers rest on before these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

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
WALK_SECONDS_MAX = 5.0
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Input:
    """A dataset that a run read: which versions, and the runs that are to be run again first since these made them."""

    dataset: str
    versions: list[str]
    wait_for: list[str]


@dataclass(frozen=True)
class Output:
    """A version to replace, and the newest good one of its dataset from before, None when there is none."""

    dataset: str
    version: str
    last_good: str | None


@dataclass(frozen=True)
class Rerun:
    """A run to replace; `job` is "" when it is not known of which job it is."""

    run: str
    job: str
    inputs: list[Input]
    outputs: list[Output]
    owners: list[str]
    reads_own_output: bool
    in_cycle: bool
    superseded: bool


@dataclass(frozen=True)
class Plan:
    """`corrupt_runs` are the runs where it starts, `next_jobs` the jobs that would read what is spoiled next, nearest first."""

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
    seconds: float = WALK_SECONDS_MAX,
) -> Plan:
    """How to replace what a corrupt run spoiled. Raises NotFoundError for what is not there, QueryError for a urn of
    another kind, for a dataset without `since` and for `since` with anything else."""
    begins, corrupt, cut = _starts(view, urn, since)
    bounds = Bounds.within(seconds, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    walk = traverse(view, TraversalRequest(RUNS_DOWN, bounds), {urn: begins})[urn]
    runs = sorted({*corrupt, *nodes_of_kind("run", walk)})
    rows = {
        row["urn"]: row
        for row in view.read("read/failures/run_inputs_and_outputs", urns=runs, limit=VERSIONS_MAX)
    }
    spoiled = _spoiled(rows, nodes_of_kind("artifact", walk))
    good = _good(view, rows, corrupt, spoiled)
    waiting = sorted({one["dataset"] for one in spoiled.values() if not _is_superseded(one, good)})
    ahead = traverse(view, TraversalRequest(DATASETS_DOWN, bounds), {urn: waiting})[urn]
    known = _read(
        view, rows, spoiled, good, [*nodes_of_kind("job", ahead), *nodes_of_kind("answer", walk)]
    )
    onward = _between_runs(rows, walk, known.makers)
    ordered = known.steps(onward)
    jobs = {row["job"] for row in rows.values()}
    answers = parallel_steps(nodes_of_kind("answer", walk), _onward(walk))
    return Plan(
        corrupt_runs=known.seen(corrupt),
        steps=ordered,
        next_jobs=known.seen(job for job in nodes_of_kind("job", ahead) if job not in jobs),
        cycles=known.cycles(onward, ahead),
        answers=known.seen(
            answer for parallel in answers for group in parallel for answer in group
        ),
        owners=sorted({owner for step in ordered for rerun in step for owner in rerun.owners}),
        reason=cut or walk.truncated or ahead.truncated,
    )


def _starts(view: GraphView, urn: str, since: datetime | None) -> tuple[list[str], list[str], str]:
    """Where the walk begins, the runs that are corrupt, and "nodes" when there are more versions than are looked at."""
    kind = parse_urn(urn).kind
    if kind not in ("run", "artifact", "dataset"):
        raise QueryError(
            f"a {kind} cannot be replayed: urn {urn!r} names no run, version or dataset",
            hint="Ask for the run that was corrupt, or for the version or the dataset it spoiled.",
        )
    if (since is not None) != (kind == "dataset"):
        raise QueryError(
            "since says from when on a dataset is corrupt: it is needed for a dataset, and for nothing else",
            hint="Name the run or the version that was corrupt, or a dataset and since when it is.",
        )
    urn = str(require_node(view, urn)["urn"])
    if kind == "run":
        return [urn], [urn], ""
    if kind == "artifact":
        made_by = view.read("read/traversal/version_producers", urns=[urn], limit=VERSIONS_MAX)
        return [urn], sorted({row["jobOrRun"] for row in made_by}), ""
    versions = view.read(
        "read/failures/versions_since", dataset=urn, since=since, limit=VERSIONS_MAX
    )
    corrupt = sorted({row["run"] for row in versions if row["run"]})
    return (
        sorted(row["urn"] for row in versions),
        corrupt,
        "nodes" if len(versions) >= VERSIONS_MAX else "",
    )


def _spoiled(rows: Mapping[str, Row], reached: Iterable[str]) -> dict[str, Row]:
    """The versions to replace, by urn: dataset, when it was made, and by which run."""
    wanted = set(reached)
    made = ((run, output) for run, row in rows.items() for output in row["outputs"])
    return {
        output["urn"]: {**output, "run": run} for run, output in made if output["urn"] in wanted
    }


def _good(
    view: GraphView, rows: Mapping[str, Row], corrupt: Iterable[str], spoiled: Mapping[str, Row]
) -> dict[str, Row]:
    """By dataset the last good version, and the newest one that is not spoiled."""
    began = min((_began(rows[run]) for run in corrupt if run in rows), default=_LATEST)
    datasets = sorted({one["dataset"] for one in spoiled.values()})
    if began == _LATEST or not datasets:
        return {}
    found = view.read(
        "read/failures/last_good_versions", urns=datasets, at=began, spoiled=sorted(spoiled)
    )
    return {row["urn"]: row for row in found}


def _is_superseded(version: Row, good: Mapping[str, Row]) -> bool:
    newest = good.get(version["dataset"], {}).get("newestAt")
    return newest is not None and version["at"] is not None and newest > version["at"]


def _read(
    view: GraphView,
    rows: Mapping[str, Row],
    spoiled: Mapping[str, Row],
    good: Mapping[str, Row],
    others: Iterable[str],
) -> _Known:
    """What is still to be known: whom to ask, and what may be seen. `others` are shown by the plan beside the runs."""
    uses = [use for row in rows.values() for use in (*row["inputs"], *row["outputs"])]
    jobs = {row["job"] for row in rows.values() if row["job"]}
    datasets = {use["dataset"] for use in uses}
    lasts = {row["good"] for row in good.values() if row["good"]}
    unseen = find_hidden(
        view, sorted({*rows, *jobs, *datasets, *lasts, *others, *(use["urn"] for use in uses)})
    )
    places = sorted((jobs | {one["dataset"] for one in spoiled.values()}) - unseen)
    owners = {row["urn"]: row["owners"] for row in view.read("read/nodes/owners", urns=places)}
    return _Known(rows, spoiled, good, owners, unseen)


def _onward(walk: Traversal) -> dict[str, set[str]]:
    onward: dict[str, set[str]] = defaultdict(set)
    for edge in walk.edges:
        onward[edge.source].add(edge.target)
    return onward


def _between_runs(
    rows: Mapping[str, Row], walk: Traversal, made: Mapping[str, str]
) -> dict[str, set[str]]:
    """From each run to those that read what it made, over whatever lies between them."""
    beside = _onward(walk)
    for version, run in made.items():
        beside[run].add(version)
    onward: dict[str, set[str]] = {}
    for run in rows:
        found, waiting, passed = set(), list(beside.get(run, ())), set()
        while waiting:
            here = waiting.pop()
            if here in rows:
                found.add(here)
            elif here not in passed:
                passed.add(here)
                waiting.extend(beside.get(here, ()))
        onward[run] = found
    return onward


def _in_order(rows: Mapping[str, Row], onward: Mapping[str, Collection[str]]) -> list[list[Group]]:
    """The runs in steps: by the data, and those of one job, or that wrote one dataset, in the order in which they ran.

    Such runs are chained by the step that the data alone gives them, then by when they began, all in the same way, so
    that no circle comes of it."""
    by_data = parallel_steps(rows, onward)
    rank = {
        run: (number, min(_began(rows[one]) for one in group), group, _began(rows[run]), run)
        for number, parallel in enumerate(by_data)
        for group in parallel
        for run in group
    }
    alike: dict[str, set[str]] = defaultdict(set)
    for run, row in rows.items():
        for shared in {row["job"], *(output["dataset"] for output in row["outputs"])} - {None}:
            alike[shared].add(run)
    chained = {run: set(following) for run, following in onward.items()}
    for runs in alike.values():
        in_order = sorted(runs, key=rank.__getitem__)
        for before, after in pairwise(in_order):
            chained[before].add(after)
    return parallel_steps(rows, chained)


def _began(row: Row) -> datetime:
    return row["startedAt"] or _LATEST


@dataclass(frozen=True)
class _Known:
    """What was read about the runs to replace; makes the entries of the plan."""

    rows: Mapping[str, Row]
    spoiled: Mapping[str, Row]
    good: Mapping[str, Row]
    owners: Mapping[str, list[str]]
    unseen: set[str]

    @property
    def makers(self) -> dict[str, str]:
        return {version: one["run"] for version, one in self.spoiled.items()}

    def seen(self, urns: Iterable[str]) -> list[str]:
        return [urn for urn in dict.fromkeys(urns) if urn not in self.unseen]

    def steps(self, onward: Mapping[str, Collection[str]]) -> list[list[Rerun]]:
        ordered = [
            [self._rerun(run, onward, group) for group in parallel for run in self.seen(group)]
            for parallel in _in_order(self.rows, onward)
        ]
        return [step for step in ordered if step]

    def _rerun(self, run: str, onward: Mapping[str, Collection[str]], group: Group) -> Rerun:
        row = self.rows[run]
        inputs = self._inputs(row)
        outputs = [
            self.spoiled[one]
            for one in self.seen(use["urn"] for use in row["outputs"])
            if one in self.spoiled
        ]
        places = {row["job"], *(output["dataset"] for output in outputs)} - {None}
        return Rerun(
            run=run,
            job=row["job"] or "",
            inputs=inputs,
            outputs=[
                Output(one["dataset"], one["urn"], self._last_good(one["dataset"]))
                for one in outputs
            ],
            owners=sorted({owner for place in places for owner in self.owners.get(place, ())}),
            reads_own_output=any(
                self.rows[maker]["job"] == row["job"] for one in inputs for maker in one.wait_for
            ),
            in_cycle=len(group) > 1 or run in onward[run],
            superseded=bool(outputs) and all(_is_superseded(one, self.good) for one in outputs),
        )

    def _inputs(self, row: Row) -> list[Input]:
        versions: dict[str, list[str]] = defaultdict(list)
        for read in row["inputs"]:
            if read["urn"] not in self.unseen and read["dataset"] not in self.unseen:
                versions[read["dataset"]].append(read["urn"])
        return [Input(dataset, read, self._made_by(read)) for dataset, read in versions.items()]

    def _made_by(self, versions: Iterable[str]) -> list[str]:
        return self.seen(
            sorted({self.spoiled[one]["run"] for one in versions if one in self.spoiled})
        )

    def _last_good(self, dataset: str) -> str | None:
        good: str | None = self.good.get(dataset, {}).get("good")
        return good if good not in self.unseen else None

    def cycles(self, onward: Mapping[str, Collection[str]], ahead: Traversal) -> list[list[str]]:
        """The jobs that feed each other, in what was built or on the map."""
        between = _onward(ahead)
        for run, following in onward.items():
            for other in following:
                between[self.rows[run]["job"] or run].add(self.rows[other]["job"] or other)
        found = strongly_connected_components({*between, *ahead.nodes}, between)
        circles = [self.seen(one for one in group if one.startswith("job:")) for group in found]
        return sorted(jobs for jobs in circles if len(jobs) > 1)
