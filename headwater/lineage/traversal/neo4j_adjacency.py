"""Adjacency read from Neo4j; every node is asked about once."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from headwater.cypher.driver.database import Row
from headwater.lineage.traversal.adjacency import SECONDS_MIN, Adjacency
from headwater.lineage.traversal.layers import JOBS_AND_RUNS, VERSIONS
from headwater.lineage.traversal.request import TraversalRequest
from headwater.lineage.view import GraphView

# A traversal ends in the order of names, not in that in which nodes are found, and reads its whole
# last hop before it meets a bound there. So the prefetch reads more than the traversal shows: less
# time than three further statements.
_PREFETCH_FACTOR = 1.5
# The share of the remaining time that the prefetch may take.
_PREFETCH_TIME_SHARE = 0.25
# Of a chain of versions that kept each other's content, one load reads twice as many, less one.
_KEPT_VERSIONS_MAX = 1_024


class UpstreamNode(NamedTuple):
    """A node as the query `upstream_history` returns it.

    `predecessors` and `derived_from` are ids in the graph. `at` is the time of a version's creation
    or a run's start.
    """

    id: int
    urn: str
    predecessors: list[int]
    derived_from: list[int]
    is_explicit: bool | None
    dataset: str | None
    complete: bool | None
    at: datetime | None

    def properties(self) -> Row:
        """Return the properties that freshness needs, by their names in the graph."""
        row: Row = {"urn": self.urn, "dataset": self.dataset, "complete": self.complete}
        row["startedAt" if self.urn.startswith("run:") else "createdAt"] = self.at
        return {key: value for key, value in row.items() if value is not None}


class Neo4jAdjacency(Adjacency):
    """Adjacency that asks Neo4j hop by hop."""

    producers_or_consumers: dict[str, list[str]]
    inputs_or_outputs: dict[str, list[str]]
    reached_from_any: dict[str, list[str]]
    reached_from: dict[tuple[str, str], list[str]]
    closed_entries: set[tuple[str, str]]
    direct_neighbours: dict[str, list[str]]

    def __init__(self, view: GraphView, request: TraversalRequest) -> None:
        super().__init__(view, request)
        self.producers_or_consumers = defaultdict(list)
        self.inputs_or_outputs = defaultdict(list)
        self.reached_from_any = defaultdict(list)
        self.reached_from = defaultdict(list)
        self.closed_entries = set()
        self.direct_neighbours = defaultdict(list)

    def load(self, frontier: Iterable[str]) -> None:
        urns = set(frontier) - self.rejected
        jobs_or_runs = {urn for urn in urns if urn.startswith(JOBS_AND_RUNS)}
        others = urns - jobs_or_runs
        others |= self._load_kept_versions(others)
        rows = self._query(self.layer.producers_or_consumers, others)
        self._check_rows("jobOrRun", rows)
        for row in rows:
            self._add_entry(row)
        for urn in others:
            jobs_or_runs.update(self.producers_or_consumers.get(urn, ()))
        rows = self._query(self.layer.inputs_or_outputs, jobs_or_runs - self.rejected)
        self._check_rows("datasetOrVersion", rows)
        for row in rows:
            self._add_input_or_output(row)
        neighbours = [*others, *(jobs_or_runs - self.rejected)]
        self._add_pairs(
            self.direct_neighbours, self._query(self.layer.direct_neighbours, neighbours)
        )

    def _load_kept_versions(self, urns: Iterable[str]) -> set[str]:
        """Load the versions whose content these kept, or that kept theirs, over many links.

        Return the loaded versions. A table that is appended to for a year has a link for each
        write, and a query for each link would take too long. So each query reads twice as many
        links from a version as the one before, and starts only where the links read so far end:
        no link is read more than a few times, although many of the versions are on one chain.
        """
        name, loaded = self.layer.kept_versions, set[str]()
        if not name:
            return loaded
        ends = {urn for urn in urns if urn.startswith(VERSIONS)}
        nearest = 1
        while ends and nearest <= _KEPT_VERSIONS_MAX:
            rows = self._query(name, ends, nearest=nearest)
            self._add_pairs(self.direct_neighbours, rows)
            near, far = ("target", "source") if self.layer.upstream else ("source", "target")
            # All links of a version come in one query.
            self._queried[name].update(row[near] for row in rows)
            ends = {row[far] for row in rows} - self._queried[name]
            loaded.update(row[far] for row in rows)
            nearest *= 2
        return loaded - self.rejected

    def prefetch(self, starts: Iterable[str], nodes_max: int) -> None:
        seconds = (self._deadline - time.monotonic()) * _PREFETCH_TIME_SHARE
        if seconds < SECONDS_MIN:
            return
        rows_max = int(nodes_max * _PREFETCH_FACTOR)
        rows = self._read(self.layer.upstream_history, sorted(starts), seconds, rows_max) or []
        self._add_upstream_nodes(
            {node[0]: UpstreamNode(*node) for row in rows for node in row["nodes"]}
        )

    def _check_rows(self, far: str, rows: list[Row]) -> None:
        """Check the nodes that rows lead to, and the sources of derivations.

        A job may no longer read such a source, so no other row need lead to it.
        """
        met = {row[far] for row in rows}
        for row in rows:
            met.update(row.get("derived") or ())
        self._check(met)

    def _add_upstream_nodes(self, nodes: Mapping[int, UpstreamNode]) -> None:
        self._check(node.urn for node in nodes.values())
        layer = self.layer
        queries = (
            layer.producers_or_consumers,
            layer.inputs_or_outputs,
            layer.direct_neighbours,
            layer.kept_versions,
            layer.citations,
        )
        for node in nodes.values():
            predecessors = [nodes[id] for id in dict.fromkeys(node.predecessors) if id in nodes]
            # A node beyond the prefetch may be one of its predecessors: it is asked about when a
            # traversal comes there.
            is_complete = len(predecessors) == len(set(node.predecessors))
            if is_complete and self._add_upstream_node(node, predecessors, nodes):
                for name in queries:
                    self._queried[name].add(node.urn)
                self._rows_left -= len(predecessors) + len(node.derived_from)
            self.properties[node.urn] = node.properties()
        if self._rows_left < 0:
            self.exhausted = "edges"

    def _add_upstream_node(
        self,
        node: UpstreamNode,
        predecessors: list[UpstreamNode],
        nodes: Mapping[int, UpstreamNode],
    ) -> bool:
        """Add the predecessors of a node as if it had been asked about; return False if some are
        unknown."""
        if node.urn.startswith("answer:"):
            pairs = [{"target": node.urn, "source": other.urn} for other in predecessors]
            self._add_pairs(self.citations, pairs)
        elif node.urn.startswith(JOBS_AND_RUNS):
            for other in predecessors:
                if other.urn.startswith(JOBS_AND_RUNS):
                    pair = {"target": node.urn, "source": other.urn}
                    self._add_pairs(self.direct_neighbours, [pair])
                else:
                    self._add_input_or_output({"jobOrRun": node.urn, "datasetOrVersion": other.urn})
        elif not node.urn.startswith("column:"):
            return self._add_version(node, predecessors, nodes)
        return True

    def _add_version(
        self,
        version: UpstreamNode,
        predecessors: list[UpstreamNode],
        nodes: Mapping[int, UpstreamNode],
    ) -> bool:
        """Add the runs that produced a version and the version whose content it kept; return False
        if a source of it is unknown."""
        runs = [node for node in predecessors if node.urn.startswith(JOBS_AND_RUNS)]
        kept = [node for node in predecessors if node.urn.startswith(VERSIONS)]
        sources_by_run: list[list[int]] = []
        for run in runs:
            inputs = run.predecessors
            sources = [v for v in version.derived_from if version.is_explicit or v in inputs]
            if any(v not in nodes for v in sources):
                return False
            sources_by_run.append(sources)
        pairs = [{"target": version.urn, "source": node.urn} for node in kept]
        self._add_pairs(self.direct_neighbours, pairs)
        for run, sources in zip(runs, sources_by_run, strict=True):
            row = {"datasetOrVersion": version.urn, "jobOrRun": run.urn}
            self._add_entry(
                row | {"derived": [nodes[v].urn for v in sources], "explicit": version.is_explicit}
            )
        return True

    def _add_entry(self, row: Row) -> None:
        """Add a job or run beside a dataset or version, as `producers_or_consumers` returns it."""
        near, job_or_run = row["datasetOrVersion"], row["jobOrRun"]
        if self._is_out_of_period(row, near, job_or_run):
            return
        self.producers_or_consumers[near].append(job_or_run)
        if row.get("derived") or row.get("explicit"):
            self.closed_entries.add((near, job_or_run))
            self.reached_from[(near, job_or_run)].extend(row["derived"])

    def _add_input_or_output(self, row: Row) -> None:
        """Add a dataset or version behind a job or run, as `inputs_or_outputs` returns it."""
        far, job_or_run = row["datasetOrVersion"], row["jobOrRun"]
        if self._is_out_of_period(row, far, job_or_run):
            return
        self.inputs_or_outputs[job_or_run].append(far)
        if not row.get("derived") and not row.get("explicit"):
            self.reached_from_any[job_or_run].append(far)
        for source in row.get("derived") or ():
            self.reached_from[(source, job_or_run)].append(far)
