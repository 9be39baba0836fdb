"""The part of the graph that an export covers, for a caller with a visibility.

Without options it is every dataset and job. With `urns` it is the datasets and jobs that a
traversal from them reaches, and the edges between these. With `namespaces` it is their jobs, the
jobs that read or write their datasets, and every dataset that one of these jobs reads or writes.

A part holds the urns of its jobs and datasets in memory, never runs or events.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance.export import Counts, count, export_edges
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.traversal.reach import reach
from headwater.lineage.traversal.request import DEPTH_DEFAULT, LineageRequest
from headwater.lineage.view import GraphView
from headwater.schema.urns import dataset_urn, job_urn, parse_urn
from headwater.schema.visibility import Visibility

_NODES_MAX = 200_000
_EDGES_MAX = 1_000_000
_TRAVERSAL_SECONDS_MAX = 120.0


@dataclass(frozen=True)
class Part:
    """The datasets and jobs of an export. None in place of a set means all of them.

    `aliases` maps the urn of another name of a dataset to that of its canonical name.
    `is_truncated`: the traversal found more nodes than it may reach.
    """

    visibility: Visibility
    datasets: Collection[str] | None = None
    jobs: Collection[str] | None = None
    aliases: dict[str, str] = field(default_factory=dict)
    is_truncated: bool = False

    @property
    def is_whole(self) -> bool:
        """Return True if the part is the whole graph."""
        return self.datasets is None and self.visibility.is_unrestricted

    def includes_dataset(self, namespace: str, name: str) -> bool:
        """Return True if a dataset, by any normalised name, belongs to the part."""
        urn = dataset_urn(namespace, name)
        canonical = self.aliases.get(urn, urn)
        if not self.visibility.includes(namespace) or not self._sees(canonical):
            return False
        return self.datasets is None or canonical in self.datasets

    def includes_job(self, namespace: str, name: str) -> bool:
        """Return True if a job belongs to the part."""
        if not self.visibility.includes(namespace):
            return False
        return self.jobs is None or job_urn(namespace, name) in self.jobs

    def includes_urn(self, urn: str) -> bool:
        """Return True if a dataset, a column or a job belongs to the part, by its canonical urn."""
        if urn.startswith("job:"):
            return (self.jobs is None or urn in self.jobs) and self._sees(urn)
        return (self.datasets is None or urn in self.datasets) and self._sees(urn)

    def _sees(self, urn: str) -> bool:
        if self.visibility.is_unrestricted:
            return True
        parts = parse_urn(urn).parts
        return bool(parts) and self.visibility.includes(parts[0])


def find_part(
    view: GraphView,
    *,
    urns: Sequence[str] = (),
    namespaces: Sequence[str] = (),
    depth: int = DEPTH_DEFAULT,
    direction: str = "BOTH",
) -> Part:
    """Return the part of the graph that the options select.

    Raises NotFoundError for an unknown urn, QueryError for an invalid depth or direction.
    """
    aliases = _read_aliases(view.database)
    if urns:
        return _reached(view, urns, depth, direction, aliases)
    if namespaces:
        return _around(view, Visibility(tuple(namespaces)), aliases)
    return Part(view.visibility, aliases=aliases)


def _reached(
    view: GraphView, urns: Sequence[str], depth: int, direction: str, aliases: dict[str, str]
) -> Part:
    request = LineageRequest(
        tuple(urns),
        direction=direction.upper(),
        depth=depth,
        level="DATASET_AND_JOB",
        nodes_max=_NODES_MAX,
        edges_max=_EDGES_MAX,
        timeout_seconds=_TRAVERSAL_SECONDS_MAX,
    )
    result = reach(view, request, request.bounds())
    shown = {urn for urn in result.distances if not urn.startswith(HIDDEN)}
    return Part(
        view.visibility,
        datasets=frozenset(urn for urn in shown if urn.startswith("dataset:")),
        jobs=frozenset(urn for urn in shown if urn.startswith("job:")),
        aliases=aliases,
        is_truncated=bool(result.reason),
    )


def _around(view: GraphView, namespaces: Visibility, aliases: dict[str, str]) -> Part:
    """Return the part of some namespaces; the two passes over the edges keep only urns."""
    datasets: set[str] = set()
    jobs: set[str] = set()
    for label, found in (("Dataset", datasets), ("Job", jobs)):
        found.update(_urns_within(view.database, label, namespaces))
    for job, dataset in lineage_edges(view.database):
        if dataset in datasets:
            jobs.add(job)
    read_or_written = {dataset for job, dataset in lineage_edges(view.database) if job in jobs}
    return Part(view.visibility, datasets | read_or_written, jobs, aliases)


def lineage_edges(database: Database) -> Iterator[tuple[str, str]]:
    """Yield the urn of the job and of the dataset for each edge of the lineage graph."""
    for edge in export_edges(database, counts=_counts_of(database, "Dataset", "Job")):
        source, target = edge["source"], edge["target"]
        if edge["type"] == "FEEDS" and target.startswith("job:"):
            if source.startswith("dataset:"):
                yield target, source
        elif edge["type"] == "PRODUCED" and source.startswith("job:"):
            yield source, target


def _urns_within(database: Database, label: str, namespaces: Visibility) -> Iterator[str]:
    after = ""
    while True:
        rows = database.read("read/export/nodes", label=label, after=after, limit=2_000)
        for row in rows:
            if namespaces.includes(row["properties"].get("namespace")):
                yield row["urn"]
        if len(rows) < 2_000:
            return
        after = rows[-1]["urn"]


def _read_aliases(database: Database) -> dict[str, str]:
    """Return the canonical urn of each other name of a dataset."""
    return {
        edge["source"]: edge["target"]
        for edge in export_edges(database, counts=_counts_of(database, "Symlink"))
        if edge["target"].startswith("dataset:")
    }


def _counts_of(database: Database, *labels: str) -> dict[str, Counts]:
    return {label: size for label, size in count(database).items() if label in labels}
