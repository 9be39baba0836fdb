"""Which nodes changed since the last pass, and which histories depend on them.

Runs bear the time of their last write (`changedAt`), by the clock of Neo4j. Datasets, jobs and
answers bear the revision that last wrote their facts (`factsRevision`) or changed their edges
(`lineageRevision`). Neo4j shows a commit piece by piece, so each read begins a little before the
end of the last one; a change that was read already is left out.

A changed run matters to its jobs, to the jobs that contain it, and to the datasets that it read or
wrote. A changed dataset or job matters to its neighbours within two hops, such as the readers of an
output and the origins of an input. All of these matter to the answers, models and exports
downstream.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.health.findings.affected import find_cited, find_downstream
from headwater.health.findings.unmasked_personal_data import find_exposable
from headwater.lineage.questions.changed_runs import LOOK_BACK, ROWS_MAX, changed_runs
from headwater.lineage.view import GraphView

# More changes than this, and a full pass costs less.
RUNS_MAX = 20_000
NODES_MAX = 20_000
_URNS_PER_QUERY_MAX = 1_000
# As in `headwater.lineage.cache.cache_refresher`: then all of a commit is visible.
_COMMIT_VISIBLE_SECONDS = 1.0
_HOPS = 2
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_ANSWER, _DATASET = "answer:", "dataset:"


@dataclass(frozen=True)
class Cursor:
    """How far the changes of a graph were read; `changed_at` is the newest change of a run."""

    graph: str
    revision: int = 0
    changed_at: datetime = _EARLIEST


@dataclass(frozen=True)
class GraphState:
    """The present revision of a graph; `graph` is another one after an erasure."""

    graph: str
    revision: int
    is_erasing: bool


@dataclass(frozen=True)
class Changed:
    """The nodes whose histories changed, and of them those with other edges, tags or owners."""

    cursor: Cursor
    urns: frozenset[str] = frozenset()
    relinked: frozenset[str] = frozenset()


def read_graph_state(view: GraphView) -> GraphState:
    """Return the present revision of the graph."""
    rows = view.read("read/cache/revision")
    row: Row = rows[0] if rows else {"graph": "", "revision": 0, "erasing": False}
    return GraphState(row["graph"], row["revision"], row["erasing"])


class ChangeReader:
    """Reads what changed after a cursor, each change once."""

    def __init__(self, view: GraphView) -> None:
        """Create a reader of an unrestricted view."""
        self._view = view
        self._seen_runs: dict[str, datetime] = {}
        self._seen_nodes: dict[str, int] = {}
        # When each revision was found; all nodes of the first one are visible.
        self._observed: deque[tuple[float, int]] = deque()

    def skip(self, state: GraphState) -> Cursor:
        """Return a cursor at the present: nodes read after this call are as new or newer."""
        rows = self._view.read("read/findings/newest_change")
        newest = rows[0]["at"] if rows else _EARLIEST
        # The runs before the cursor are not new to the next read.
        self._changed_runs(newest)
        time.sleep(_COMMIT_VISIBLE_SECONDS)
        return Cursor(state.graph, state.revision, newest)

    def read(self, cursor: Cursor, state: GraphState) -> Changed | None:
        """Return what changed after a cursor of the same graph; None if a full pass costs less."""
        end = replace(cursor, revision=self._visible_revision(state.revision, cursor.revision))
        nodes = self._changed_nodes(cursor.revision, end.revision)
        runs, newest = self._changed_runs(cursor.changed_at)
        end = replace(end, changed_at=newest)
        if len(runs) >= RUNS_MAX or len(nodes) >= NODES_MAX:
            return None
        touched = self._nodes_of_runs(runs)
        relinked = self._with_neighbours(nodes)
        near = touched | relinked
        cited = find_cited(self._view, (urn for urn in touched if urn.startswith(_DATASET)))
        down = find_downstream(self._view, near)
        if down.truncated or len(near) >= NODES_MAX:
            return None
        exposable = find_exposable(self._view, down.hops.keys() | near)
        # A late version may end for how long a citation was current, so who is affected.
        return Changed(end, frozenset(near | exposable), frozenset(relinked | cited))

    def _visible_revision(self, revision: int, before: int) -> int:
        """Return the newest revision whose nodes are all visible."""
        now = time.monotonic()
        if not self._observed or self._observed[-1][1] != revision:
            self._observed.append((now, revision))
        visible = before
        while self._observed and self._observed[0][0] <= now - _COMMIT_VISIBLE_SECONDS:
            visible = max(visible, self._observed.popleft()[1])
        if not self._observed:
            self._observed.append((float("-inf"), revision))
        return visible

    def _changed_nodes(self, after: int, visible: int) -> list[str]:
        rows = self._view.read("read/findings/changed_nodes", after=after)
        new = [row["urn"] for row in rows if self._seen_nodes.get(row["urn"], 0) < row["revision"]]
        self._seen_nodes = {
            row["urn"]: row["revision"] for row in rows if row["revision"] > visible
        }
        return sorted(new)

    def _changed_runs(self, since: datetime) -> tuple[list[str], datetime]:
        """Return the runs that changed, and the time of the newest change."""
        seen, new, newest = self._seen_runs, dict[str, datetime](), since
        begin = max(since - LOOK_BACK, _EARLIEST)
        while len(new) < RUNS_MAX:
            page = changed_runs(self._view, begin)
            new.update((run.urn, run.at) for run in page if seen.get(run.urn) != run.at)
            newest = max([newest, *(run.at for run in page)])
            if len(page) < ROWS_MAX or page[-1].at == begin:
                break
            begin = page[-1].at
        self._seen_runs = {
            urn: at for urn, at in {**seen, **new}.items() if at >= newest - LOOK_BACK
        }
        return sorted(new), newest

    def _nodes_of_runs(self, runs: Iterable[str]) -> set[str]:
        found: set[str] = set()
        for urns in chunks(list(runs), _URNS_PER_QUERY_MAX):
            found.update(_urns(self._view.read("read/findings/nodes_of_runs", urns=urns)))
        return found

    def _with_neighbours(self, nodes: Collection[str]) -> set[str]:
        """Return nodes, those within two hops, and the datasets that answers among them cite."""
        answers = [urn for urn in nodes if urn.startswith(_ANSWER)]
        found = {*nodes, *_cited_by(self._view, answers)}
        border = {urn for urn in found if not urn.startswith(_ANSWER)}
        for _ in range(_HOPS):
            beside: set[str] = set()
            for urns in chunks(sorted(border), _URNS_PER_QUERY_MAX):
                beside.update(
                    _urns(self._view.read("read/findings/neighbours", urns=urns, limit=NODES_MAX))
                )
            border = beside - found
            found |= border
        return found


def _cited_by(view: GraphView, answers: Collection[str]) -> set[str]:
    found: set[str] = set()
    for urns in chunks(list(answers), _URNS_PER_QUERY_MAX):
        for row in view.read("read/findings/cited_datasets", urns=urns):
            found.update(row["datasets"])
    return found


def _urns(rows: Iterable[Row]) -> Iterable[Any]:
    return (row["urn"] for row in rows if row["urn"])
