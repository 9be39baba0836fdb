"""Answers as a few lines of text, for clients that show no structured content.

Names and messages come from events: each is put on one line and clipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.cells import one_line, text_of
from headwater.client.records import Affected, Node, Ref, Stale
from headwater.mcp_server.answers import Description, FailedRuns, Findings, Found

if TYPE_CHECKING:
    from headwater.client.results import Impact, Lineage, RootCause, Trace

_LINES_MAX = 40
_CHARACTERS_MAX = 300


def found(answer: Found) -> list[str]:
    """Summarise a search."""
    total = len(answer.nodes) if answer.total_count is None else answer.total_count
    return [f"found: {total}", *_listed(map(_node, answer.nodes))]


def description(answer: Description) -> list[str]:
    """Summarise a node: one line for each known field."""
    lines = []
    for kind in ("dataset", "job", "run", "answer"):
        details = getattr(answer, kind)
        if details is not None:
            lines += [kind, *_fields(details)]
    return lines


def trace(answer: Trace) -> list[str]:
    """Summarise a trace: the answer, its sources, and what is out of date."""
    lines = [f"answer {answer.answer.answer_id}: {_clip(answer.answer.content or '')}"]
    lines += [f"sources: {len(answer.sources)}, runs: {len(answer.runs)}"]
    lines += _listed(f"source {one.namespace} {one.name}{_rows(one)}" for one in answer.sources)
    lines += _listed(f"run {one.status} {one.pipeline_name} {one.run_id}" for one in answer.runs)
    lines += _listed(
        f"artifact {one.namespace} {one.name}{_rows(one)}{'' if one.complete else ' PARTIAL'}"
        for one in answer.artifacts
    )
    return [*lines, *_stale(answer.stale), *_truncation(answer)]


def lineage(answer: Lineage) -> list[str]:
    """Summarise a lineage: its nodes, nearest first."""
    counts = f"nodes: {len(answer.nodes)}, edges: {len(answer.edges)}"
    return [counts, *_listed(map(_node, answer.nodes)), *_truncation(answer)]


def failed_runs(answer: FailedRuns) -> list[str]:
    """Summarise failed runs: the error, what each touches, and whom to notify."""
    lines = [f"failed runs: {len(answer.failed_runs)}{', more exist' if answer.more else ''}"]
    for run in answer.failed_runs:
        state = f"resolved {_time(run.resolved_at)}" if run.resolved else "unresolved"
        head = f"{_time(run.failed_at)} {run.pipeline_name} {run.run_id} {state}"
        lines.append(f"{head}: {run.error or 'no message'}")
        lines += [f"  partial: {_affected(run.partial)}", f"  stale: {_affected(run.stale)}"]
        owners = sorted({*run.owners, *run.partial.owners, *run.stale.owners})
        if owners:
            lines.append(f"  notify {', '.join(owners)}")
    return _listed(lines, lines_max=4 * _LINES_MAX)


def findings(answer: Findings) -> list[str]:
    """Summarise findings: what is wrong where, since when, who is affected, and what caused it."""
    lines = [f"findings: {len(answer.findings)}{', more exist' if answer.more else ''}"]
    for one in answer.findings:
        state = f"resolved {_time(one.resolved_at)}" if one.resolved_at else "open"
        lines.append(f"{one.severity} {one.rule} {one.urn} {state} since {_time(one.first_seen)}")
        affected = one.affected
        lines.append(
            f"  affected: {affected.answers} answers, {affected.datasets} datasets, "
            f"{affected.jobs} jobs, {affected.critical} critical"
        )
        if one.root != one.id:
            lines.append(f"  caused by {one.root}")
        if one.owners:
            lines.append(f"  notify {', '.join(one.owners)}")
    return _listed(lines, lines_max=4 * _LINES_MAX)


def root_cause(answer: RootCause) -> list[str]:
    """Summarise causes, the most likely first."""
    lines = [f"possible causes: {len(answer.candidates)}"]
    lines += _listed(
        f"weight {one.weight} {one.kind} {_time(one.occurred_at)}: {one.reason} ({one.urn})"
        for one in answer.candidates
    )
    return [*lines, *_stale(answer.stale), *_truncation(answer)]


def impact(answer: Impact) -> list[str]:
    """Summarise the effect of a change: the risk, and the affected assets."""
    breaking, unknown = answer.breaking_count, answer.unknown_count
    counts = f"{breaking} breaking, {unknown} unknown, {answer.warning_count} warnings"
    lines = [f"risk {answer.risk_level}: {counts}"]
    lines += _listed(
        f"{one.severity} {one.kind} {one.name} ({', '.join(one.affected_references)})"
        for one in answer.affected_assets
    )
    if answer.owners:
        lines.append(f"notify {', '.join(answer.owners)}")
    if answer.hidden_affected:
        lines.append("an asset that the key may not see is affected too")
    lines += map(_clip, answer.notes)
    return lines + ([f"truncated by {answer.truncated}"] if answer.truncated else [])


def _node(node: Node) -> str:
    distance = "" if node.distance is None else f"{node.distance} "
    return f"{distance}{node.kind} {node.name} ({node.urn})"


def _fields(details: msgspec.Struct) -> list[str]:
    lines = []
    for name, value in msgspec.structs.asdict(details).items():
        if value not in (None, (), ""):
            lines.append(_clip(f"  {name}: {_value(value)}"))
    return lines


def _value(value: Any) -> str:
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, tuple):
        shown = ", ".join(_value(one) for one in value[:_LINES_MAX])
        return f"{shown}, …" if len(value) > _LINES_MAX else shown
    if isinstance(value, msgspec.Struct) and not isinstance(value, Ref):
        parts = msgspec.structs.asdict(value)
        return " ".join(_value(part) for part in parts.values() if part not in (None, (), ""))
    return text_of(str(value))


def _stale(entries: Iterable[Stale]) -> list[str]:
    return _listed(
        f"stale: {one.dataset} since {_time(one.at)}: {one.reason}"
        + (f"; tell {', '.join(one.owners)}" if one.owners else "")
        for one in entries
    )


def _affected(entities: Affected) -> str:
    counts = [
        f"{name} {len(urns)}" + (f" ({', '.join(map(str, urns[:5]))})" if urns else "")
        for name, urns in (("datasets", entities.datasets), ("answers", entities.answers))
    ]
    return ", ".join(counts)


def _truncation(answer: Lineage | Trace | RootCause) -> list[str]:
    return [f"truncated by {answer.truncated_by}: more exists"] if answer.truncated else []


def _rows(version: Any) -> str:
    return "" if version.row_count is None else f" {version.row_count:,} rows"


def _time(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}" if instant else "at an unknown time"


def _clip(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _CHARACTERS_MAX else f"{line[: _CHARACTERS_MAX - 1]}…"


def _listed(lines: Iterable[str], *, lines_max: int = _LINES_MAX) -> list[str]:
    """Return the first lines, each clipped, and the number of the others."""
    texts: Sequence[str] = [_clip(line) for line in lines]
    more = len(texts) - lines_max
    return [*texts[:lines_max], *([f"and {more} more"] if more > 0 else [])]
