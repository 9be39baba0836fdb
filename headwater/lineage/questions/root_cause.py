"""Where something went wrong: everything that a bad version was made from, searched for what may have spoiled it.

The walk goes upstream in history from the version (of a dataset: its newest; of an answer: all that it cites; of a run:
what it made), and looks for six signs:

- FAILED: the run failed, was aborted or abandoned, and what it had written was there to be read.
- TESTS_FAILED: tests of what the run read or made failed.
- SCHEMA_CHANGED: the version has another schema than the one before it.
- ROW_COUNT_OUTLIER: its row count is out of the ordinary for the dataset (`find_outlier`, by the newest ten earlier versions, of
  which there must be three).
- CODE_CHANGED: the run ran another code version than the newest success of its job before it.
- INPUT_LATE: the run read a version from before a run failed that should have made a newer one; or a version that was
  at least twice as old as usual, and out of the ordinary (`find_outlier`, by the ages of what the newest ten earlier runs of
  its job read); or a source that was not captured since the run before.

Candidates are ranked by kind in this order: from what is known to be wrong, through what was changed, to what is merely
late. Among those of one kind the run that began earliest comes first, since what is wrong spreads downstream; then the
nearest; then by urn. A run is a candidate once for each of its signs. What may not be seen shows no sign.

A failed run that wrote nothing is upstream of nothing: that its readers went on with an old version is INPUT_LATE. The
search goes at most 200 runs upstream, and says when it was cut short.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.nodes import require_node
from headwater.lineage.questions.failures import nodes_of_kind
from headwater.lineage.questions.outliers import EARLIER_MAX, find_outlier
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import RUNS_UP
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

KINDS = (
    "FAILED",
    "TESTS_FAILED",
    "SCHEMA_CHANGED",
    "ROW_COUNT_OUTLIER",
    "CODE_CHANGED",
    "INPUT_LATE",
)
STARTS = ("artifact", "source", "dataset", "answer", "run")
CANDIDATES_MAX = 200
HOPS_MAX = 200
NODES_MAX = 5_000
EDGES_MAX = 20_000
WALK_SECONDS_MAX = 5.0
# What was read is late when it is more than this many times the usual age older than usual.
_LATE_SHARE = 1.0
_ENDED_BADLY = {"FAIL": "failed", "ABORT": "was aborted", "ABANDONED": "was abandoned"}
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Candidate:
    """What may have gone wrong. `urn` shows the sign: a run, a version or a source; `run` is the run to look at, ""
    for a source; `occurred_at` is when that began. `compared_with` are the urns of what it was compared with."""

    kind: str
    reason: str
    urn: str
    run: str
    occurred_at: datetime | None
    distance: int
    before: str | None = None
    after: str | None = None
    compared_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class RootCause:
    """`starts` are the version, answer or run from which was searched; `omitted_count` tells how many candidates are not shown."""

    starts: list[str]
    candidates: list[Candidate]
    omitted_count: int = 0
    reason: str = ""

    @property
    def truncated(self) -> bool:
        return bool(self.reason)


def root_cause(
    view: GraphView,
    urn: str,
    *,
    since: datetime | None = None,
    first: int = 20,
    seconds: float = WALK_SECONDS_MAX,
) -> RootCause:
    """What may have spoiled a version, a dataset, an answer or a run, the likeliest first; only what began at or after
    `since`, when it was last known to be good. Raises NotFoundError for what is not there, QueryError for a urn of
    another kind or a `first` out of bounds."""
    if not 0 <= first <= CANDIDATES_MAX:
        raise QueryError(f"first {first} is not between 0 and {CANDIDATES_MAX}")
    starts = _starts(view, urn)
    bounds = Bounds.within(seconds, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    # What a bad run made shows signs of that run.
    runs = [one for one in starts if one.startswith("run:")]
    rows = view.read("read/traversal/run_outputs", urns=runs, limit=NODES_MAX) if runs else []
    made = sorted(row["datasetOrVersion"] for row in rows)
    walk = traverse(view, TraversalRequest(RUNS_UP, bounds), {urn: [*starts, *made]})[urn]
    found = [
        one for one in _signs(view, walk) if since is None or (one.occurred_at or _LATEST) >= since
    ]
    ranked = sorted(_seen(view, found), key=_rank)
    return RootCause(starts, ranked[:first], max(0, len(ranked) - first), walk.truncated)


def _starts(view: GraphView, urn: str) -> list[str]:
    kind = parse_urn(urn).kind
    if kind not in STARTS:
        raise QueryError(
            f"a {kind} has no root cause: urn {urn!r} names none of {', '.join(STARTS)}",
            hint="Ask for a version of a dataset, or for the dataset whose newest version is bad.",
        )
    urn = str(require_node(view, urn)["urn"])
    if kind != "dataset":
        return [urn]
    rows = view.read("read/failures/versions_since", dataset=urn, since=_EARLIEST, limit=1)
    if rows:
        return [rows[0]["urn"]]
    return [
        source
        for row in view.read("read/nodes/dataset_sources", urns=[urn])
        for source in row["sources"]
    ]


def _rank(candidate: Candidate) -> tuple[int, datetime, int, str]:
    return (
        KINDS.index(candidate.kind),
        candidate.occurred_at or _LATEST,
        candidate.distance,
        candidate.urn,
    )


def _seen(view: GraphView, found: list[Candidate]) -> Iterable[Candidate]:
    """Those of which everything may be seen: a sign tells of what it was compared with."""
    about = {one: {one.urn, one.run, *one.compared_with} - {""} for one in found}
    unseen = find_hidden(view, sorted({urn for urns in about.values() for urn in urns}))
    return [one for one, urns in about.items() if not urns & unseen]


def _signs(view: GraphView, walk: Traversal) -> list[Candidate]:
    runs, versions = nodes_of_kind("run", walk), nodes_of_kind("artifact", walk)
    rows = {row["urn"]: row for row in view.read("read/failures/run_evidence", urns=runs)}
    makers = {
        edge.target: edge.source
        for edge in sorted(walk.edges)
        if edge.type == "PRODUCED" and edge.source in rows
    }
    known = _Known(walk, rows, makers)
    found = [
        candidate
        for row in rows.values()
        for candidate in (*known.failed(row), *known.code_changed(row))
    ]
    for row in view.read("read/failures/version_evidence", urns=versions, earlier=EARLIER_MAX):
        found += [*known.schema_changed(row), *known.rows_shifted(row)]
    ages = view.read("read/failures/input_ages", urns=runs, earlier=EARLIER_MAX)
    failed = {
        row["number"]: row
        for row in view.read("read/failures/failed_between", rows=known.missed(ages))
    }
    for number, row in enumerate(ages):
        found += known.input_late(row, failed.get(number))
    tested = [*versions, *nodes_of_kind("source", walk)]
    return found + known.tests_failed(
        view.read("read/failures/failed_tests", urns=tested, limit=EDGES_MAX)
    )


@dataclass(frozen=True)
class _Known:
    """A walk, what its runs show, and which run made each version; judges the signs one by one."""

    walk: Traversal
    runs: Mapping[str, Row]
    makers: Mapping[str, str]

    def failed(self, row: Row) -> list[Candidate]:
        if row["status"] not in _ENDED_BADLY:
            return []
        made = tuple(sorted(version for version, run in self.makers.items() if run == row["urn"]))
        read = ", and what it had written was there to be read" if made else ""
        error = str(row["error"] or "no reason was sent").strip().splitlines()[0]
        reason = f"the run of {row['pipeline']} {_ENDED_BADLY[row['status']]} ({error}){read}"
        return [self._of_run("FAILED", row["urn"], reason, after=row["status"], compared=made)]

    def code_changed(self, row: Row) -> list[Candidate]:
        known = [one for one in row["previous"] if one]
        before = max(known, key=lambda one: (one["at"], one["run"]), default=None)
        if before is None or row["version"] is None or before["version"] == row["version"]:
            return []
        reason = f"{row['pipeline']} ran code {row['version']}; the success before it ran {before['version']}"
        return [
            self._of_run(
                "CODE_CHANGED",
                row["urn"],
                reason,
                before["version"],
                row["version"],
                (before["run"],),
            )
        ]

    def schema_changed(self, row: Row) -> list[Candidate]:
        if not row["drift"]:
            return []
        reason = f"the schema of {row['name']} changed: {', '.join(row['drift'])}"
        return [
            self._of_version(
                "SCHEMA_CHANGED", row["urn"], row["at"], reason, row["fieldsBefore"], row["fields"]
            )
        ]

    def rows_shifted(self, row: Row) -> list[Candidate]:
        if row["rowCount"] is None:
            return []
        found = find_outlier(row["rowCount"], [one["rowCount"] for one in row["earlier"]])
        if found is None:
            return []
        usual = _number(found.median)
        reason = (
            f"{row['name']} has {row['rowCount']} rows; the median of the {len(row['earlier'])} versions before it "
            f"is {usual}"
        )
        compared = tuple(one["urn"] for one in row["earlier"])
        after = str(row["rowCount"])
        return [
            self._of_version(
                "ROW_COUNT_OUTLIER", row["urn"], row["at"], reason, usual, after, compared
            )
        ]

    def input_late(self, row: Row, failed: Row | None) -> list[Candidate]:
        """`failed` is the run that failed where it should have made something newer than what was read."""
        read = tuple(self._read_by(row))
        if not read or row["made"] > row["at"]:
            return []
        if row["isSource"]:
            return self._not_captured(row, read)
        age = (row["at"] - row["made"]).total_seconds()
        ages = [(one["at"] - one["made"]).total_seconds() for one in row["earlier"] if one["at"]]
        found = find_outlier(age, ages, share=_LATE_SHARE)
        is_late = found is not None and age > found.median
        if not is_late and failed is None:
            return []
        usual = _age(found.median) if found is not None and is_late else None
        reason = f"{row['pipeline']} read a version of {row['name']} that was {_age(age)} old"
        reason += f"; usually it is {usual}" if usual else ""
        reason += f"; {failed['pipeline']} failed in between" if failed else ""
        compared = [
            *([failed["run"]] if failed else []),
            *(one["run"] for one in row["earlier"] if usual),
        ]
        return [
            self._of_run("INPUT_LATE", row["run"], reason, usual, _age(age), (*read, *compared))
        ]

    def _read_by(self, row: Row) -> list[str]:
        return sorted(version for version in row["versions"] if version in self.walk.nodes)

    def _not_captured(self, row: Row, read: tuple[str, ...]) -> list[Candidate]:
        newest = row["earlier"][0] if row["earlier"] else None
        if newest is None or row["made"] >= newest["at"]:
            return []
        reason = f"{row['pipeline']} read {row['name']}, which was not captured since the run before it read it"
        before, after = _instant(newest["at"]), _instant(row["made"])
        return [
            self._of_run("INPUT_LATE", row["run"], reason, before, after, (*read, newest["run"]))
        ]

    def missed(self, rows: list[Row]) -> list[Row]:
        """Where to look for failures that left nothing: among the runs of the job that made what was read, until it was
        read. What a job reads of its own it goes on from: that is not late because an attempt failed before."""
        wanted = []
        for number, row in enumerate(rows):
            makers = [self.makers[one] for one in self._read_by(row) if one in self.makers]
            jobs = {self.runs[maker]["job"] for maker in makers} - {
                None,
                self.runs[row["run"]]["job"],
            }
            wanted += [
                {"number": number, "job": job, "after": row["made"], "until": row["at"]}
                for job in sorted(jobs)
            ]
        return wanted

    def tests_failed(self, rows: list[Row]) -> list[Candidate]:
        """A run upstream that tested what it read went on with it; tests of others tell of the run that made it."""
        by_node: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            by_node[row["run"] if row["run"] in self.runs else row["version"]].append(row)
        return [self._tested(node, found) for node, found in by_node.items()]

    def _tested(self, node: str, rows: list[Row]) -> Candidate:
        names = sorted({name for row in rows for name in row["failedTests"] or ()})
        tests, newest = ", ".join(names), rows[-1]
        counts = f"{newest['testsFailed']} of {newest['testsFailed'] + (newest['testsPassed'] or 0)} tests failed"
        if node in self.runs:
            read = " and ".join(sorted({row["name"] for row in rows}))
            reason = (
                f"{self.runs[node]['pipeline']} went on although tests of {read} failed: {tests}"
            )
            return self._of_run("TESTS_FAILED", node, reason, after=counts)
        compared = tuple(sorted({row["run"] for row in rows}))
        reason = f"tests of {newest['name']} failed: {tests}"
        return self._of_version(
            "TESTS_FAILED", node, newest["capturedAt"], reason, None, counts, compared
        )

    def _of_run(
        self,
        kind: str,
        run: str,
        reason: str,
        before: str | None = None,
        after: str | None = None,
        compared: tuple[str, ...] = (),
    ) -> Candidate:
        at, distance = self.runs[run]["at"], self.walk.nodes[run]
        return Candidate(kind, reason, run, run, at, distance, before, after, compared)

    def _of_version(
        self,
        kind: str,
        version: str,
        at: datetime | None,
        reason: str,
        before: str | None,
        after: str | None,
        compared: tuple[str, ...] = (),
    ) -> Candidate:
        run = self.makers.get(version, "")
        at = self.runs[run]["at"] if run else at
        distance = self.walk.nodes[run or version]
        return Candidate(kind, reason, version, run, at, distance, before, after, compared)


def _instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _age(seconds: float) -> str:
    for size, word in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{_number(round(seconds / size, 1))} {word}"
    return f"{_number(round(seconds))} seconds"
