"""Root cause candidates from comparisons with earlier runs and versions.

`run_differences` compares the inputs, schemas and code of runs, `measure_changes` the measures of
columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from headwater.cypher.driver.database import Row
from headwater.lineage.nodes import name_nodes, read_nodes
from headwater.lineage.questions.candidates import Candidate
from headwater.lineage.questions.measure_changes import (
    NULL_SHARE,
    SUBJECTS_MAX,
    ChangedMeasures,
    MeasureChange,
    MeasuredVersion,
    find_changed_measures,
)
from headwater.lineage.questions.run_differences import (
    CODE,
    INPUTS,
    SCHEMA,
    RunDifference,
    RunState,
    find_differences,
    read_run_histories,
)
from headwater.lineage.view import GraphView

_KINDS_OF_DIFFERENCES = {INPUTS: "INPUT_CHANGED", SCHEMA: "SCHEMA_CHANGED", CODE: "CODE_CHANGED"}
# The measures that a reason names; a candidate has all of them.
_MEASURES_SHOWN = 3


@dataclass(frozen=True)
class ExaminedRuns:
    """The runs and versions upstream of a bad node.

    distances: the number of runs from each node to the start.
    runs: by run, the row of read/failures/run_evidence.
    writers: by version, the run that wrote it.
    """

    distances: Mapping[str, int]
    runs: Mapping[str, Row]
    writers: Mapping[str, str]

    def nearest(self, prefix: str) -> list[str]:
        """Return the nodes of one kind, nearest first."""
        urns = [urn for urn in self.distances if urn.startswith(prefix)]
        return sorted(urns, key=lambda urn: (self.distances[urn], urn))


def find_changes(
    view: GraphView, examined: ExaminedRuns, recoded: Collection[str]
) -> list[Candidate]:
    """Return the candidates; runs in `recoded` are known to have another version of the code."""
    histories = read_run_histories(view, examined.nearest("run:"))
    changes = [
        _of_difference(examined, one)
        for one in find_differences(view, histories)
        if one.what != CODE or one.since not in recoded
    ]
    versions = examined.nearest("artifact:")[:SUBJECTS_MAX]
    subjects = [
        MeasuredVersion(urn, row["dataset"], "", row["createdAt"])
        for urn, row in read_nodes(view, versions).items()
        if row.get("complete") and row.get("createdAt") is not None
    ]
    for history in histories:
        subjects += _measured_sources(history.states[0])
    measured = find_changed_measures(view, subjects)
    nodes = name_nodes(view, [one.subject.urn for one in measured])
    return changes + [
        _of_measures(examined, one, node.name) for one, node in zip(measured, nodes, strict=True)
    ]


def _measured_sources(state: RunState) -> list[MeasuredVersion]:
    if state.at is None:
        return []
    return [
        MeasuredVersion(source, dataset, state.urn, state.at)
        for dataset, source in sorted(state.sources.items())
    ]


def _of_difference(examined: ExaminedRuns, one: RunDifference) -> Candidate:
    """Return the candidate of a lasting change between runs of one job."""
    return Candidate(
        kind=_KINDS_OF_DIFFERENCES[one.what],
        reason=one.reason,
        urn=one.urn,
        run=one.since,
        occurred_at=one.since_at,
        distance=examined.distances[one.run],
        before=one.before,
        after=one.after,
        compared_with=(one.previous, *one.others),
    )


def _of_measures(examined: ExaminedRuns, one: ChangedMeasures, name: str) -> Candidate:
    """Return the candidate of a version whose column measures left their baseline."""
    subject, largest = one.subject, one.changes[0]
    shown = [_describe_change(change) for change in one.changes[:_MEASURES_SHOWN]]
    more = len(one.changes) - len(shown)
    if more > 0:
        shown.append(f"{more} more")
    run = subject.run or examined.writers.get(subject.urn, "")
    return Candidate(
        kind="COLUMN_MEASURE_CHANGED",
        reason=f"in {name} {'; '.join(shown)}",
        urn=subject.urn,
        run=run,
        occurred_at=examined.runs[run]["at"] if run else subject.at,
        distance=examined.distances[run or subject.urn],
        before=_format_measure(largest.mean),
        after=_format_measure(largest.value),
        compared_with=one.baseline,
        measures=one.changes,
    )


def _describe_change(change: MeasureChange) -> str:
    """Return a change of a column measure in words, with the bounds that it left."""
    text = (
        f"the {change.measure} of {change.column} is {_format_measure(change.value)}, "
        f"the baseline of {change.version_count} is {_format_measure(change.mean)}"
    )
    bounds = []
    if change.share is not None:
        unit = " points" if change.measure == NULL_SHARE else "%"
        bounds.append(f"{100 * change.share:+.1f}{unit}")
    if change.deviations is not None:
        bounds.append(f"{abs(change.deviations):.1f} standard deviations")
    return f"{text} ({', '.join(bounds)})" if bounds else text


def _format_measure(value: float) -> str:
    return f"{value:.6g}"
