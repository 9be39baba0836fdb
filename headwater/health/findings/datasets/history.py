"""The history of a dataset, as its detectors read it. Times come from events.

Sequences are in order of time, earliest first, unless a field states otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from headwater.schema.contracts import ContractVersion
from headwater.schema.drift import Fields

# The newest complete, and the newest incomplete, versions of a dataset that are read.
VERSIONS_MAX = 200

# (column, measure) -> value. A measure is one of `datasets/measures.py`.
Measures = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Version:
    """A version that a run wrote.

    created_at: the end of the attempt that wrote it; its start before that.
    complete: True if that attempt succeeded.
    write_mode: append or overwrite; None if it is unknown.
    fields: the types of its columns; None if no schema was reported with it.
    """

    urn: str
    run: str
    job: str
    created_at: datetime
    complete: bool = True
    row_count: int | None = None
    bytes: int | None = None
    write_mode: str | None = None
    schema_hash: str | None = None
    fields: Fields | None = None


@dataclass(frozen=True)
class Check:
    """The result of a check of the data; `column` is "" for a check of the whole dataset."""

    name: str
    column: str
    success: bool
    severity: str = ""
    expected: str = ""
    actual: str = ""


@dataclass(frozen=True)
class Report:
    """What one run, or one event of the dataset itself, reported about the data.

    version: the urn of the version or the source that the run read or wrote; "" without a run.
    is_write: True if the run wrote the version.
    """

    at: datetime
    run: str = ""
    job: str = ""
    version: str = ""
    is_write: bool = False
    checks: tuple[Check, ...] = ()
    measures: Measures = field(default_factory=dict)
    row_count: float | None = None
    last_updated: datetime | None = None


@dataclass(frozen=True)
class Schema:
    """A schema of a dataset, with its first and its newest observation in any event."""

    urn: str
    fields: Fields
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True)
class ReaderRun:
    """A complete run of a job that reads the dataset."""

    urn: str
    started_at: datetime
    ended_at: datetime


@dataclass(frozen=True)
class Reader:
    """A job that reads the dataset, or did.

    columns: the columns that it uses; None if its column lineage is not known.
    runs: its newest complete runs.
    """

    job: str
    is_current: bool
    first_seen: datetime
    last_seen: datetime
    owners: tuple[str, ...] = ()
    columns: frozenset[str] | None = None
    runs: tuple[ReaderRun, ...] = ()


@dataclass(frozen=True)
class FailedRun:
    """A failed or aborted run of a job that writes the dataset."""

    urn: str
    job: str
    at: datetime
    status: str = "FAIL"
    error: str = ""


@dataclass(frozen=True)
class Producer:
    """A job that writes the dataset, with its newest failed runs.

    is_retired: True if a person deprecated the job.
    failures: of a job that writes other datasets in other runs, only those that name this one.
    """

    job: str
    first_seen: datetime
    is_streaming: bool = False
    is_retired: bool = False
    failures: tuple[FailedRun, ...] = ()


@dataclass(frozen=True)
class Upstream:
    """A dataset from which a current producer makes the dataset; `first_seen` of that link."""

    urn: str
    job: str
    tags: tuple[str, ...]
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True)
class Citation:
    """An answer that cites the dataset; `column` is "" if it cites a version of it."""

    answer: str
    column: str = ""
    generated_at: datetime | None = None


@dataclass(frozen=True)
class Described:
    """A text about the dataset or one of its columns.

    place: name, description, tags; or columns.NAME.name, columns.NAME.description.
    """

    place: str
    text: str


@dataclass(frozen=True)
class DatasetHistory:
    """Everything that the detectors of a dataset read.

    deprecated_at: when a person deprecated it; None if it is not deprecated.
    versions: the newest complete and the newest incomplete ones.
    reports: the newest ones about its versions, about it as a source, and by its own events.
    updates: the reported times of the last update of its data, each once.
    is_source: True if somebody registered it as a source, or tagged it as one.
    producers: the jobs that write it now.
    former_producers: other jobs that wrote it, without their failures.
    is_linked: True if it comes from another dataset, or another from it, and no job is known.
    columns: the columns of its current schema.
    contracts: every version of every data contract about it, by id, oldest first.
    """

    urn: str
    namespace: str = ""
    name: str = ""
    type: str = ""
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    dropped_at: datetime | None = None
    deleted_at: datetime | None = None
    deprecated_at: datetime | None = None
    deprecation: str = ""
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    descriptions: tuple[Described, ...] = ()
    versions: tuple[Version, ...] = ()
    reports: tuple[Report, ...] = ()
    schemas: tuple[Schema, ...] = ()
    updates: tuple[datetime, ...] = ()
    producers: tuple[Producer, ...] = ()
    former_producers: tuple[Producer, ...] = ()
    readers: tuple[Reader, ...] = ()
    upstream: tuple[Upstream, ...] = ()
    citations: tuple[Citation, ...] = ()
    is_source: bool = False
    is_linked: bool = False
    contracts: tuple[ContractVersion, ...] = ()

    @property
    def is_gone(self) -> bool:
        """Return True if it was dropped or deleted."""
        return self.dropped_at is not None or self.deleted_at is not None

    @property
    def is_kept_up(self) -> bool:
        """Return True if jobs that run in batches still write it."""
        kept = any(not producer.is_retired for producer in self.producers)
        return kept and not any(producer.is_streaming for producer in self.producers)

    @property
    def is_promised_up(self) -> bool:
        """Return True if it is kept up, or if no job writes it now and the last one may do so."""
        if self.producers:
            return self.is_kept_up
        last = self.complete_versions[-1].job if self.complete_versions else ""
        return any(
            one.job == last and not (one.is_retired or one.is_streaming)
            for one in self.former_producers
        )

    @property
    def complete_versions(self) -> tuple[Version, ...]:
        """Return the complete versions, earliest first."""
        return tuple(version for version in self.versions if version.complete)

    @property
    def current_readers(self) -> tuple[Reader, ...]:
        """Return the jobs that read it now."""
        return tuple(reader for reader in self.readers if reader.is_current)
