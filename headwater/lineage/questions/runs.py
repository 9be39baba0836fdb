"""All runs of the graph, page by page and counted, in the order of their starts.

The index of runs by namespace, status and start holds each run in this order. A page reads its
first entries for each visible namespace and each wanted status, and a count reads no nodes. So
neither depends on the number of hidden runs, and a page not on the number of runs. Runs with tags
have an index of their own, for questions about a tag.

A run that is known only by name, as the parent of another, has no start. It is not listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.list_pages import EARLIEST, LATEST, read_time_page
from headwater.lineage.pagination import FIRST_PAGE, Page, PageRequest
from headwater.lineage.view import GraphView
from headwater.schema.derived_properties import with_derived_properties

RUN_STATUSES = ("RUNNING", "COMPLETE", "FAIL", "ABORT", "ABANDONED")
_RUNS = "read/lists/runs"
_TAGGED_RUNS = "read/lists/tagged_runs"


def require_run_status(status: str) -> None:
    """Raise QueryError unless this is the status of a run, or empty."""
    if status and status not in RUN_STATUSES:
        raise QueryError(f"status {status[:40]!r} is none of {', '.join(RUN_STATUSES)}")


@dataclass(frozen=True)
class RunFilter:
    """Conditions on runs; an empty one matches everything.

    `since` and `until` (exclusive) bound the start. `namespace` is that of the run's job, `owner`
    an owner of it. `tag` is `key=value` or `key`.
    """

    status: str = ""
    since: datetime | None = None
    until: datetime | None = None
    namespace: str = ""
    owner: str = ""
    tag: str = ""

    def __post_init__(self) -> None:
        require_run_status(self.status)


def runs(
    view: GraphView,
    *,
    filter: RunFilter = RunFilter(),
    page: PageRequest = FIRST_PAGE,
    oldest_first: bool = False,
) -> Page[Row]:
    """Return a page of the visible runs, newest start first unless `oldest_first`.

    Each entry has the properties of the run. Raises QueryError for a malformed cursor.
    """
    found = read_time_page(
        view, _statement(filter), page, oldest_first=oldest_first, **_parameters(view, filter)
    )
    return found.map(lambda row: with_derived_properties("PipelineRun", row["properties"]))


def count_runs(view: GraphView, filter: RunFilter = RunFilter()) -> int:
    """Return the number of runs on all pages."""
    [row] = view.read(f"{_statement(filter)}_count", **_parameters(view, filter))
    return int(row["count"])


def _statement(filter: RunFilter) -> str:
    return _TAGGED_RUNS if filter.tag else _RUNS


def _parameters(view: GraphView, filter: RunFilter) -> dict[str, Any]:
    """Return the parameters of the statements, with the visible namespaces by name."""
    visible = _visible_namespaces(view) if _needs_namespaces(view, filter) else []
    wanted = [filter.namespace] if filter.namespace else visible
    return {
        "namespaces": [one for one in wanted if view.visibility.includes(one)],
        "statuses": [filter.status] if filter.status else list(RUN_STATUSES),
        "since": filter.since or EARLIEST,
        "until": filter.until or LATEST,
        "owner": filter.owner,
        **({"tag": filter.tag} if filter.tag else {}),
        "visible": None if view.visibility.is_unrestricted else visible,
    }


def _needs_namespaces(view: GraphView, filter: RunFilter) -> bool:
    return not (filter.namespace and view.visibility.is_unrestricted)


def _visible_namespaces(view: GraphView) -> list[str]:
    rows = view.read("read/lists/job_namespaces")
    return [row["namespace"] for row in rows if view.visibility.includes(row["namespace"])]
