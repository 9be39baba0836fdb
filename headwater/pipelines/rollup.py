"""`headwater pipeline rollup`: replace old runs by daily summaries.

It uses the graph and not Spark: the edges decide which runs stay, every step is one transaction of
Neo4j, and the write lock admits one process. `headwater.pipelines.rollup_plan` selects the runs,
`headwater.schema.retention` has the rules, docs/decisions/0014 has the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from headwater.chunks import chunks
from headwater.cypher.driver.database import Database
from headwater.pipelines import rollup_plan as rollup
from headwater.pipelines import run_as_submitted
from headwater.pipelines.rollup_plan import BATCH_SIZE, Candidate, UrnSet
from headwater.schema.retention import Horizon

Progress = Callable[[str, int], object]


@dataclass
class RollupReport:
    """The result of a rollup, in runs.

    `old` runs are beyond the horizon, and `summarised` of them were (or would be) replaced. An
    answer, a failure or the newest data needs the `protected` ones. The others stay for edges of
    their own. `done` is False after an interruption.
    """

    old: int = 0
    summarised: int = 0
    protected: int = 0
    done: bool = False
    passes: int = field(default=0)

    @property
    def remaining(self) -> int:
        """Return the number of old runs that stay."""
        return self.old - self.summarised


def _no_progress(phase: str, count: int) -> None:
    """Ignore progress."""


def roll_up(
    database: Database,
    horizon: Horizon,
    *,
    dry_run: bool = False,
    progress: Progress = _no_progress,
    stopped: Callable[[], bool] = lambda: False,
) -> RollupReport:
    """Summarise the runs beyond the horizon that nothing needs, in transactions of `BATCH_SIZE`
    runs.

    Other writers get their turn between two transactions, and the rollup ends if `stopped()` is
    True. After any interruption, run it again: summarised runs are no longer in the graph. Raises
    GraphErasedError if the graph is erased meanwhile, and UnavailableError.
    """
    graph = None if dry_run else rollup.record_horizon(database, horizon)
    report = RollupReport()
    needed = rollup.protected_runs(database, lambda count: progress("walking", count))
    remaining: list[Candidate] = []
    for piece in _pieces(_unprotected(database, horizon, needed, report)):
        if stopped():
            return report
        remaining += _summarise(database, piece, report, progress, graph)
    report.passes = 1
    # Parents and predecessors can be summarised once their children and successors are.
    while not dry_run and remaining:
        before, waiting, remaining = report.summarised, remaining, []
        for piece in _pieces(iter([waiting])):
            if stopped():
                return report
            remaining += _summarise(database, piece, report, progress, graph)
        report.passes += 1
        if report.summarised == before:
            break
    report.done = True
    return report


def _unprotected(
    database: Database, horizon: Horizon, needed: UrnSet, report: RollupReport
) -> Iterator[list[Candidate]]:
    for page in rollup.candidates(database, horizon):
        free = [candidate for candidate in page if candidate.urn not in needed]
        report.old += len(page)
        report.protected += len(page) - len(free)
        yield free


def _pieces(pages: Iterator[list[Candidate]]) -> Iterator[list[Candidate]]:
    for page in pages:
        yield from chunks(page, BATCH_SIZE)


def _summarise(
    database: Database,
    piece: list[Candidate],
    report: RollupReport,
    progress: Progress,
    graph: str | None,
) -> list[Candidate]:
    """Summarise the runs of a piece; return those that stay. Without a `graph` only count them."""
    removed = (
        set(rollup.removable_runs(database, piece))
        if graph is None
        else rollup.roll_up(database, piece, graph)
    )
    report.summarised += len(removed)
    progress("summarising", len(removed))
    return [candidate for candidate in piece if candidate.urn not in removed]


if __name__ == "__main__":
    run_as_submitted("rollup")
