"""Candidates for the root cause of a bad version, found in everything that it derives from.

The traversal goes upstream in the run history. It starts at the version, at the newest version of a
dataset, at the citations of an answer, or at the outputs of a run. Each node is checked for eight
signs:

- FAILED: the run failed, was aborted or was abandoned, and its outputs could be read.
- TESTS_FAILED: tests of the inputs or outputs of the run failed.
- INPUT_CHANGED: the job reads other datasets than its runs before (`run_differences`).
- SCHEMA_CHANGED: the version has another schema than the one before it. Or a source has another
  schema than when earlier runs read it, or than the dataset that it replaced.
- ROW_COUNT_OUTLIER: the row count is an outlier for the dataset (`find_outlier`, by the newest ten
  earlier versions, at least three).
- COLUMN_MEASURE_CHANGED: the mean, the share of nulls or the distinct count of a column left the
  baseline of earlier versions (`measure_changes`).
- CODE_CHANGED: the run ran another code version than the last success of its job before it, or
  source code of another hash.
- INPUT_LATE: the run read a version from before a failed run that should have written a newer one.
  Or it read a version at least twice as old as usual, and an outlier by the ages of the inputs of
  the newest ten earlier runs of its job. Or it read a source not captured since the run before.

Candidates are ranked by the weight of their kind (`WEIGHTS`): known errors weigh most, then changes
of the data that came in, then their measured effects, then changes that are usual. Within a kind,
the run that began earliest comes first, since errors spread downstream; then the nearest; then by
urn. A run is a candidate once for each of its signs. Hidden nodes show no sign.

A failed run without outputs is upstream of nothing. If its readers went on with an old version,
that is INPUT_LATE. The search covers at most 200 runs upstream and says when it was cut short.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.nodes import require_node
from headwater.lineage.pagination import require_between
from headwater.lineage.questions.candidates import Candidate
from headwater.lineage.questions.change_candidates import ExaminedRuns, find_changes
from headwater.lineage.questions.failures import nodes_of_kind
from headwater.lineage.questions.outliers import EARLIER_MAX, find_outlier
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import RUNS_UP
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

STARTS = ("artifact", "source", "dataset", "answer", "run")
CANDIDATES_MAX = 200
HOPS_MAX = 200
NODES_MAX = 5_000
EDGES_MAX = 20_000
TRAVERSAL_SECONDS_MAX = 5.0
# An input is late if it is older than usual by more than this many times the usual age.
_LATE_SHARE = 1.0
_UNSUCCESSFUL = {"FAIL": "failed", "ABORT": "was aborted", "ABANDONED": "was abandoned"}
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class RootCause:
    """The first candidates and the number of further ones.

    `starts` are the version, answer or run where the search started.
    """

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
    timeout_seconds: float = TRAVERSAL_SECONDS_MAX,
) -> RootCause:
    """Return the candidates for the root cause of a bad node, the likeliest first.

    With `since`, the time when the data was last good, only later candidates count. Raises
    NotFoundError without a visible node, QueryError for a bad urn or `first`.
    """
    require_between("first", first, 0, CANDIDATES_MAX)
    starts = _read_starts(view, urn)
    bounds = Bounds.within(
        timeout_seconds, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX
    )
    # The outputs of a bad run show signs of that run.
    outputs: list[str] = []
    runs = [start for start in starts if start.startswith("run:")]
    if runs:
        rows = view.read("read/traversal/run_outputs", urns=runs, limit=NODES_MAX)
        outputs = sorted(row["datasetOrVersion"] for row in rows)
    traversal = traverse(view, TraversalRequest(RUNS_UP, bounds), {urn: [*starts, *outputs]})[urn]
    found = _find_candidates(view, traversal)
    if since is not None:
        found = [candidate for candidate in found if (candidate.occurred_at or _LATEST) >= since]
    ranked = sorted(_select_visible(view, found), key=_rank)
    return RootCause(starts, ranked[:first], max(0, len(ranked) - first), traversal.truncated)


def _read_starts(view: GraphView, urn: str) -> list[str]:
    kind = parse_urn(urn).kind
    if kind not in STARTS:
        raise QueryError(
            f"a {kind} has no root cause: urn {urn!r} names none of {', '.join(STARTS)}",
            hint="Name a version of a dataset, or the dataset whose newest version is bad.",
        )
    urn = str(require_node(view, urn)["urn"])
    if kind != "dataset":
        return [urn]
    versions = view.read("read/failures/versions_since", dataset=urn, since=_EARLIEST, limit=1)
    if versions:
        return [versions[0]["urn"]]
    rows = view.read("read/nodes/dataset_sources", urns=[urn])
    return list(rows[0]["sources"]) if rows else []


def _rank(candidate: Candidate) -> tuple[int, datetime, int, str]:
    return (
        -candidate.weight,
        candidate.occurred_at or _LATEST,
        candidate.distance,
        candidate.urn,
    )


def _select_visible(view: GraphView, found: list[Candidate]) -> list[Candidate]:
    """Return the candidates whose nodes, compared ones included, are all visible."""
    urns: set[str] = set()
    for candidate in found:
        urns |= _urns(candidate)
    hidden = find_hidden(view, sorted(urns))
    return [candidate for candidate in dict.fromkeys(found) if not _urns(candidate) & hidden]


def _urns(candidate: Candidate) -> set[str]:
    return {candidate.urn, candidate.run, *candidate.compared_with} - {""}


def _find_candidates(view: GraphView, traversal: Traversal) -> list[Candidate]:
    runs, versions = nodes_of_kind("run", traversal), nodes_of_kind("artifact", traversal)
    rows = {row["urn"]: row for row in view.read("read/failures/run_evidence", urns=runs)}
    writers = {
        edge.target: edge.source
        for edge in sorted(traversal.edges)
        if edge.type == "PRODUCED" and edge.source in rows
    }
    checks = _SignChecks(traversal, rows, writers)
    found: list[Candidate] = []
    for row in rows.values():
        found += [*checks.failed(row), *checks.code_changed(row)]
    for row in view.read("read/failures/version_evidence", urns=versions, earlier=EARLIER_MAX):
        found += [*checks.schema_changed(row), *checks.row_count_outlier(row)]
    ages = view.read("read/failures/input_ages", urns=runs, earlier=EARLIER_MAX)
    failures = view.read("read/failures/failed_between", rows=checks.failure_searches(ages))
    failed_between = {row["number"]: row for row in failures}
    for number, row in enumerate(ages):
        found += checks.input_late(row, failed_between.get(number))
    tested = [*versions, *nodes_of_kind("source", traversal)]
    tests = view.read("read/failures/failed_tests", urns=tested, limit=EDGES_MAX)
    found += checks.tests_failed(tests)
    examined = ExaminedRuns(traversal.nodes, rows, writers)
    recoded = {candidate.urn for candidate in found if candidate.kind == "CODE_CHANGED"}
    return found + find_changes(view, examined, recoded)


@dataclass(frozen=True)
class _SignChecks:
    """The checks for the signs, over a traversal, the rows of its runs and their outputs."""

    traversal: Traversal
    # Run -> its row of read/failures/run_evidence.
    runs: Mapping[str, Row]
    # Version -> the run that wrote it.
    writers: Mapping[str, str]

    def failed(self, row: Row) -> list[Candidate]:
        if row["status"] not in _UNSUCCESSFUL:
            return []
        outputs = tuple(
            sorted(version for version, run in self.writers.items() if run == row["urn"])
        )
        error = str(row["error"] or "no reason was sent").strip().splitlines()[0]
        reason = f"the run of {row['pipeline']} {_UNSUCCESSFUL[row['status']]} ({error})"
        if outputs:
            reason += ", and its outputs could be read"
        return [
            self._of_run("FAILED", row["urn"], reason, after=row["status"], compared_with=outputs)
        ]

    def code_changed(self, row: Row) -> list[Candidate]:
        previous = max(
            (run for run in row["previous"] if run),
            key=lambda run: (run["at"], run["run"]),
            default=None,
        )
        if previous is None or row["version"] in (None, previous["version"]):
            return []
        reason = (
            f"{row['pipeline']} ran code {row['version']}; "
            f"the success before it ran {previous['version']}"
        )
        candidate = self._of_run(
            "CODE_CHANGED",
            row["urn"],
            reason,
            before=previous["version"],
            after=row["version"],
            compared_with=(previous["run"],),
        )
        return [candidate]

    def schema_changed(self, row: Row) -> list[Candidate]:
        if not row["drift"]:
            return []
        reason = f"the schema of {row['name']} changed: {', '.join(row['drift'])}"
        candidate = self._of_version(
            "SCHEMA_CHANGED",
            row["urn"],
            row["at"],
            reason,
            before=row["fieldsBefore"],
            after=row["fields"],
        )
        return [candidate]

    def row_count_outlier(self, row: Row) -> list[Candidate]:
        if row["rowCount"] is None:
            return []
        outlier = find_outlier(row["rowCount"], [version["rowCount"] for version in row["earlier"]])
        if outlier is None:
            return []
        usual = _format_number(outlier.median)
        reason = (
            f"{row['name']} has {row['rowCount']} rows; "
            f"the median of the {len(row['earlier'])} versions before it is {usual}"
        )
        candidate = self._of_version(
            "ROW_COUNT_OUTLIER",
            row["urn"],
            row["at"],
            reason,
            before=usual,
            after=str(row["rowCount"]),
            compared_with=tuple(version["urn"] for version in row["earlier"]),
        )
        return [candidate]

    def input_late(self, row: Row, failed: Row | None) -> list[Candidate]:
        """Check the age of an input; `failed` is a run that should have written a newer one."""
        versions = tuple(self._reached_versions(row))
        if not versions or row["made"] > row["at"]:
            return []
        if row["isSource"]:
            return self._not_captured(row, versions)
        age = _format_age((row["at"] - row["made"]).total_seconds())
        usual = _usual_age(row)
        if usual is None and failed is None:
            return []
        reason = f"{row['pipeline']} read a version of {row['name']} that was {age} old"
        compared_with = [*versions]
        if failed is not None:
            compared_with.append(failed["run"])
        if usual is not None:
            reason += f"; usually it is {usual}"
            compared_with += [run["run"] for run in row["earlier"]]
        if failed is not None:
            reason += f"; {failed['pipeline']} failed in between"
        candidate = self._of_run(
            "INPUT_LATE",
            row["run"],
            reason,
            before=usual,
            after=age,
            compared_with=tuple(compared_with),
        )
        return [candidate]

    def _reached_versions(self, row: Row) -> list[str]:
        return sorted(version for version in row["versions"] if version in self.traversal.nodes)

    def _not_captured(self, row: Row, versions: tuple[str, ...]) -> list[Candidate]:
        """Check whether a source was captured since the run before read it."""
        previous = row["earlier"][0] if row["earlier"] else None
        if previous is None or row["made"] >= previous["at"]:
            return []
        reason = (
            f"{row['pipeline']} read {row['name']}, "
            "which was not captured since the run before it read it"
        )
        candidate = self._of_run(
            "INPUT_LATE",
            row["run"],
            reason,
            before=_format_instant(previous["at"]),
            after=_format_instant(row["made"]),
            compared_with=(*versions, previous["run"]),
        )
        return [candidate]

    def failure_searches(self, rows: list[Row]) -> list[Row]:
        """Return the jobs and time ranges in which to search for failed runs without outputs.

        These are the jobs that wrote the inputs, from the time of an input until its read. A job
        that reads its own output continues from it; a failed attempt before does not make it late.
        """
        searches = []
        for number, row in enumerate(rows):
            writers = [
                self.writers[version]
                for version in self._reached_versions(row)
                if version in self.writers
            ]
            jobs = {self.runs[writer]["job"] for writer in writers}
            jobs -= {None, self.runs[row["run"]]["job"]}
            time_range = {"after": row["made"], "until": row["at"]}
            searches += [{"number": number, "job": job, **time_range} for job in sorted(jobs)]
        return searches

    def tests_failed(self, rows: list[Row]) -> list[Candidate]:
        """Assign failed tests to the run that went on despite them, or else to the writer."""
        by_node: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            by_node[row["run"] if row["run"] in self.runs else row["version"]].append(row)
        return [self._tested(node, of_node) for node, of_node in by_node.items()]

    def _tested(self, node: str, rows: list[Row]) -> Candidate:
        names: set[str] = set()
        for row in rows:
            names.update(row["failedTests"] or ())
        tests, newest = ", ".join(sorted(names)), rows[-1]
        total = newest["testsFailed"] + (newest["testsPassed"] or 0)
        counts = f"{newest['testsFailed']} of {total} tests failed"
        if node in self.runs:
            datasets = " and ".join(sorted({row["name"] for row in rows}))
            pipeline = self.runs[node]["pipeline"]
            reason = f"{pipeline} went on although tests of {datasets} failed: {tests}"
            return self._of_run("TESTS_FAILED", node, reason, after=counts)
        return self._of_version(
            "TESTS_FAILED",
            node,
            newest["capturedAt"],
            f"tests of {newest['name']} failed: {tests}",
            after=counts,
            compared_with=tuple(sorted({row["run"] for row in rows})),
        )

    def _of_run(
        self,
        kind: str,
        run: str,
        reason: str,
        *,
        before: str | None = None,
        after: str | None = None,
        compared_with: tuple[str, ...] = (),
    ) -> Candidate:
        return Candidate(
            kind=kind,
            reason=reason,
            urn=run,
            run=run,
            occurred_at=self.runs[run]["at"],
            distance=self.traversal.nodes[run],
            before=before,
            after=after,
            compared_with=compared_with,
        )

    def _of_version(
        self,
        kind: str,
        version: str,
        at: datetime | None,
        reason: str,
        *,
        before: str | None = None,
        after: str | None = None,
        compared_with: tuple[str, ...] = (),
    ) -> Candidate:
        run = self.writers.get(version, "")
        return Candidate(
            kind=kind,
            reason=reason,
            urn=version,
            run=run,
            occurred_at=self.runs[run]["at"] if run else at,
            distance=self.traversal.nodes[run or version],
            before=before,
            after=after,
            compared_with=compared_with,
        )


def _usual_age(row: Row) -> str | None:
    """Return the usual age of an input if it was older than that and an outlier."""
    age = (row["at"] - row["made"]).total_seconds()
    ages = [(run["at"] - run["made"]).total_seconds() for run in row["earlier"] if run["at"]]
    outlier = find_outlier(age, ages, share=_LATE_SHARE)
    if outlier is None or age <= outlier.median:
        return None
    return _format_age(outlier.median)


def _format_instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _format_age(seconds: float) -> str:
    for size, word in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{_format_number(round(seconds / size, 1))} {word}"
    return f"{_format_number(round(seconds))} seconds"
