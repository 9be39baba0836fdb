"""The datasets that a job uses on one side, followed as its runs end."""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from headwater.cypher.driver.database import Row

# As in read/traversal/datasets_in_use.
WINDOW = timedelta(hours=12)
_NONE: Set[str] = frozenset()


class EndedRun(NamedTuple):
    """A run that succeeded and named datasets on a side of its job, or failed in an execution."""

    job: str
    run: str
    finished: datetime
    execution: str | None
    datasets: frozenset[str]
    failed: bool


class UsedDatasets(msgspec.Struct, gc=False):
    """The datasets of the newest execution of a job on a side, with the end of their last use.

    `returning` are further datasets to which the job comes back. `varies` is true if one of its
    recent runs may have used a dataset that the newest execution did not use.

    `finished` is the end of the last successful run, `execution` its execution, and `failed` the
    end of the last failed run of any execution. `oldest` is no later than any last use. `is_exact`
    is false if earlier executions may count too: a further run then needs the graph.
    """

    finished: datetime
    execution: str | None
    failed: datetime | None
    last_uses: dict[str, datetime]
    oldest: datetime
    is_exact: bool
    returning: frozenset[str] = frozenset()
    varies: bool = False

    @classmethod
    def of_row(cls, row: Row) -> UsedDatasets | None:
        """Return the value of a row of datasets_in_use; None if no run of the job succeeded."""
        last_uses: dict[str, datetime] = {}
        for dataset, used_at in row["used"]:
            last_uses[dataset] = max(used_at, last_uses.get(dataset, used_at))
        succeeded_at = row["succeededAt"]
        if succeeded_at is None and not last_uses:
            return None
        finished = max((*last_uses.values(), succeeded_at or min(last_uses.values())))
        return cls(
            finished=finished,
            execution=row["execution"],
            failed=row["failedAt"],
            last_uses=last_uses,
            oldest=min(last_uses.values(), default=finished),
            is_exact=finished == succeeded_at,
            returning=frozenset(row["returning"]),
            varies=not last_uses.keys() >= set(row["recent"]),
        )

    def add(self, run: EndedRun) -> Set[str] | None:
        """Add a run that ended. Return the datasets of changed edges; None if the graph decides."""
        if run.failed:
            self.failed = max(run.finished, self.failed or run.finished)
            return _NONE if self.is_exact and run.execution != self.execution else None
        if self.returning:
            # A further run may be between two uses of another dataset, or the 201st since.
            return None
        is_sibling = self.is_exact and run.execution is not None and run.execution == self.execution
        if is_sibling and run.finished >= self.finished:
            return self._add_to_execution(run)
        # A dataset that a failed run names may return with its execution, or as a late run ends.
        if self.failed is not None and self.failed >= min(run.finished, self.finished) - WINDOW:
            return None
        if self.varies and not self._is_before(run):
            # It may have ended between two uses, or its execution may have used more before.
            return None
        if is_sibling:
            return self._add_to_execution(run)
        if run.finished > self.finished and run.datasets == self.last_uses.keys():
            # Whether its execution counts alone or with those before it, these are the datasets.
            self.finished, self.execution = run.finished, run.execution
            self.last_uses = dict.fromkeys(run.datasets, run.finished)
            self.oldest, self.is_exact = run.finished, run.execution is None
            return _NONE
        if self.is_exact and run.finished < self.finished:
            self.varies = not run.datasets <= self.last_uses.keys()
            return _NONE
        return None

    def _is_before(self, run: EndedRun) -> bool:
        """Return True if both `run` and the one before it are executions of their own."""
        is_alone = self.execution is None and run.execution is None
        return self.is_exact and is_alone and run.finished > self.finished

    def _add_to_execution(self, run: EndedRun) -> Set[str]:
        self.finished = max(self.finished, run.finished)
        since = self.finished - WINDOW
        if run.finished < since:
            self.varies = True
            return _NONE
        changed = run.datasets - self.last_uses.keys()
        for dataset in run.datasets:
            self.last_uses[dataset] = max(run.finished, self.last_uses.get(dataset, run.finished))
        self.oldest = min(self.oldest, run.finished)
        if self.oldest >= since:
            return changed
        expired = {dataset for dataset, used in self.last_uses.items() if used < since}
        for dataset in expired:
            del self.last_uses[dataset]
            self.varies = True
        self.oldest = min(self.last_uses.values(), default=self.finished)
        return changed | expired
