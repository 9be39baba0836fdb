"""The entries of answers: frozen types with the fields of the GraphQL schema in Python's spelling.

An instant is a `datetime` with a zone. A field that the API does not know is None.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, rename="camel", repr_omit_defaults=True):
    """One entry of an answer."""


class Ref(Record, frozen=True):
    """A node by its urn."""

    urn: str

    def __str__(self) -> str:
        return self.urn


class Node(Record, frozen=True, kw_only=True):
    """A node of a lineage or of a search. A hidden node has the kind HIDDEN and no name."""

    urn: str
    kind: str
    name: str
    namespace: str | None = None
    distance: int | None = None


class Edge(Record, frozen=True):
    """An edge: data flows from `source` to `target`. `type` is FEEDS, PRODUCED or CITED_BY."""

    source: str
    target: str
    type: str


class Source(Record, frozen=True, kw_only=True):
    """A version of a dataset that no known run produced."""

    urn: str
    namespace: str
    name: str
    registered: bool = False
    origin: str | None = None
    format: str | None = None
    row_count: int | None = None
    captured_at: datetime | None = None
    checksum: str | None = None


class Artifact(Record, frozen=True, kw_only=True):
    """A version of a dataset that one run produced. `complete` is False for partial data."""

    urn: str
    namespace: str
    name: str
    status: str
    complete: bool
    run_id: str | None = None
    version: str | None = None
    type: str | None = None
    created_at: datetime | None = None
    row_count: int | None = None
    bytes: int | None = None
    storage_path: str | None = None


class Run(Record, frozen=True, kw_only=True):
    """One execution of a job."""

    urn: str
    run_id: str
    status: str
    namespace: str | None = None
    pipeline_name: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    failed_at: datetime | None = None
    duration_seconds: float | None = None
    error: str | None = None
    version: str | None = None
    attempt: int | None = None


class Answer(Record, frozen=True, kw_only=True):
    """A report, dashboard number, prediction or decision."""

    urn: str
    answer_id: str
    type: str | None = None
    content: str | None = None
    generated_at: datetime | None = None
    generated_by: str | None = None
    url: str | None = None
    owners: tuple[str, ...] = ()


class Column(Record, frozen=True, kw_only=True):
    """A column of a dataset. `current` is False if the newest schema lacks it."""

    urn: str
    namespace: str
    dataset_name: str
    name: str
    type: str | None = None
    current: bool = True


class Dataset(Record, frozen=True, kw_only=True):
    """A named place where data lives."""

    urn: str
    namespace: str
    name: str
    type: str | None = None
    description: str | None = None
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    lifecycle: str | None = None
    first_seen: datetime | None = None
    last_seen: datetime | None = None


class Job(Record, frozen=True, kw_only=True):
    """A named process that reads and writes datasets."""

    urn: str
    namespace: str
    name: str
    type: str | None = None
    integration: str | None = None
    description: str | None = None
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    first_seen: datetime | None = None
    last_seen: datetime | None = None


class Name(Record, frozen=True):
    """A dataset by namespace and name."""

    namespace: str
    name: str


class SchemaField(Record, frozen=True):
    """A column of the current schema."""

    name: str
    type: str | None = None


class DatasetDetails(Dataset, frozen=True, kw_only=True):
    """A dataset with its schema, its jobs, its 10 newest versions and its 20 newest answers."""

    sub_type: str | None = None
    dropped_at: datetime | None = None
    storage: str | None = None
    file_format: str | None = None
    source_name: str | None = None
    fields: tuple[SchemaField, ...] = ()
    aliases: tuple[Name, ...] = ()
    produced_by: tuple[Ref, ...] = ()
    read_by: tuple[Ref, ...] = ()
    versions: tuple[Artifact, ...] = ()
    answers: tuple[Answer, ...] = ()


class JobDetails(Job, frozen=True, kw_only=True):
    """A job with its code, its datasets and its 10 newest runs."""

    sql: str | None = None
    language: str | None = None
    code_url: str | None = None
    code_path: str | None = None
    code_version: str | None = None
    inputs: tuple[Ref, ...] = ()
    outputs: tuple[Ref, ...] = ()
    parents: tuple[Ref, ...] = ()
    runs: tuple[Run, ...] = ()


class RunDetails(Run, frozen=True, kw_only=True):
    """A run with its datasets, the versions that it made, and the runs around it."""

    attempts: int | None = None
    retried: bool = False
    engine: str | None = None
    triggered_by: str | None = None
    nominal_start: datetime | None = None
    tests_passed: int | None = None
    failed_tests: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    inputs: tuple[Ref, ...] = ()
    outputs: tuple[Ref, ...] = ()
    artifacts: tuple[Ref, ...] = ()
    parents: tuple[Ref, ...] = ()
    children: tuple[Ref, ...] = ()


class AnswerDetails(Answer, frozen=True, kw_only=True):
    """An answer with the nodes that it cites."""

    citations: tuple[Ref, ...] = ()


class Stale(Record, frozen=True, kw_only=True):
    """A dataset that is out of date behind a result: why, since when, and whom to tell."""

    reason: str
    at: datetime
    dataset: Ref
    owners: tuple[str, ...] = ()
    used_version: Ref | None = None
    newer_version: Ref | None = None
    failed_run: Ref | None = None


class Affected(Record, frozen=True, kw_only=True):
    """The nodes that a failure touches, and the owners to notify."""

    datasets: tuple[Ref, ...] = ()
    jobs: tuple[Ref, ...] = ()
    runs: tuple[Ref, ...] = ()
    artifacts: tuple[Ref, ...] = ()
    answers: tuple[Ref, ...] = ()
    owners: tuple[str, ...] = ()
    truncated: bool = False


class FailedRun(Run, frozen=True, kw_only=True):
    """A failed run.

    `partial` has what was built from data that it wrote before it failed, `stale` what waits for
    data that it did not write.
    """

    run_uuid: str | None = None
    nominal_start: datetime | None = None
    attempts: int | None = None
    retried: bool = False
    engine: str | None = None
    triggered_by: str | None = None
    tests_passed: int | None = None
    failed_tests: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    resolved: bool = False
    resolved_at: datetime | None = None
    resolved_by: Ref | None = None
    downstream: Affected = Affected()
    partial: Affected = Affected()
    stale: Affected = Affected()


class Measure(Record, frozen=True, kw_only=True):
    """A measure of a column that left its baseline."""

    measure: str
    column: str | None = None
    value: float | None = None
    baseline_mean: float | None = None
    baseline_deviation: float | None = None
    deviations: float | None = None
    share: float | None = None
    version_count: int | None = None


class Candidate(Record, frozen=True, kw_only=True):
    """A possible cause of bad data; a larger weight is more likely."""

    kind: str
    weight: int
    reason: str
    urn: str
    occurred_at: datetime | None = None
    distance: int | None = None
    before: str | None = None
    after: str | None = None
    compared_with: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    run: Ref | None = None


class SourceAge(Record, frozen=True, kw_only=True):
    """The time of the data of one source; `exact` is False if the data may be older."""

    urn: str
    exact: bool
    newest_at: datetime | None = None


class Assertion(Record, frozen=True, kw_only=True):
    """The newest result of one check."""

    name: str
    success: bool
    column: str | None = None
    severity: str | None = None
    expected: str | None = None
    actual: str | None = None
    reported_at: datetime | None = None
    run_urn: str | None = None
    version_urn: str | None = None


class Quantile(Record, frozen=True):
    """The value at a quantile from 0 to 1."""

    q: float
    value: float


class ColumnMetrics(Record, frozen=True, kw_only=True):
    """The measurements of one column."""

    column: str
    null_count: int | None = None
    distinct_count: int | None = None
    sum: float | None = None
    count: float | None = None
    min: float | None = None
    max: float | None = None
    quantiles: tuple[Quantile, ...] = ()


class Metrics(Record, frozen=True, kw_only=True):
    """The measurements of one version."""

    row_count: int | None = None
    bytes: int | None = None
    file_count: int | None = None
    reported_at: datetime | None = None
    run_urn: str | None = None
    version_urn: str | None = None
    columns: tuple[ColumnMetrics, ...] = ()


class Continuation(Record, frozen=True):
    """A node at which a truncated lineage continues; pass its cursor as `after`."""

    urn: str
    cursor: str
    omitted_count: int


class Difference(Record, frozen=True, kw_only=True):
    """How the lineage graph of the second time differs from the first."""

    added_nodes: tuple[Node, ...]
    removed_nodes: tuple[Node, ...]
    added_edges: tuple[Edge, ...]
    removed_edges: tuple[Edge, ...]


class Evidence(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """The reason why an asset is affected: COLUMN_PATH, SQL_LINE or READS_ONLY."""

    kind: str
    path: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    text: str = ""
    unknown: tuple[str, ...] = ()


class AffectedAsset(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """An asset that a change reaches, and how badly."""

    name: str
    kind: str
    severity: str
    asset_type: str = ""
    urn: str | None = None
    namespace: str | None = None
    affected_references: tuple[str, ...] = ()
    distance: int | None = None
    owners: tuple[str, ...] = ()
    certified: bool = False
    outputs: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class FindingConsumer(Record, frozen=True, kw_only=True):
    """A node downstream of a finding; critical if it is certified, of a critical tier, or a
    model."""

    urn: str
    owners: tuple[str, ...] = ()
    is_critical: bool = False


class FindingImpact(Record, frozen=True, kw_only=True):
    """Who is downstream of a finding: numbers of all, and the first by urgency."""

    datasets: int = 0
    jobs: int = 0
    answers: int = 0
    critical: int = 0
    consumers: tuple[FindingConsumer, ...] = ()
    truncated: bool = False


class Finding(Record, frozen=True, kw_only=True):
    """A detected problem of one node; `resolved_at` is None while it is open.

    `severity` is P1, P2 or P3. `root` is the id of the finding that caused it, its own if none is
    known. `runbook` is a path on the server.
    """

    id: str
    rule: str
    title: str
    severity: str
    urn: str
    first_seen: datetime
    last_seen: datetime
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    evidence: dict[str, Any] = {}
    root: str
    owners: tuple[str, ...] = ()
    affected: FindingImpact = FindingImpact()
    runbook: str = ""
