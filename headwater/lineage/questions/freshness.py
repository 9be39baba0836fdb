"""The freshness of a dataset: the age of its own newest data, and of the data it derives from.

The newest data of a dataset is its newest complete version or, without a known producer, its newest
capture. An event that only names the dataset does not refresh it, nor does a failed run. Its
sources are found in the run history upstream of that version. They are the datasets without known
inputs. For each source, the newest data that reached the dataset counts, and the dataset is as
fresh as the oldest of them.

The time of source data is reported by the registration of a capture, and by `lastUpdated` in
dataQualityMetrics, on the dataset or by a run that read it. The newest report before the start of
the reading run counts. If there is none, the data is only known to be no newer than that start
(`exact` is False). This can prove that it is stale, but not that it is fresh.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from headwater.cypher.driver.database import Row
from headwater.errors import EventError
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.node_visibility import select_visible
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
# A reason, beside the bounds of a walk, why the sources may be incomplete.
NOT_VISIBLE = "visibility"
HOPS_MAX = 1_000
NODES_MAX = 5_000
EDGES_MAX = 20_000
ROWS_MAX = 100_000
# How many of the newest runs that reported an update are read for each source.
UPDATES_MAX = 100
TRAVERSAL_SECONDS_MAX = 5.0
_NEVER = datetime.min.replace(tzinfo=UTC)
_RUNS = ("run:", HIDDEN)


@dataclass(frozen=True)
class SourceAge:
    """The time of the newest data of one source that reached a dataset.

    If not `exact`, the data is no newer than `newest_at`; None means that no time is known.
    """

    dataset: str
    newest_at: datetime | None
    exact: bool


@dataclass(frozen=True)
class Freshness:
    """The newest data of a dataset and of its sources; `newest_at` is None without known data.

    `reason` names the cause if `sources` may be incomplete: depth, nodes, edges, time, visibility.
    """

    dataset: str
    newest_at: datetime | None
    # The version or capture that is the newest data.
    version: str | None
    # Sources of unknown age first, then the oldest.
    sources: list[SourceAge]
    reason: str = ""

    @property
    def effective_at(self) -> datetime | None:
        """Return the time of the oldest source; None if the age of a source is unknown."""
        return self.sources[0].newest_at if self.sources else None

    @property
    def exact(self) -> bool:
        """Return True if the data is as old as `effective_at` and no older."""
        if not self.sources or self.reason:
            return False
        return all(source.exact for source in self.sources)


@dataclass(frozen=True)
class Verdict:
    """FRESH, STALE or UNKNOWN, with the datasets that cause it, oldest first."""

    state: str
    causes: list[SourceAge]
    explanation: str


def freshness(
    view: GraphView, urns: Iterable[str], *, seconds: float = TRAVERSAL_SECONDS_MAX
) -> dict[str, Freshness]:
    """Return the freshness of each visible dataset, by urn."""
    newest = _read_newest(view, urns)
    starts = {urn: [data.version] for urn, data in newest.items() if data.version is not None}
    bounds = Bounds.within(seconds, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    request = TraversalRequest(
        RUNS_UP, bounds, shared_rows_max=ROWS_MAX, prefetch=True, find_resume_points=False
    )
    traversals = traverse(view, request, starts)
    rows = _read_rows(view, traversals.values())
    ages: dict[str, Freshness] = {}
    for urn, data in newest.items():
        if data.version is None:
            ages[urn] = Freshness(urn, None, None, [])
            continue
        traversal = traversals[urn]
        reason = traversal.truncated
        if not reason and any(node.startswith(HIDDEN) for node in traversal.nodes):
            reason = NOT_VISIBLE
        sources = sources_of(data.version, traversal, rows)
        ages[urn] = Freshness(urn, data.newest_at, data.version, sources, reason)
    return ages


def evaluate(freshness: Freshness, *, max_age: timedelta, now: datetime) -> Verdict:
    """Evaluate whether a dataset and all its sources are at most `max_age` old at `now`."""
    if freshness.newest_at is None:
        missing = SourceAge(freshness.dataset, None, False)
        return Verdict(UNKNOWN, [missing], "no complete version or capture is known")
    own = SourceAge(freshness.dataset, freshness.newest_at, True)
    stale = [
        source
        for source in freshness.sources or [own]
        if source.newest_at is not None and now - source.newest_at > max_age
    ]
    if not stale and now - freshness.newest_at > max_age:
        stale = [own]
    if stale:
        return Verdict(STALE, stale, "older than the maximum age")
    inexact = [source for source in freshness.sources if not source.exact]
    if inexact:
        return Verdict(UNKNOWN, inexact, "no event reports when the data that was read is from")
    if freshness.reason == NOT_VISIBLE:
        return Verdict(UNKNOWN, [], "a part of the upstream lineage is not visible")
    if freshness.reason:
        return Verdict(UNKNOWN, [], f"the upstream lineage was cut short by {freshness.reason}")
    return Verdict(FRESH, [], "all upstream data is fresh")


class _NewestData(NamedTuple):
    """The time and the urn of the newest version or capture of a dataset."""

    newest_at: datetime | None
    version: str | None


def _read_newest(view: GraphView, urns: Iterable[str]) -> dict[str, _NewestData]:
    rows = view.read("read/estate/newest_data", urns=select_visible(view, urns))
    updates = read_updates(view, [row["source"] for row in rows if row["source"] is not None])
    return {row["urn"]: _newest_data(row, updates.get(row["source"], [])) for row in rows}


def _newest_data(row: Row, updates: list[datetime]) -> _NewestData:
    """Return the newest version, or else the newest capture, unless it was dropped since."""
    if row["made"]:
        newest = _NewestData(row["made"]["at"], row["made"]["urn"])
    elif updates:
        newest = _NewestData(max(updates), row["source"])
    else:
        return _NewestData(None, None)
    dropped_at = row["dropped"]
    if dropped_at and newest.newest_at and newest.newest_at <= dropped_at:
        return _NewestData(None, None)
    return newest


def _read_rows(view: GraphView, traversals: Iterable[Traversal]) -> dict[str, Row]:
    """Return the properties of the reached nodes that freshness needs, by urn.

    The traversal has read most of them. `updates` of a source are the times of its data.
    """
    rows: dict[str, Row] = {}
    unread: dict[str, None] = {}
    for traversal in traversals:
        for urn in traversal.nodes:
            row = traversal.adjacency.properties.get(urn)
            if row:
                rows[urn] = row
            elif not urn.startswith(HIDDEN):
                unread[urn] = None
    rows |= read_nodes(view, unread)
    sources = [urn for urn in rows if urn.startswith("source:")]
    for urn, times in read_updates(view, sources).items():
        rows[urn]["updates"] = times
    return rows


def read_updates(view: GraphView, sources: list[str]) -> dict[str, list[datetime]]:
    """Return the reported times of the captures and updates of each source, by urn."""
    if not sources:
        return {}
    rows = view.read(
        "read/estate/source_updates",
        urns=sources,
        visible=view.visibility.regexes,
        limit=UPDATES_MAX,
    )
    registers = read_registers(view, [row["dataset"] for row in rows])
    updates: dict[str, list[datetime]] = {}
    for row in rows:
        register = registers.get(row["dataset"], {}).get("dataQualityMetrics")
        facets = [register[2] if register else "", *row["metrics"]]
        times = [row["captured"], *map(_last_updated, facets)]
        updates[row["urn"]] = [time for time in times if time is not None]
    return updates


def _last_updated(metrics: str) -> datetime | None:
    """Return the `lastUpdated` of a dataQualityMetrics facet; None if missing or malformed."""
    facet = salvage(DataQualityMetrics, metrics) if metrics else None
    if facet is None or not facet.last_updated:
        return None
    try:
        return to_datetime(parse_instant(facet.last_updated))
    except EventError:
        return None


@dataclass
class _History:
    """The run history upstream of a version."""

    rows: Mapping[str, Row]
    upstream: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def inputs(self, version: str) -> Iterator[tuple[str, str]]:
        """Yield the inputs of a version, each with the run that read it.

        Runs that pass data to each other, and hidden nodes, are crossed.
        """
        stack, visited = [version], {version}
        while stack:
            node = stack.pop()
            before = self.upstream.get(node, ())
            runs = {urn for urn in before if urn.startswith(_RUNS)} - visited
            visited |= runs
            stack.extend(runs)
            versions = [urn for urn in before if not urn.startswith(_RUNS)]
            for urn in self._prefer_complete(versions):
                yield node, urn

    def _prefer_complete(self, versions: list[str]) -> list[str]:
        """Return the versions without incomplete ones of datasets with a complete one."""
        with_complete = {self._dataset(urn) for urn in versions if self.is_complete(urn)}
        return [
            urn
            for urn in versions
            if self.is_complete(urn) or self._dataset(urn) not in with_complete
        ]

    def is_complete(self, version: str) -> bool:
        if not version.startswith("artifact:"):
            return True
        return bool(self.rows.get(version, {}).get("complete"))

    def _dataset(self, version: str) -> str | None:
        return self.rows.get(version, {}).get("dataset")


def sources_of(version: str, traversal: Traversal, rows: Mapping[str, Row]) -> list[SourceAge]:
    """Return the sources of a version, from the walk upstream and the rows of visible nodes."""
    history = _History(rows)
    for edge in sorted(traversal.edges):
        history.upstream[edge.target].append(edge.source)
    # Version or source -> the latest start of a run that read it.
    read_at: dict[str, datetime] = {}
    roots: set[str] = set()
    stack, visited = [version], {version}
    while stack:
        node = stack.pop()
        inputs = list(history.inputs(node))
        for run, urn in inputs:
            started = rows.get(run, {}).get("startedAt")
            if started is not None:
                read_at[urn] = max(started, read_at.get(urn, started))
        new = {urn for _, urn in inputs} - visited
        visited |= new
        stack.extend(sorted(new))
        if not inputs and node in rows:
            roots.add(rows[node]["dataset"])
    times: dict[str, list[_DataTime]] = defaultdict(list)
    for node in visited & rows.keys():
        time = _data_time(rows[node], history.is_complete(node), read_at.get(node))
        times[rows[node]["dataset"]].append(time)
    ages = [SourceAge(dataset, *_best(times[dataset])) for dataset in roots]
    return sorted(ages, key=lambda source: (source.newest_at or _NEVER, source.dataset))


class _DataTime(NamedTuple):
    """The time of some data, and whether it was reported."""

    time: datetime | None
    exact: bool


def _data_time(row: Row, is_complete: bool, read_at: datetime | None) -> _DataTime:
    """Return when a version was written, or the data of a source that a run read is from."""
    if row["urn"].startswith("artifact:"):
        created = row.get("createdAt")
        return _DataTime(created, is_complete and created is not None)
    updates = [time for time in row.get("updates", ()) if read_at is None or time <= read_at]
    return _DataTime(max(updates), True) if updates else _DataTime(read_at, False)


def _best(times: list[_DataTime]) -> _DataTime:
    """Return the newest reported time, or else the newest possible one."""
    return max(times, key=lambda data: (data.exact, data.time or _NEVER))
