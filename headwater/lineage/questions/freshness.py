"""How fresh a dataset is: how old its own newest data is, and how old the data is that it was made from.

The newest data of a dataset is its newest complete version or, where nobody is known to make it, its newest capture.
That an event named it, or that a run failed to write it, makes it no fresher. What it was made from is followed back
through that version's own history: the run that made it, the versions that this run read, and so on up to the sources,
which are the datasets that nothing is known to have gone into. Of each source the newest data counts that really got
here, and the dataset is as fresh as the oldest of them.

When the data of a source was made is told by who registers a capture of it, and by the `lastUpdated` of
dataQualityMetrics, on the dataset or by a run that read it; the newest of these up to the start of the run that read it
counts. Where none is told, or only ones since then, its data is only known to be no newer than that start (`exact` is
false): that can show that it is stale, never that it is fresh.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from headwater.cypher.driver.database import Row
from headwater.errors import EventError
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.node_visibility import keep_visible
from headwater.lineage.nodes import read_nodes, read_registers
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import RUNS_UP
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.events import parse_instant, to_datetime
from headwater.schema.facets.dataset import DataQualityMetrics
from headwater.schema.facets.kinds import salvage

FRESH, STALE, UNKNOWN = "FRESH", "STALE", "UNKNOWN"
# Why a freshness is not told whole, beside the bounds of a walk: part of what lies upstream may not be seen.
NOT_VISIBLE = "visibility"
HOPS_MAX = 1_000
NODES_MAX = 5_000
EDGES_MAX = 20_000
ROWS_MAX = 100_000
# Of one source so many of the newest runs that tell when it was updated are heard.
UPDATES_MAX = 100
WALK_SECONDS_MAX = 5.0
_NEVER = datetime.min.replace(tzinfo=UTC)
_PROCESSES = ("run:", HIDDEN)


@dataclass(frozen=True)
class Reached:
    """The newest data of one source that went into a dataset, made or captured at `newest_at`; where that is not told
    (`exact` is false) no later than `newest_at`, or nobody knows when (None)."""

    dataset: str
    newest_at: datetime | None
    exact: bool


@dataclass(frozen=True)
class Freshness:
    """`at` is None where no data is known. `reason` tells why `sources` may not be all: depth, nodes, edges, time or
    sight."""

    dataset: str
    at: datetime | None
    # The version or capture that is its newest data.
    version: str | None
    # The stalest first; those of which no time is known before all others.
    sources: list[Reached]
    reason: str = ""

    @property
    def effective_at(self) -> datetime | None:
        """The oldest of the sources' newest data in it. None where a source's age is unknown, or there is no data."""
        return self.sources[0].newest_at if self.sources else None

    @property
    def exact(self) -> bool:
        """Whether it is as old as `effective_at` and no older."""
        return (
            bool(self.sources) and not self.reason and all(source.exact for source in self.sources)
        )


@dataclass(frozen=True)
class Verdict:
    """FRESH, STALE or UNKNOWN, the datasets that make it so, the stalest first, and why in words."""

    state: str
    causes: list[Reached]
    explanation: str


def freshness(
    view: GraphView, urns: Iterable[str], *, seconds: float = WALK_SECONDS_MAX
) -> dict[str, Freshness]:
    """How fresh each of these datasets is; without those that are not in the graph or may not be seen."""
    known = view.read("read/estate/newest_data", urns=keep_visible(view, urns))
    updates = _updates(view, [row["source"] for row in known if row["source"] is not None])
    newest = {row["urn"]: _newest(row, updates.get(row["source"], [])) for row in known}
    bounds = Bounds.within(seconds, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    starts = {urn: [version] for urn, (_, version) in newest.items() if version is not None}
    walks = traverse(
        view,
        TraversalRequest(
            RUNS_UP, bounds, shared_rows_max=ROWS_MAX, prefetch=True, find_resume_points=False
        ),
        starts,
    )
    rows = _ages(view, walks.values())
    for urn, times in _updates(view, [urn for urn in rows if urn.startswith("source:")]).items():
        rows[urn]["updates"] = times
    found: dict[str, Freshness] = {}
    for urn, (made, version) in newest.items():
        if version is None:
            found[urn] = Freshness(urn, None, None, [])
            continue
        walk = walks[urn]
        reason = walk.truncated or (
            NOT_VISIBLE if any(node.startswith(HIDDEN) for node in walk.nodes) else ""
        )
        found[urn] = Freshness(urn, made, version, sources_of(version, walk, rows), reason)
    return found


def judge(found: Freshness, *, within: timedelta, now: datetime) -> Verdict:
    """Whether a dataset, and everything that went into it, is no older than `within` at `now`."""
    if found.at is None:
        return Verdict(
            UNKNOWN,
            [Reached(found.dataset, None, False)],
            "no complete version or capture of it is known",
        )
    own = Reached(found.dataset, found.at, True)
    stale = [
        one
        for one in found.sources or [own]
        if one.newest_at is not None and now - one.newest_at > within
    ]
    if not stale and now - found.at > within:
        stale = [own]
    if stale:
        return Verdict(STALE, stale, "older than it may be")
    untold = [source for source in found.sources if not source.exact]
    if untold:
        return Verdict(
            UNKNOWN, untold, "when the data that was read of it was captured is not told"
        )
    if found.reason == NOT_VISIBLE:
        return Verdict(UNKNOWN, [], "part of what lies upstream may not be seen")
    if found.reason:
        return Verdict(UNKNOWN, [], f"what lies upstream was not walked to its end: {found.reason}")
    return Verdict(FRESH, [], "everything upstream is fresh")


def _newest(row: Row, updates: list[datetime]) -> tuple[datetime | None, str | None]:
    """When the newest data of a dataset was made, and which version or capture it is. What was dropped has none."""
    made = row["made"]
    newest = (
        (made["at"], made["urn"])
        if made
        else max(((at, row["source"]) for at in updates), default=None)
    )
    if newest is None or (row["dropped"] is not None and newest[0] <= row["dropped"]):
        return None, None
    return newest


def _ages(view: GraphView, walks: Iterable[Traversal]) -> dict[str, Row]:
    """What hangs on the age of what these walks reached, by urn: most of it they learnt as they went."""
    reached = {
        urn: walk.adjacency.properties.get(urn)
        for walk in walks
        for urn in walk.nodes
        if not urn.startswith(HIDDEN)
    }
    told = {urn: row for urn, row in reached.items() if row}
    return told | read_nodes(view, [urn for urn in reached if urn not in told])


def _updates(view: GraphView, sources: list[str]) -> dict[str, list[datetime]]:
    """When each of these sources is told to have been captured or updated, by its urn."""
    if not sources:
        return {}
    rows = view.read(
        "read/estate/source_updates",
        urns=sources,
        sees=view.visibility.regexes,
        limit=UPDATES_MAX,
    )
    registers = read_registers(view, [row["dataset"] for row in rows])
    found: dict[str, list[datetime]] = {}
    for row in rows:
        _, _, facet = registers.get(row["dataset"], {}).get("dataQualityMetrics") or (0, 0, "")
        told = [_last_updated(text) for text in (facet, *row["metrics"])]
        found[row["urn"]] = [at for at in (row["captured"], *told) if at is not None]
    return found


def _last_updated(metrics: str) -> datetime | None:
    """The `lastUpdated` of a dataQualityMetrics facet; None when it tells none."""
    facet = salvage(DataQualityMetrics, metrics) if metrics else None
    try:
        return (
            to_datetime(parse_instant(facet.last_updated)) if facet and facet.last_updated else None
        )
    except EventError:
        return None


@dataclass
class _History:
    """What went into what, place by place, with the runs between."""

    rows: Mapping[str, Row]
    upstream: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def behind(self, place: str) -> Iterator[tuple[str, str]]:
        """What a place was made from, each with the run that read it; also by way of runs that fed one another, and of
        what is out of sight."""
        waiting, seen = [place], {place}
        while waiting:
            here = waiting.pop()
            before = self.upstream.get(here, ())
            processes = {urn for urn in before if urn.startswith(_PROCESSES)} - seen
            seen |= processes
            waiting.extend(processes)
            yield from (
                (here, urn)
                for urn in self._whole([urn for urn in before if not urn.startswith(_PROCESSES)])
            )

    def _whole(self, places: list[str]) -> list[str]:
        """What a failed run left counts only where no whole version of the same dataset was read with it."""
        whole = {self._dataset(urn) for urn in places if self.is_whole(urn)}
        return [urn for urn in places if self.is_whole(urn) or self._dataset(urn) not in whole]

    def is_whole(self, place: str) -> bool:
        return not place.startswith("artifact:") or bool(self.rows.get(place, {}).get("complete"))

    def _dataset(self, place: str) -> str | None:
        return self.rows.get(place, {}).get("dataset")


def sources_of(version: str, walk: Traversal, rows: Mapping[str, Row]) -> list[Reached]:
    """The sources of a version, from the walk upstream from it and the properties of what may be seen of that."""
    history = _History(rows)
    for edge in sorted(walk.edges):
        history.upstream[edge.target].append(edge.source)
    read_at: dict[str, datetime] = {}
    reached: dict[str, list[tuple[datetime | None, bool]]] = defaultdict(list)
    roots: set[str] = set()
    waiting, seen = [version], {version}
    while waiting:
        place = waiting.pop()
        came_from = list(history.behind(place))
        for run, urn in came_from:
            started = rows.get(run, {}).get("startedAt")
            if started is not None:
                read_at[urn] = max(started, read_at.get(urn, started))
        fresh = {urn for _, urn in came_from} - seen
        seen |= fresh
        waiting.extend(sorted(fresh))
        if not came_from and place in rows:
            roots.add(rows[place]["dataset"])
    for place in seen & rows.keys():
        reached[rows[place]["dataset"]].append(
            _made(rows[place], history.is_whole(place), read_at.get(place))
        )
    found = [Reached(dataset, *_best(reached[dataset])) for dataset in roots]
    return sorted(found, key=lambda source: (source.newest_at or _NEVER, source.dataset))


def _made(row: Row, is_whole: bool, read_at: datetime | None) -> tuple[datetime | None, bool]:
    """When the data of a version or capture was made, and whether that is told."""
    if row["urn"].startswith("artifact:"):
        return row.get("createdAt"), is_whole and row.get("createdAt") is not None
    there = [at for at in row.get("updates", ()) if read_at is None or at <= read_at]
    return (max(there), True) if there else (read_at, False)


def _best(made: list[tuple[datetime | None, bool]]) -> tuple[datetime | None, bool]:
    """The newest that is told, or else the newest that it can be."""
    return max(made, key=lambda one: (one[1], one[0] or _NEVER))
