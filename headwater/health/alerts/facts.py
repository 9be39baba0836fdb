"""What the lineage graph adds to an alert: how fresh the data is, recent violations, the last
successful runs, candidates for the root cause, what to run again, and traces.

Each part is one bounded question. A part that cannot be answered in time is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class DatasetAge:
    """The newest data of a dataset, and the oldest of the sources that it was made from."""

    dataset: str
    newest_at: datetime | None
    oldest_source: str | None
    oldest_source_at: datetime | None


@dataclass(frozen=True)
class Violation:
    """A failed check, or a finding of drift, near the root of an alert."""

    node: str
    text: str
    at: datetime | None


@dataclass(frozen=True)
class LastSuccess:
    """The newest successful run of an affected job, or that wrote an affected dataset."""

    node: str
    run: str | None
    at: datetime | None


@dataclass(frozen=True)
class Cause:
    """A candidate for the root cause, with the node to look at."""

    node: str
    text: str
    at: datetime | None


@dataclass(frozen=True)
class Replay:
    """The runs to repeat, in order; jobs of one step may run at the same time.

    `run` is the corrupt run that the plan starts from.
    """

    run: str
    steps: tuple[tuple[str, ...], ...]
    runs: int
    answers: int


@dataclass(frozen=True)
class TraceOfRun:
    """A trace of a run that shows a finding; `url` is None without HEADWATER_TRACE_URL."""

    trace_id: str
    run: str
    url: str | None


@dataclass(frozen=True)
class AlertFacts:
    """All of these; a part without results is empty."""

    freshness: tuple[DatasetAge, ...] = ()
    violations: tuple[Violation, ...] = ()
    last_successes: tuple[LastSuccess, ...] = ()
    causes: tuple[Cause, ...] = ()
    replay: Replay | None = None
    traces: tuple[TraceOfRun, ...] = ()


NO_FACTS = AlertFacts()
