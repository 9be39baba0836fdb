"""What follows from a failed run, in the two lists of whoever has to tell others about it.

*Partial* is what was built from what the run did write before it failed: its own unfinished versions, the runs that
read them, directly or through others, and what those made.

*Stale* is what waits for what it did not write. On the map these are the datasets that a whole run of its job makes
and everything downstream of them. In history these are the runs that began after the failure and read the version from
before it, directly or through others, with the versions they made; and the answers that rest on that version, unless
something newer had taken the place of what they cite before the failure. A run that may have read either, the old
version or the unfinished one, is in both lists: nothing in its events tells which.

A failure is *resolved* once its job made everything anew: when a later attempt for its slot succeeded, or when every
dataset that it should have made was written by a later successful run of the same job (or, where it makes none, when
that job succeeded again). Success of another job does not count, since that may have written another part. From then on
nothing waits, so a resolved failure has stale only what ran or was answered between the failure and that moment.

A page of failures costs the same few statements however many runs are on it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from headwater.cypher.driver.database import Row
from headwater.lineage.node_visibility import hidden, visible
from headwater.lineage.questions.failures import (
    EDGES_MAX,
    HOPS_MAX,
    NODES_MAX,
    PAGE_NODES_MAX,
    PAGE_ROWS_MAX,
    WALK_SECONDS_MAX,
    nodes_of_kind,
)
from headwater.lineage.traversal.bfs import HISTORY_DOWN, MAP_DOWN, Bounds, Walk, explore
from headwater.lineage.view import GraphView

_SECONDS_MIN = 2.0
_REACHED = ("dataset:", "job:", "run:", "artifact:", "source:", "answer:")
_OWNED = ("dataset:", "job:", "artifact:")


@dataclass(frozen=True)
class AffectedEntities:
    """Urns, nearest first; `owners` are those of the jobs and datasets among them."""

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
    """The success that made anew what a failed run should have made, and when."""

    run: str
    at: datetime


@dataclass(frozen=True)
class FailureImpact:
    """`job` is the urn of the job of the run, "" when it has none."""

    partial: AffectedEntities = field(default_factory=AffectedEntities)
    stale: AffectedEntities = field(default_factory=AffectedEntities)
    resolution: Resolution | None = None
    job: str = ""


@dataclass(frozen=True)
class _Known:
    """What was read about everything that was reached, for all runs of the page at once."""

    runs: Mapping[str, Row]
    citations: Mapping[str, list[Row]]
    places: Mapping[str, Row]
    unseen: set[str]

    def touched(
        self,
        runs: list[str],
        artifacts: list[str],
        answers: list[str],
        *,
        waiting: Walk | None = None,
        reason: str = "",
    ) -> AffectedEntities:
        """These and what waits on the map, as far as it may be seen, with the jobs and datasets they belong to."""
        datasets = nodes_of_kind("dataset", waiting)
        datasets += [self.places[urn]["place"] for urn in artifacts if urn in self.places]
        jobs = nodes_of_kind("job", waiting)
        jobs += [job for urn in runs if urn in self.runs for job in self.runs[urn]["jobs"]]
        seen = (
            self._seen(datasets),
            self._seen(jobs),
            self._seen(runs),
            self._seen(artifacts),
            self._seen(answers),
        )
        places = [self.places[urn] for urn in (*seen[0], *seen[1], *seen[3]) if urn in self.places]
        owners = {
            owner
            for place in places
            if place["place"] not in self.unseen
            for owner in place["owners"]
        }
        return AffectedEntities(*seen, sorted(owners), reason)

    def _seen(self, urns: Iterable[str]) -> list[str]:
        return [urn for urn in dict.fromkeys(urns) if urn not in self.unseen]


def failure_impact(
    view: GraphView, runs: Sequence[str], *, seconds: float = WALK_SECONDS_MAX
) -> dict[str, FailureImpact]:
    """What follows from each of these failed runs, by urn, as far as it may be seen. Unknown runs are left out."""
    starts = {
        row["urn"]: row
        for row in view.read("read/failures/failed_run_outputs", urns=visible(view, runs))
    }
    resolves = {urn: resolution_of(row) for urn, row in starts.items()}
    nodes_max = min(NODES_MAX, max(100, PAGE_NODES_MAX // max(1, len(starts))))
    bounds = Bounds(HOPS_MAX, nodes_max, EDGES_MAX, time.monotonic() + seconds)
    waiting = {_datasets(row) for urn, row in starts.items() if resolves[urn] is None}
    on_map = explore(
        view,
        MAP_DOWN,
        {begin: begin for begin in waiting},
        bounds,
        rows_max=PAGE_ROWS_MAX,
        ends=False,
    )
    begins = {(urn,) for urn in starts} | {_old(row) for row in starts.values()}
    walked = explore(
        view,
        HISTORY_DOWN,
        {begin: begin for begin in begins},
        bounds,
        rows_max=PAGE_ROWS_MAX,
        ends=False,
    )
    known = _read(view, [*on_map.values(), *walked.values()], bounds.deadline)
    return {
        urn: FailureImpact(
            _partial(urn, walked[(urn,)], known),
            _stale(
                row,
                resolves[urn],
                None if resolves[urn] else on_map[_datasets(row)],
                walked[_old(row)],
                known,
            ),
            resolves[urn],
            row["job"] or "",
        )
        for urn, row in starts.items()
    }


def resolution_of(row: Row) -> Resolution | None:
    """When a failure was resolved, from a row of read/failed_run_outputs."""
    renewed = [output["renewed"] for output in row["outputs"]] or [row["next"]]
    whole = max(renewed, key=lambda one: (one["at"], one["run"])) if all(renewed) else None
    found = [one for one in (row["retry"], whole) if one and one["at"]]
    first = min(found, key=lambda one: (one["at"], one["run"]), default=None)
    return Resolution(first["run"], first["at"]) if first else None


def _datasets(row: Row) -> tuple[str, ...]:
    return tuple(output["dataset"] for output in row["outputs"])


def _old(row: Row) -> tuple[str, ...]:
    return tuple(sorted({output["old"] for output in row["outputs"] if output["old"]}))


def _read(view: GraphView, walks: Sequence[Walk], deadline: float) -> _Known:
    seconds = max(_SECONDS_MIN, deadline - time.monotonic())
    reached = {urn for walk in walks for urn in walk.nodes if urn.startswith(_REACHED)}
    runs = sorted(urn for urn in reached if urn.startswith("run:"))
    rows = {
        row["urn"]: row
        for row in view.read("read/failures/run_outcomes", seconds=seconds, urns=runs)
    }
    cited = sorted(
        {edge.source for walk in walks for edge in walk.edges if edge.type == "CITED_BY"}
    )
    citations: dict[str, list[Row]] = defaultdict(list)
    for row in view.read(
        "read/failures/citations_of_versions", seconds=seconds, urns=cited, limit=PAGE_ROWS_MAX
    ):
        citations[row["version"]].append(row)
    owned = {urn for urn in reached if urn.startswith(_OWNED)} | {
        job for row in rows.values() for job in row["jobs"]
    }
    found = view.read("read/nodes/owners", seconds=seconds, urns=sorted(owned))
    places = {row["urn"]: row for row in found}
    unseen = hidden(
        view, sorted(reached | owned | {row["place"] for row in found}), seconds=seconds
    )
    return _Known(rows, citations, places, unseen)


def _partial(urn: str, walk: Walk, known: _Known) -> AffectedEntities:
    """What was built from what a run did write."""
    runs = [other for other in nodes_of_kind("run", walk) if other != urn]
    return known.touched(
        runs, nodes_of_kind("artifact", walk), nodes_of_kind("answer", walk), reason=walk.truncated
    )


def _stale(
    row: Row, resolution: Resolution | None, waiting: Walk | None, old: Walk, known: _Known
) -> AffectedEntities:
    """What waits for what a run did not write, and what ran on the old version since."""
    late = {
        urn
        for urn in nodes_of_kind("run", old)
        if _ran_anyway(known.runs.get(urn), row, resolution)
    }
    made = {
        edge.target
        for edge in old.edges
        if edge.source in late and edge.target.startswith("artifact:")
    }
    return known.touched(
        [urn for urn in nodes_of_kind("run", old) if urn in late],
        [urn for urn in nodes_of_kind("artifact", old) if urn in made],
        _resting_on(old, made, row["failedAt"], resolution, known),
        waiting=waiting,
        reason=(waiting.truncated if waiting else "") or old.truncated,
    )


def _ran_anyway(run: Row | None, failed: Row, resolution: Resolution | None) -> bool:
    """Whether a run began after a failure and before it was resolved. Runs of the job that failed are new attempts."""
    if run is None or run["startedAt"] is None or failed["job"] in run["jobs"]:
        return False
    return bool(_is_between(run["startedAt"], failed["failedAt"], resolution))


def _is_between(at: datetime | None, failed: datetime, resolution: Resolution | None) -> bool:
    return at is not None and at >= failed and (resolution is None or at < resolution.at)


def _resting_on(
    old: Walk, made: set[str], failed: datetime, resolution: Resolution | None, known: _Known
) -> list[str]:
    """The answers that cite what was made on the old version since the failure, or what was made on it before and was
    still current then; through other answers too. Once resolved, of the latter only those given in between."""
    resting: set[str] = set()
    for version in old.nodes:
        for citation in known.citations.get(version, ()):
            was_current = citation["superseded"] is None or citation["superseded"] > failed
            in_time = resolution is None or _is_between(citation["generatedAt"], failed, resolution)
            if version in made or (was_current and in_time):
                resting.add(citation["answer"])
    onward: dict[str, list[str]] = defaultdict(list)
    for edge in old.edges:
        if edge.source.startswith("answer:"):
            onward[edge.source].append(edge.target)
    fresh = sorted(resting)
    while fresh:
        fresh = sorted({answer for cited in fresh for answer in onward[cited]} - resting)
        resting.update(fresh)
    return [urn for urn in nodes_of_kind("answer", old) if urn in resting]
