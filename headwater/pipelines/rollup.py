"""`headwater pipeline rollup`: runs that have had their time become daily summaries.

A job of the graph, not of Spark: what is kept hangs on what the graph links to what, every piece is one transaction of
Neo4j, and one process is all that the write lock lets through. See `headwater.pipelines.rollup_plan` for what is kept,
`headwater.schema.retention` for the rules, docs/decisions/0014 for why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from headwater.cypher.driver.database import Database
from headwater.pipelines import rollup_plan as rollup
from headwater.pipelines import run_as_submitted
from headwater.pipelines.rollup_plan import PIECE, Candidate, Urns
from headwater.schema.retention import Horizon

Progress = Callable[[str, int], object]


@dataclass
class RollupReport:
    """How many runs are beyond the horizon, how many of them were (or would be) summarised, and how many of the others
    an answer, a failure or the newest data needs; the rest is kept for what hangs on the run itself."""

    old: int = 0
    summarised: int = 0
    protected: int = 0
    done: bool = False
    passes: int = field(default=0)

    @property
    def kept(self) -> int:
        return self.old - self.summarised


def _no_progress(what: str, count: int) -> None:
    """Nobody watches."""


def roll_up(
    database: Database,
    horizon: Horizon,
    *,
    dry_run: bool = False,
    progress: Progress = _no_progress,
    stopped: Callable[[], bool] = lambda: False,
) -> RollupReport:
    """Summarise what is beyond the horizon and needed by nothing, in transactions of `PIECE` runs.

    Between two of them other writers have their turn, and `stopped` is asked. Interrupted in whatever way, it is to be
    run again: what was summarised is out of the graph. Raises UnavailableError.
    """
    if not dry_run:
        rollup.begin(database, horizon)
    rolled = RollupReport()
    kept = rollup.protected(database, lambda count: progress("walking", count))
    left: list[Candidate] = []
    for piece in _pieces(_unprotected(database, horizon, kept, rolled)):
        if stopped():
            return rolled
        left += _summarise(database, piece, rolled, progress, dry_run=dry_run)
    rolled.passes = 1
    # What was part of others, or ran before them, can go once those are gone.
    while not dry_run and left:
        before, waiting, left = rolled.summarised, left, []
        for piece in _pieces(iter([waiting])):
            if stopped():
                return rolled
            left += _summarise(database, piece, rolled, progress, dry_run=False)
        rolled.passes += 1
        if rolled.summarised == before:
            break
    rolled.done = True
    return rolled


def _unprotected(
    database: Database, horizon: Horizon, kept: Urns, rolled: RollupReport
) -> Iterator[list[Candidate]]:
    for page in rollup.candidates(database, horizon):
        free = [one for one in page if one.urn not in kept]
        rolled.old += len(page)
        rolled.protected += len(page) - len(free)
        yield free


def _pieces(pages: Iterator[list[Candidate]]) -> Iterator[list[Candidate]]:
    for page in pages:
        for start in range(0, len(page), PIECE):
            yield page[start : start + PIECE]


def _summarise(
    database: Database,
    piece: list[Candidate],
    rolled: RollupReport,
    progress: Progress,
    *,
    dry_run: bool,
) -> list[Candidate]:
    """Those of a piece that were not summarised."""
    gone = set(rollup.removable(database, piece)) if dry_run else rollup.roll_up(database, piece)
    rolled.summarised += len(gone)
    progress("summarising", len(gone))
    return [one for one in piece if one.urn not in gone]


if __name__ == "__main__":
    run_as_submitted("rollup")
