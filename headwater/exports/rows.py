"""The nodes and edges of a part of the lineage graph, streamed page by page.

Datasets and jobs are those of the part. A column belongs to the part with its dataset, an edge with
both of its ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from headwater.cypher.driver.database import Database, Row
from headwater.cypher.maintenance.export import Counts, count, export_edges, export_nodes
from headwater.exports.part import Part
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.view import GraphView
from headwater.schema.urns import dataset_urn, job_urn

LINEAGE_LABELS = ("Dataset", "Job", "Column")
_RUNS_PER_CHECK = 1_000


class Node(NamedTuple):
    """A node of the graph; `properties` has neither its facts nor empty values."""

    label: str
    urn: str
    properties: Mapping[str, Any]


class JobEdge(NamedTuple):
    """An edge of the lineage graph: a job that reads (FEEDS) or writes (PRODUCED) a dataset."""

    job: str
    type: str
    dataset: str
    properties: Mapping[str, Any]


class ColumnEdge(NamedTuple):
    """A column from which a column, or every row of a dataset, comes; `job` may be empty."""

    source: str
    target: str
    job: str
    transformations: tuple[str, ...]


def nodes(database: Database, part: Part, *labels: str) -> Iterator[Node]:
    """Yield the nodes of some labels that belong to a part, by label and urn."""
    for row in export_nodes(database, canonical=False, counts=counts_of(database, *labels)):
        if row["urn"] is None or row["label"] not in labels:
            continue
        if part.is_whole or _includes(part, row):
            properties = {key: value for key, value in row["properties"].items() if key != "facts"}
            yield Node(row["label"], row["urn"], properties)


def _includes(part: Part, row: Row) -> bool:
    properties = row["properties"]
    if row["label"] == "PipelineRun":
        namespace, name = properties.get("namespace"), properties.get("pipelineName")
        return namespace is not None and part.includes_job(namespace, str(name))
    if row["label"] != "Column":
        return part.includes_urn(row["urn"])
    namespace, name = properties.get("namespace"), properties.get("dataset")
    return namespace is not None and part.includes_dataset(namespace, str(name))


def job_edges(database: Database, part: Part) -> Iterator[JobEdge]:
    """Yield the edges between the jobs and the datasets of a part, current or not."""
    for edge in export_edges(database, counts=counts_of(database, "Dataset", "Job")):
        found = _job_edge(edge)
        if found and part.includes_urn(found.job) and part.includes_urn(found.dataset):
            yield found


def _job_edge(edge: Row) -> JobEdge | None:
    source, target, properties = edge["source"], str(edge["target"]), edge["properties"]
    if edge["type"] == "FEEDS" and source.startswith("dataset:") and target.startswith("job:"):
        return JobEdge(target, "FEEDS", source, properties)
    if edge["type"] == "PRODUCED" and source.startswith("job:"):
        return JobEdge(source, "PRODUCED", target, properties)
    return None


def column_edges(
    database: Database, part: Part, datasets_of: Mapping[str, str]
) -> Iterator[ColumnEdge]:
    """Yield the edges between columns of a part; `datasets_of` maps its columns to datasets."""
    for edge in export_edges(database, counts=counts_of(database, "Column")):
        source, target, properties = edge["source"], str(edge["target"]), edge["properties"]
        if edge["type"] != "FEEDS" or source not in datasets_of:
            continue
        job = properties.get("job") or ""
        if job and not part.includes_urn(job):
            continue
        if target in datasets_of or (target.startswith("dataset:") and part.includes_urn(target)):
            kinds = properties.get("transformations") or ()
            yield ColumnEdge(source, target, job, tuple(kinds))


def visible_runs(view: GraphView, part: Part) -> Iterator[Node]:
    """Yield the runs of the jobs of a part that are visible; a run may name a hidden job too."""
    limited = view.visible_to(part.visibility)
    found = nodes(view.database, part, "PipelineRun")
    while some := list(islice(found, _RUNS_PER_CHECK)):
        shown = set(select_visible(limited, [run.urn for run in some]))
        yield from (run for run in some if run.urn in shown)


def dataset_of(column: Node) -> str:
    """Return the urn of the dataset of a column."""
    return dataset_urn(column.properties["namespace"], column.properties["dataset"])


def job_of(run: Node) -> str:
    """Return the urn of the job of a run; "" if it has none."""
    namespace, name = run.properties.get("namespace"), run.properties.get("pipelineName")
    return job_urn(namespace, name) if namespace and name else ""


def counts_of(database: Database, *labels: str) -> dict[str, Counts]:
    """Return the size of the graph for some labels alone, so that only they are read."""
    return {label: size for label, size in count(database).items() if label in labels}
