"""Which edges of the lineage graph were current at an instant.

Neo4j returns the edges that were known at the instant, and which datasets each job used then. An
edge was current if its job used the dataset or declared it. Without a successful run until then,
every known edge was.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from headwater.cypher.driver.database import Row
from headwater.schema.graph import READS, WRITES

# By name of a query with an instant: the side of the jobs in its rows.
SIDES = {
    "read/traversal/dataset_consumers_at": READS,
    "read/traversal/job_inputs_at": READS,
    "read/traversal/job_outputs_at": WRITES,
    "read/traversal/dataset_producers_at": WRITES,
}
# By job: the datasets that it used, or None if no run of it had succeeded.
UsedDatasets = dict[str, Set[str] | None]
ReadUsedDatasets = Callable[[list[Row]], list[Row] | None]


class PastEdges:
    """The datasets that jobs used at the instant of a traversal; each job is asked about once."""

    def __init__(self, read: ReadUsedDatasets) -> None:
        self._read = read
        self._used: dict[str, UsedDatasets] = {READS: {}, WRITES: {}}

    def select(self, name: str, rows: list[Row]) -> list[Row] | None:
        """Return the rows of a query that were current, with current sources; None if time is up.

        The rows of other queries are returned as they are.
        """
        side = SIDES.get(name)
        if side is None:
            return rows
        jobs = {row["jobOrRun"] for row in rows}
        readers = {row["jobOrRun"] for row in rows if row.get("derived")}
        if not self._load(side, jobs) or not self._load(READS, readers):
            return None
        used = self._used[side]
        current = [row for row in rows if _is_current(row, used[row["jobOrRun"]])]
        if side == READS:
            return current
        return [self._with_sources(row, used[row["jobOrRun"]]) for row in current]

    def _load(self, side: str, jobs: Set[str]) -> bool:
        used = self._used[side]
        missing = sorted(jobs - used.keys())
        if not missing:
            return True
        rows = self._read([{"job": job, "side": side} for job in missing])
        if rows is None:
            return False
        used.update(dict.fromkeys(missing))
        for row in rows:
            if row["succeededAt"] is not None or row["used"]:
                used[row["job"]] = {*(dataset for dataset, _ in row["used"]), *row["returning"]}
        return True

    def _with_sources(self, row: Row, written: Set[str] | None) -> Row:
        """Return the row of an output with its current sources; without any, all inputs are."""
        from_all_inputs = f"* {row['datasetOrVersion']}"
        if not row["explicit"] and written is not None and from_all_inputs in written:
            return {**row, "derived": []}
        if not row["derived"]:
            return row
        used = self._used[READS][row["jobOrRun"]]
        sources = []
        for urn, is_input, was_input, is_declared in row["derived"]:
            if (row["explicit"] and not is_input) or (
                was_input and (is_declared or used is None or urn in used)
            ):
                sources.append(urn)
        return {**row, "derived": sources}


def _is_current(row: Row, used: Set[str] | None) -> bool:
    if row["declared"]:
        return True
    if used is None:
        # False: the dataset no longer names the job as its producer.
        return row["declared"] is None
    return row["datasetOrVersion"] in used
