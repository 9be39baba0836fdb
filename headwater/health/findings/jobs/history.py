"""The history of a job, as its detectors get it: its newest runs, and what it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

# The newest runs of a job that are examined.
RUNS_MAX = 200
# By default a stream may be this many records behind its end.
LAG_LIMIT = 10_000


@dataclass(frozen=True)
class ParentFact:
    """The run that contains a run: its status, the hash of its code, and its own datasets."""

    status: str
    code_hash: str | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


@dataclass(frozen=True)
class LagFact:
    """How many records of a topic a run had not read, by one of its events."""

    dataset: str
    instant: datetime
    lag: int


@dataclass(frozen=True)
class LagStart:
    """The first report above the limit, of those before the runs that were read."""

    run: str
    instant: datetime


@dataclass(frozen=True)
class RunFact:
    """One run of the job.

    started: the start of its last attempt, by the producer's clock.
    ended: the end of its last attempt. Of an abandoned run: its last event. None while it runs.
    slot: the job and the nominal time; runs of one slot are retries of each other. A mapped task
      adds `#` and its index.
    execution: the urn of its root run, or else of its parent run; None without both.
    code_version: the version of the code that the producer declares.
    code_hash: the hash of its source code, or else of its SQL.
    reads, writes: the urns of datasets, sorted. What a failed run wrote is incomplete.
    parent: the run that contains it, such as the task of a query.
    lags: what it reported of the topics that it read, by topic and time.
    """

    urn: str
    status: str
    started: datetime
    ended: datetime | None = None
    nominal_start: datetime | None = None
    slot: str | None = None
    attempt: int | None = None
    execution: str | None = None
    error: str | None = None
    code_version: str | None = None
    code_hash: str | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    parent: ParentFact | None = None
    lags: tuple[LagFact, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Return True if the run succeeded."""
        return self.status == "COMPLETE"

    @property
    def seconds(self) -> float | None:
        """Return how long the last attempt took; None while it runs."""
        return (self.ended - self.started).total_seconds() if self.ended else None


@dataclass(frozen=True)
class OutputFact:
    """A dataset that the job writes, and who uses it.

    is_current: True if the newest successful execution wrote it or the newest declaration names it.
    readers: jobs and datasets that currently take data from it, at most 20, without the job itself.
    answers: answers that cite it, at most 20.
    """

    urn: str
    is_current: bool = True
    tags: tuple[str, ...] = ()
    type: str | None = None
    readers: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """When an orchestrator starts the job: by cron expressions in a time zone, or by an interval.

    timezone: a name of the IANA time zone database.
    """

    crons: tuple[str, ...] = ()
    timezone: str = "UTC"
    interval_seconds: float = 0.0


@dataclass(frozen=True)
class JobHistory:
    """A job with its newest runs, oldest first.

    inputs: the urns of the datasets that it currently reads.
    containers: the jobs that contain it, nearest first, such as the DAG of a task.
    is_contained: True if one of them reports runs of its own.
    is_container: True if it contains other jobs, or passes data to or from one without a dataset.
    is_covered: True if a job that contains it reads or writes datasets.
    is_truncated: True if the job has older runs that were not read.
    active_days: the days (in UTC) within four weeks before its newest run on which it ran, if runs
      were not read.
    failing_run, failing_since: the first failed run since the success before these runs, and when
      it failed; None if all runs were read or the first of them did not fail.
    lag_limit: how many records of a topic the job may be behind.
    lagging_since: by topic, since when the job lags, if it lagged before these runs.
    """

    urn: str
    namespace: str
    name: str
    runs: tuple[RunFact, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[OutputFact, ...] = ()
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    type: str | None = None
    is_streaming: bool = False
    schedule: Schedule | None = None
    containers: tuple[str, ...] = ()
    is_contained: bool = False
    is_container: bool = False
    is_covered: bool = False
    first_seen: datetime | None = None
    deprecated_at: datetime | None = None
    deleted_at: datetime | None = None
    is_truncated: bool = False
    active_days: tuple[date, ...] = ()
    failing_run: str | None = None
    failing_since: datetime | None = None
    lag_limit: int = LAG_LIMIT
    lagging_since: Mapping[str, LagStart] = field(default_factory=dict)

    @property
    def since(self) -> datetime | None:
        """Return the start of the oldest run that was read; None if all runs were read."""
        return self.runs[0].started if self.is_truncated and self.runs else None
