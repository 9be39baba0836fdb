"""The pipelines with the most failed runs in a time window.

A pipeline is a job by namespace and name. A run counts once, however often it was attempted, and
at its last failure. The number of all runs of the window stands beside the failed ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.lineage.list_pages import EARLIEST, LATEST
from headwater.lineage.pagination import require_page_size
from headwater.lineage.view import GraphView

FIRST_DEFAULT = 10
PIPELINES_MAX = 10_000


@dataclass(frozen=True)
class FailingPipeline:
    """A pipeline with failed runs; `runs` also counts those that did not fail."""

    namespace: str
    name: str
    failed: int
    runs: int
    first_at: datetime
    last_at: datetime
    last_run: str


@dataclass(frozen=True)
class FailingPipelines:
    """The pipelines with the most failed runs, and the numbers of all of them."""

    pipelines: list[FailingPipeline]
    count: int
    failed_runs: int


def failing_pipelines(
    view: GraphView,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    namespace: str = "",
    first: int = FIRST_DEFAULT,
) -> FailingPipelines:
    """Return the pipelines with failed runs between two instants, the most failures first.

    `until` is exclusive. Raises QueryError for a bad `first`.
    """
    size = require_page_size(first)
    begin, end = since or EARLIEST, until or LATEST
    rows = view.read(
        "read/failures/failing_pipelines",
        since=begin,
        until=end,
        namespace=namespace,
        visible=view.visibility.regexes,
        limit=PIPELINES_MAX,
    )
    shown = rows[:size]
    named = [{"namespace": row["namespace"], "name": row["name"]} for row in shown]
    counts = view.read("read/failures/pipeline_run_counts", pipelines=named, since=begin, until=end)
    runs = {(row["namespace"], row["name"]): row["runs"] for row in counts}
    pipelines = [
        FailingPipeline(
            namespace=row["namespace"],
            name=row["name"],
            failed=row["failed"],
            runs=max(runs.get((row["namespace"], row["name"]), 0), row["failed"]),
            first_at=row["first"],
            last_at=row["last"],
            last_run=row["newest"],
        )
        for row in shown
    ]
    return FailingPipelines(pipelines, len(rows), sum(row["failed"] for row in rows))
