"""The layers of the graph that a traversal follows, each in one direction."""

from __future__ import annotations

from dataclasses import dataclass, replace

# The urns that begin so name jobs and runs; the other nodes of a layer are datasets, versions or
# columns.
JOBS_AND_RUNS = ("job:", "run:")
VERSIONS = ("artifact:", "source:")


@dataclass(frozen=True)
class Layer:
    """One layer of the graph in one direction, as the names of its queries.

    Each query answers for the map of the same name in `adjacency.Adjacency`.
    `producers_or_consumers` leads from datasets or versions to the jobs or runs beside them,
    `inputs_or_outputs` from those to the datasets or versions behind. `direct_neighbours` leads
    from like to like where nothing lies between: column to column, or a reported edge from dataset
    to dataset, job to job, run to run. `kept_versions` leads from version to version where one kept
    the content of the other; its neighbours are direct, and no hop. `citations` are no hop.
    `upstream_history` names in one statement everything that a traversal can reach, so that it need
    not ask hop by hop.
    """

    upstream: bool
    producers_or_consumers: str = ""
    inputs_or_outputs: str = ""
    direct_neighbours: str = ""
    kept_versions: str = ""
    citations: str = ""
    citing_kinds: tuple[str, ...] = ()
    upstream_history: str = ""

    @property
    def has_hops(self) -> bool:
        """Return True unless the layer consists of citations only."""
        return bool(self.producers_or_consumers or self.direct_neighbours)


_CITABLE = ("artifact:", "source:", "answer:", "column:")
# Datasets and jobs: the lineage graph.
DATASETS_DOWN = Layer(
    upstream=False,
    producers_or_consumers="read/traversal/dataset_consumers",
    inputs_or_outputs="read/traversal/job_outputs",
    direct_neighbours="read/traversal/direct_targets",
)
DATASETS_UP = Layer(
    upstream=True,
    producers_or_consumers="read/traversal/dataset_producers",
    inputs_or_outputs="read/traversal/job_inputs",
    direct_neighbours="read/traversal/direct_sources",
)
# Versions, runs and answers: the run history.
RUNS_DOWN = Layer(
    upstream=False,
    producers_or_consumers="read/traversal/version_consumers",
    inputs_or_outputs="read/traversal/run_outputs",
    direct_neighbours="read/traversal/run_targets",
    kept_versions="read/traversal/keeping_versions",
    citations="read/traversal/citing_answers",
    citing_kinds=_CITABLE,
)
RUNS_UP = Layer(
    upstream=True,
    producers_or_consumers="read/traversal/version_producers",
    inputs_or_outputs="read/traversal/run_inputs",
    direct_neighbours="read/traversal/run_sources",
    kept_versions="read/traversal/kept_versions",
    citations="read/traversal/cited_nodes",
    citing_kinds=("answer:",),
    upstream_history="read/traversal/upstream_history",
)
COLUMNS_DOWN = Layer(
    upstream=False,
    direct_neighbours="read/traversal/column_targets",
    citations="read/traversal/citing_answers",
    citing_kinds=_CITABLE,
)
COLUMNS_UP = Layer(
    upstream=True,
    direct_neighbours="read/traversal/column_sources",
    citations="read/traversal/cited_nodes",
    citing_kinds=("answer:",),
)
CITATIONS_DOWN = Layer(
    upstream=False, citations="read/traversal/citing_answers", citing_kinds=_CITABLE
)


def at_instant(layer: Layer) -> Layer:
    """Return the same layer of the lineage graph with the queries that take an instant."""
    return replace(
        layer,
        producers_or_consumers=f"{layer.producers_or_consumers}_at",
        inputs_or_outputs=f"{layer.inputs_or_outputs}_at",
        direct_neighbours=f"{layer.direct_neighbours}_at" if layer.direct_neighbours else "",
    )
