"""Rule `schema-drift`: a column that somebody uses vanished or changed its type for the worse.

Compared are the schemas of consecutive complete versions. A dataset whose versions have no schemas,
such as a source, has the schemas that any event reported, in the order of their first observation.

A lost column is one that is gone, or one whose new type cannot hold each value of the old one
(`headwater.schema.type_changes`). Renamed is gone. New columns, wider types and columns that nobody
uses are no finding. A job uses the columns that its column lineage names, or all without any. It
must have read the dataset before the change. An answer uses the columns that it cites.

The finding ends when all lost columns are back, or when each of those jobs has started a run since
that succeeded. If only answers use the columns, a newer answer on the dataset ends it. A job that
writes the dataset too is no reader here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.health.findings.datasets.history import DatasetHistory, Reader
from headwater.health.findings.models import Episode
from headwater.schema.drift import Fields
from headwater.schema.type_changes import is_narrowing

RULE = "schema-drift"
LISTED_MAX = 20


@dataclass(frozen=True)
class _Step:
    """A schema that was observed: from when, with what, and until when it was seen."""

    urn: str
    at: datetime
    until: datetime
    fields: Fields
    run: str = ""


@dataclass(frozen=True)
class LostColumn:
    """A column with its old type, and its new one; `after` is None if the column is gone."""

    name: str
    before: str | None
    after: str | None


def lost_columns(old: Fields, new: Fields) -> list[LostColumn]:
    """Return the columns that are gone or whose type cannot hold each old value, by name."""
    lost = []
    for name, before in sorted(old.items()):
        if name not in new:
            lost.append(LostColumn(name, before, None))
        elif _is_worse(name, before, new):
            lost.append(LostColumn(name, before, new[name]))
    return lost


def _is_worse(name: str, before: str | None, new: Fields) -> bool:
    after = new[name]
    if before is None or after is None or before.casefold() == after.casefold():
        return False
    if any(other.startswith(f"{name}.") for other in new):
        # The fields of a structure are columns of their own.
        return False
    return is_narrowing(before, after) is not False


def detect_schema_drift(history: DatasetHistory, _: datetime) -> Iterator[Episode]:
    """Yield an episode for each change that took a used column away."""
    if history.is_gone:
        return
    steps = _steps(history)
    for index in range(1, len(steps)):
        before, step = steps[index - 1], steps[index]
        if step.fields != before.fields:
            episode = _episode(history, before, step, steps[index + 1 :])
            if episode is not None:
                yield episode


def _steps(history: DatasetHistory) -> list[_Step]:
    versions = [one for one in history.complete_versions if one.fields is not None]
    if versions:
        return [
            _Step(one.urn, one.created_at, one.created_at, one.fields or {}, one.run)
            for one in versions
        ]
    return [
        _Step(one.urn, one.first_seen, one.last_seen, one.fields)
        for one in sorted(history.schemas, key=lambda schema: (schema.first_seen, schema.urn))
    ]


def _episode(
    history: DatasetHistory, before: _Step, step: _Step, later: Sequence[_Step]
) -> Episode | None:
    if step.at < before.until < step.until:
        # Both schemas come in turns: two readers report different parts of one dataset.
        return None
    lost = lost_columns(before.fields, step.fields)
    used = [column for column in lost if _users(history, column.name, step.at)]
    if not used:
        return None
    readers = _affected_readers(history, used, step.at)
    ended = _end(history, before, step, later, used, readers)
    last = max([step.until, *(one.until for one in later if _is_lost_in(one, used))])
    return Episode(
        rule=RULE,
        subject=history.urn,
        key=step.urn,
        first_seen=step.at,
        last_seen=last if ended is None else min(last, ended[0]),
        resolved_at=ended[0] if ended else None,
        resolved_by=ended[1] if ended else None,
        evidence=_evidence(history, step, lost, used),
    )


def _users(history: DatasetHistory, column: str, at: datetime) -> list[str]:
    """Return the jobs and the answers that used a column before an instant."""
    jobs = [reader.job for reader in _other_readers(history) if _uses(reader, column, at)]
    answers = [
        one.answer
        for one in history.citations
        if one.column and _covers(one.column, column) and _is_before(one.generated_at, at)
    ]
    return [*jobs, *sorted(set(answers))]


def _other_readers(history: DatasetHistory) -> list[Reader]:
    """Return the readers that do not write the dataset themselves."""
    producers = {producer.job for producer in history.producers}
    return [reader for reader in history.readers if reader.job not in producers]


def _uses(reader: Reader, column: str, at: datetime) -> bool:
    if reader.first_seen >= at or not (reader.is_current or reader.last_seen >= at):
        return False
    if reader.columns is None:
        return True
    return any(_covers(used, column) for used in reader.columns)


def _covers(used: str, column: str) -> bool:
    """Return True if one is the other, or a structure that contains the other."""
    return used == column or used.startswith(f"{column}.") or column.startswith(f"{used}.")


def _is_before(generated_at: datetime | None, at: datetime) -> bool:
    return generated_at is None or generated_at < at


def _affected_readers(
    history: DatasetHistory, used: Sequence[LostColumn], at: datetime
) -> list[Reader]:
    affected = []
    for reader in _other_readers(history):
        is_known = reader.is_current or any(run.started_at >= at for run in reader.runs)
        if is_known and any(_uses(reader, column.name, at) for column in used):
            affected.append(reader)
    return affected


def _end(
    history: DatasetHistory,
    before: _Step,
    step: _Step,
    later: Sequence[_Step],
    used: Sequence[LostColumn],
    readers: Sequence[Reader],
) -> tuple[datetime, str] | None:
    """Return when the drift ended, and by what: the earliest of its ends."""
    ends = [(one.at, one.urn) for one in later if not _is_lost_in(one, used)][:1]
    if not history.complete_versions and before.until > step.until:
        # The earlier schema was seen again, and the new one was not.
        ends.append((step.until, before.urn))
    adapted = _adapted(readers, step.at) if readers else _answered(history, step.at)
    if adapted is not None:
        ends.append(adapted)
    return min(ends, default=None)


def _is_lost_in(step: _Step, used: Sequence[LostColumn]) -> bool:
    """Return True if a schema still lacks one of these columns, with a type as before."""
    old = {column.name: column.before for column in used}
    return bool(lost_columns(old, step.fields))


def _adapted(readers: Sequence[Reader], at: datetime) -> tuple[datetime, str] | None:
    """Return the end of the run by which every reader had succeeded once since an instant."""
    firsts = []
    for reader in readers:
        since = [(run.ended_at, run.urn) for run in reader.runs if run.started_at >= at]
        if not since:
            return None
        firsts.append(min(since))
    return max(firsts)


def _answered(history: DatasetHistory, at: datetime) -> tuple[datetime, str] | None:
    """Return the first answer on the dataset since an instant."""
    since = [
        (one.generated_at, one.answer)
        for one in history.citations
        if one.generated_at is not None and one.generated_at >= at
    ]
    return min(since, default=None)


def _evidence(
    history: DatasetHistory, step: _Step, lost: Sequence[LostColumn], used: Sequence[LostColumn]
) -> dict[str, Any]:
    columns = [
        {
            "column": one.name,
            "before": one.before,
            "after": one.after,
            "usedBy": _users(history, one.name, step.at)[:LISTED_MAX],
        }
        for one in used[:LISTED_MAX]
    ]
    return {
        "columns": columns,
        "count": len(used),
        "unusedLost": len(lost) - len(used),
        "schema": step.urn,
        "run": step.run or None,
    }
