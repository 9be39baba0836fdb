"""Traces: the runs that name a trace id, and the newest traces of all runs.

A trace joins the runs of several systems that served one request. The graph has no node for it:
each run has the ids of its traces, and an index finds the runs of an id.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.errors import QueryError
from headwater.lineage.view import GraphView
from headwater.schema.traces import valid_trace_id

RUNS_MAX = 200
TRACES_MAX = 100
# The newest runs with traces among which the newest traces are found.
_RECENT_RUNS_MAX = 500


@dataclass(frozen=True)
class Trace:
    """A trace with the urns of its visible runs, newest start first.

    `truncated` is True if more than `RUNS_MAX` visible runs name it.
    """

    trace_id: str
    runs: list[str]
    truncated: bool


def require_trace_id(text: str) -> str:
    """Return a trace id in lower case. Raises QueryError if the text is none."""
    trace_id = valid_trace_id(text)
    if trace_id is None:
        raise QueryError(
            f"traceId {text[:80]!r} is not a trace id",
            hint="A trace id has 32 hexadecimal digits and is not all zeros.",
        )
    return trace_id


def find_trace(view: GraphView, trace_id: str) -> Trace:
    """Return a trace with its visible runs; without any for an unknown one.

    Raises QueryError for a malformed id.
    """
    [trace] = _read_traces(view, [require_trace_id(trace_id)])
    return trace


def newest_traces(view: GraphView, limit: int) -> list[Trace]:
    """Return the traces that the newest visible runs name, the newest first."""
    rows = view.read(
        "read/traces/newest_traced_runs",
        visible=view.visibility.regexes,
        limit=_RECENT_RUNS_MAX,
    )
    found: dict[str, None] = {}
    for row in rows:
        found.update(dict.fromkeys(row["traceIds"]))
    return _read_traces(view, list(found)[:limit])


def _read_traces(view: GraphView, trace_ids: list[str]) -> list[Trace]:
    rows = view.read(
        "read/traces/runs_of_traces",
        traceIds=trace_ids,
        visible=view.visibility.regexes,
        limit=RUNS_MAX + 1,
    )
    urns = {row["traceId"]: row["urns"] for row in rows}
    return [Trace(one, urns[one][:RUNS_MAX], len(urns[one]) > RUNS_MAX) for one in trace_ids]


def trace_link(template: str, trace_id: str) -> str | None:
    """Return the address of a trace in the tool that shows it; None without a template."""
    return template.replace("{traceId}", trace_id) if template else None
