"""What is out of date behind an answer or a version, and who should know.

Two things are found. A dataset behind it may have a run that failed after its newest complete
version, so its newest refresh is missing. And a dataset that an answer cites may have a newer
complete version than the cited one. The owners of the dataset and of the failed job are to be
notified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.cypher.driver.database import Row
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.lineage import Trace
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import RUNS_UP
from headwater.lineage.traversal.request import (
    EDGES_MAX,
    NODES_MAX,
    TRAVERSAL_SECONDS_MAX,
    Bounds,
    TraversalRequest,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

HOPS_MAX = 200
# The datasets whose refreshes are read, nearest first.
DATASETS_MAX = 1_000
# The newest runs of a job that are examined.
RUNS_MAX = 50
_VERSION_KINDS = ("artifact:", "source:")
_ERROR_CHARACTERS_MAX = 300
_OUTCOMES = {"FAIL": "failed", "ABORT": "was aborted"}
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class StaleInput:
    """A dataset that is out of date.

    `used` is the newest version of it behind the start; None if only a source is known. `newer` is
    a newer complete version, `failed_run` the run that should have written one; one of them is set.
    """

    dataset: str
    reason: str
    used: str | None
    newer: str | None
    failed_run: str | None
    at: datetime
    owners: list[str]


def stale_inputs_of_trace(view: GraphView, found: Trace) -> list[StaleInput]:
    """Return what is out of date behind an answer, the cited datasets first."""
    answers = {found.answer["urn"], *(row["urn"] for row in found.answers)}
    cited = {edge.source for edge in found.edges if edge.target in answers}
    return _find(view, [*found.artifacts, *found.sources], cited)


def stale_inputs_of(view: GraphView, starts: Sequence[str]) -> list[StaleInput]:
    """Return what is out of date behind versions, runs or answers, nearest first."""
    bounds = Bounds.within(
        TRAVERSAL_SECONDS_MAX, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX
    )
    request = TraversalRequest(RUNS_UP, bounds, prefetch=True, find_resume_points=False)
    traversal = traverse(view, request, {"": list(starts)})[""]
    nearest = sorted(traversal.nodes, key=lambda urn: (traversal.nodes[urn], urn))
    rows = read_nodes(view, [urn for urn in nearest if urn.startswith(_VERSION_KINDS)])
    answers = {urn for urn in nearest if urn.startswith("answer:")}
    cited = {edge.source for edge in traversal.edges if edge.target in answers}
    return _find(view, [rows[urn] for urn in nearest if urn in rows], cited)


def _find(view: GraphView, versions: Iterable[Row], cited: set[str]) -> list[StaleInput]:
    """Return what is out of date among the datasets of these versions, cited ones first."""
    by_dataset: dict[str, list[Row]] = {}
    for row in versions:
        by_dataset.setdefault(str(row["dataset"]), []).append(row)
    cited_datasets = {
        dataset for dataset, rows in by_dataset.items() if any(row["urn"] in cited for row in rows)
    }
    urns = sorted(by_dataset, key=lambda dataset: dataset not in cited_datasets)[:DATASETS_MAX]
    read = view.read("read/failures/refreshes", urns=urns, runs=RUNS_MAX)
    refreshes = {row["dataset"]: row for row in read}
    failures = [row["failed"] for row in refreshes.values() if row["failed"]]
    touched = [failure[key] for failure in failures for key in ("run", "job")]
    touched += [row["newest"] for row in refreshes.values() if row["newest"]]
    hidden = find_hidden(view, sorted(set(touched)))
    found: list[StaleInput] = []
    for urn in urns:
        if urn in refreshes:
            row, used = refreshes[urn], _newest(by_dataset[urn])
            found += _failed_refresh(row, used, hidden)
            if urn in cited_datasets:
                found += _newer_version(row, used, hidden)
    return found


def _newest(rows: Sequence[Row]) -> Row | None:
    """Return the newest version; None if there are only sources."""
    versions = [row for row in rows if str(row["urn"]).startswith("artifact:")]
    return max(versions, key=_created_at, default=None)


def _created_at(row: Row) -> datetime:
    created = row.get("createdAt")
    return created if isinstance(created, datetime) else _EARLIEST


def _failed_refresh(row: Row, used: Row | None, hidden: set[str]) -> list[StaleInput]:
    failure = row["failed"]
    if failure is None or failure["run"] in hidden or (used and used["runId"] == failure["runId"]):
        return []
    error = str(failure["error"] or "no reason was sent").strip().splitlines()
    shown = (error or [""])[0][:_ERROR_CHARACTERS_MAX]
    outcome = _OUTCOMES[failure["status"]]
    owners = {*(row["owners"] or ())}
    if failure["job"] not in hidden:
        owners.update(failure["owners"] or ())
    stale = StaleInput(
        dataset=row["dataset"],
        reason=f"a newer refresh of {_name(row)} {outcome} ({shown})",
        used=used["urn"] if used else None,
        newer=None,
        failed_run=failure["run"],
        at=failure["at"],
        owners=sorted(owners),
    )
    return [stale]


def _newer_version(row: Row, used: Row | None, hidden: set[str]) -> list[StaleInput]:
    if used is None or row["newest"] in (None, used["urn"]) or row["newest"] in hidden:
        return []
    if row["newestAt"] <= _created_at(used):
        return []
    stale = StaleInput(
        dataset=row["dataset"],
        reason=f"{_name(row)} has a newer version than the cited one",
        used=used["urn"],
        newer=row["newest"],
        failed_run=None,
        at=row["newestAt"],
        owners=sorted(row["owners"] or ()),
    )
    return [stale]


def _name(row: Mapping[str, object]) -> str:
    parts = parse_urn(str(row["dataset"])).parts
    return parts[1] if parts else str(row["name"])
