"""Which edges of the lineage graph are current: those of the newest execution and of declarations.

The runs of one job under one root run, or else one parent run, are one execution; a run without
either is its own. `read/traversal/datasets_in_use` states the rule. Its result is cached for each
job and side, and a run of the same execution changes the cached value: an execution of ten thousand
runs is read once, not ten thousand times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.project import RunView, RunViews
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.rows import write_rows
from headwater.ingest.write.used_datasets import EndedRun, UsedDatasets
from headwater.schema.graph import BOTH, FAILED, READS, WRITES

# As in read/traversal/datasets_in_use: before an output without named origins.
FROM_ALL_INPUTS = "* "
# By job and side: the other ends of edges.
EdgeEnds = Mapping[tuple[str, str], set[str]]
_STATEMENTS = {READS: "current_inputs", WRITES: "current_outputs"}


def recompute_current_edges(
    transaction: Transaction,
    redeclared_jobs: set[str],
    written: EdgeEnds,
    views: RunViews,
    cache: WriteCache,
) -> None:
    """Recompute which edges are current.

    These are all edges of `redeclared_jobs` and of jobs whose newest execution changed, and the
    `written` edges.
    """
    changes = _Changes(cache)
    for side in (READS, WRITES):
        changes.unknown.update((job, side) for job in redeclared_jobs)
        for urn, (old, new) in views.items():
            changes.add_run(side, _ended_run(side, urn, old), _ended_run(side, urn, new))
    for key, datasets in written.items():
        changes.add_edges(key, datasets)
    changes.read_unknown(transaction)
    changes.write(transaction)


class _Changes:
    """The jobs and sides to recompute (`unknown`), and single edges of others."""

    def __init__(self, cache: WriteCache) -> None:
        self._used = cache.used_datasets
        self.unknown: set[tuple[str, str]] = set()
        self._edges: dict[tuple[str, str], set[str]] = {}
        self._known: dict[tuple[str, str], UsedDatasets | None] = {}

    def add_run(self, side: str, before: EndedRun | None, now: EndedRun | None) -> None:
        """Add a run as it was and as it is, if it ended."""
        if before == now:
            return
        if before is not None:
            self.unknown.add((before.job, side))
        if now is None:
            return
        key = (now.job, side)
        if key in self.unknown:
            return
        if key not in self._used:
            self.unknown.add(key)
            return
        used = self._used[key]
        if used is None:
            if not now.failed:
                self.unknown.add(key)
            return
        changed = used.add(now)
        if changed is None:
            self.unknown.add(key)
        else:
            self.add_edges(key, changed)

    def add_edges(self, key: tuple[str, str], datasets: Iterable[str]) -> None:
        """Add edges between a job and these datasets."""
        if key not in self._used:
            self.unknown.add(key)
        else:
            names = (dataset.removeprefix(FROM_ALL_INPUTS) for dataset in datasets)
            self._edges.setdefault(key, set()).update(names)

    def read_unknown(self, transaction: Transaction) -> None:
        """Read and cache what the jobs use whose cached value is missing or no longer true."""
        rows = [{"job": job, "side": side} for job, side in sorted(self.unknown)]
        if not rows:
            return
        for row in transaction.run("read/traversal/datasets_in_use", rows=rows, at=None):
            self._used[row["job"], row["side"]] = UsedDatasets.of_row(row)

    def write(self, transaction: Transaction) -> None:
        """Write the changed edges of each side."""
        for side, statement in _STATEMENTS.items():
            rows = [row for row in self._rows() if row["side"] == side]
            write_rows(transaction, f"write/lineage/{statement}", rows)

    def _rows(self) -> Iterator[Row]:
        for key in sorted(self.unknown & self._used.keys()):
            yield _row(key, self._used[key], None)
        for key in sorted(self._edges.keys() - self.unknown):
            if self._edges[key]:
                yield _row(key, self._used[key], self._edges[key])


def _row(key: tuple[str, str], used: UsedDatasets | None, datasets: set[str] | None) -> Row:
    returning = used.returning if used is not None else frozenset()
    names = used.last_uses.keys() | returning if used is not None else set()
    if datasets is not None:
        names = names & {*datasets, *(f"{FROM_ALL_INPUTS}{dataset}" for dataset in datasets)}
    return {
        "job": key[0],
        "side": key[1],
        "hasRun": used is not None,
        "used": sorted(names),
        "returning": sorted(names & returning),
        "datasets": None if datasets is None else sorted(datasets),
    }


def _ended_run(side: str, urn: str, view: RunView | None) -> EndedRun | None:
    """Return a run that succeeded and named datasets on a side, or failed in an execution."""
    if view is None or view.job is None:
        return None
    finished, sides = view.node["finishedAt"], view.node["reportedSides"]
    if finished is None or sides not in (BOTH, side, FAILED):
        return None
    if side == WRITES:
        datasets = frozenset(_written(view))
    elif view.node["startedAt"] is not None:
        datasets = frozenset(use.dataset for use in view.reads)
    else:
        datasets = frozenset()
    return EndedRun(
        job=view.job,
        run=urn,
        finished=finished,
        execution=view.node["execution"],
        datasets=datasets,
        failed=sides == FAILED,
    )


def _written(view: RunView) -> Iterator[str]:
    """Yield the datasets that a run wrote; again after FROM_ALL_INPUTS if it names no origins."""
    listed = set()
    for urn, artifact in view.artifacts.items():
        yield artifact["dataset"]
        if artifact["explicit"] or view.derived.get(urn):
            listed.add(artifact["dataset"])
    if view.node["reportedSides"] == BOTH:
        for artifact in view.artifacts.values():
            if artifact["dataset"] not in listed:
                yield f"{FROM_ALL_INPUTS}{artifact['dataset']}"
