"""What the figures are made of: datasets by impact, and the cost of lineage by its fidelity."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain, product

from headwater.health.figures.definitions import WINDOW_DAYS
from headwater.health.figures.measures import SECONDS_MAX, downstream
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.view import GraphView

CANDIDATES_MAX = 50
ANSWERS_MAX = 1_000
DATASETS_MAX = 200_000
RUNS_MAX = 100_000
# The upper bounds of the bands of cost, in seconds; the last band has none.
COST_BOUNDS = (0.0, 60.0, 3_600.0, 86_400.0)


class Fidelity(StrEnum):
    """How exactly the lineage of a dataset is known, from the least."""

    # No producer is known.
    NONE = "NONE"
    # A job is known; all its inputs count as origins.
    JOB = "JOB"
    # Events name the datasets that it comes from.
    DATASET = "DATASET"
    # Events name the columns that its columns come from.
    COLUMN = "COLUMN"


@dataclass(frozen=True)
class DatasetImpact:
    """A dataset with its consumers: the datasets, jobs and answers downstream."""

    dataset: str
    datasets: int
    jobs: int
    answers: int

    @property
    def consumers(self) -> int:
        return self.jobs + self.answers


def top_datasets(view: GraphView, *, first: int = 10) -> list[DatasetImpact]:
    """Return the datasets with the most jobs and answers downstream.

    They are chosen among the `CANDIDATES_MAX` datasets that the most jobs read and the most
    answers cite directly.
    """
    visible = view.visibility.regexes
    rows = view.read(
        "read/figures/most_read_datasets",
        seconds=SECONDS_MAX,
        visible=visible,
        limit=CANDIDATES_MAX,
    )
    reach, _ = downstream(view, [row["urn"] for row in rows])
    answers = _answers(view, set(reach).union(*reach.values()))
    found = []
    for dataset, nodes in reach.items():
        jobs = sum(node.startswith("job:") for node in nodes)
        citing: set[str] = set()
        for node in {dataset, *nodes}:
            citing |= answers.get(node, set())
        found.append(DatasetImpact(dataset, len(nodes) - jobs, jobs, len(citing)))
    found.sort(key=lambda one: (-one.consumers, -one.datasets, one.dataset))
    return found[:first]


def _answers(view: GraphView, nodes: set[str]) -> dict[str, set[str]]:
    """Return the visible answers that cite a version of each dataset."""
    urns = sorted(node for node in nodes if node.startswith("dataset:"))
    rows = view.read(
        "read/figures/answers_of_datasets", seconds=SECONDS_MAX, urns=urns, limit=ANSWERS_MAX
    )
    cited = {row["dataset"]: row["answers"] for row in rows if row["answers"]}
    every = sorted(set(chain.from_iterable(cited.values())))
    visible = set(select_visible(view, every))
    return {dataset: visible.intersection(some) for dataset, some in cited.items()}


@dataclass(frozen=True)
class CostCell:
    """The number of datasets of one fidelity in one band of cost, and their seconds.

    The band has costs above `cost_from` and up to `cost_to`; None for no upper bound.
    """

    fidelity: Fidelity
    cost_from: float
    cost_to: float | None
    datasets: int
    seconds: float


def cost_against_fidelity(view: GraphView, now: datetime) -> list[CostCell]:
    """Return every cell of the heat map, the lowest fidelity and the lowest cost first."""
    rows = view.read(
        "read/figures/dataset_fidelity",
        seconds=SECONDS_MAX,
        visible=view.visibility.regexes,
        limit=DATASETS_MAX,
    )
    costs = view.read(
        "read/figures/dataset_costs",
        seconds=SECONDS_MAX,
        since=now - timedelta(days=WINDOW_DAYS),
        until=now,
        visible=view.visibility.regexes,
        runsMax=RUNS_MAX,
        limit=DATASETS_MAX,
    )
    seconds = {row["dataset"]: row["seconds"] for row in costs}
    counts: Counter[tuple[int, int]] = Counter()
    sums: Counter[tuple[int, int]] = Counter()
    for row in rows:
        cost = seconds.get(row["urn"], 0.0)
        cell = row["fidelity"], cost_band(cost)
        counts[cell] += 1
        sums[cell] += cost
    bounds = [(0.0, 0.0), *zip(COST_BOUNDS, [*COST_BOUNDS[1:], None], strict=True)]
    return [
        CostCell(fidelity, low, high, counts[level, band], float(sums[level, band]))
        for (level, fidelity), (band, (low, high)) in product(
            enumerate(Fidelity), enumerate(bounds)
        )
    ]


def cost_band(seconds: float) -> int:
    """Return the number of the band of a cost: 0 for none, then one for each bound below it."""
    return sum(seconds > bound for bound in COST_BOUNDS)
