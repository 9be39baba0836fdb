"""The types of Marquez' parameters and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta


class Model(msgspec.Struct, kw_only=True, rename="camel"):
    """A type of Marquez; its JSON keys are in camel case."""


class Name(Model):
    """The name of a dataset or job."""

    namespace: str
    name: str


class Version(Model):
    """The name of a version of a dataset or job."""

    namespace: str
    name: str
    version: str


class Namespace(Model):
    name: str
    created_at: datetime
    updated_at: datetime
    owner_name: str = "anonymous"
    description: str | None = None
    is_hidden: bool = False


class Namespaces(Model):
    namespaces: list[Namespace]


class Source(Model):
    """A source: the system in which datasets are."""

    type: str
    name: str
    created_at: datetime
    updated_at: datetime
    connection_url: str
    description: str | None = None


class Sources(Model):
    sources: list[Source]


class Tag(Model):
    name: str
    description: str | None = None


class Tags(Model):
    tags: list[Tag]


class Field(Model):
    name: str
    type: str | None
    tags: list[str]
    description: str | None


class InputField(Model):
    """A column from which another column is derived."""

    namespace: str
    dataset: str
    field: str
    dataset_version: str | None = None
    transformation_description: str | None = None
    transformation_type: str | None = None


class OutputField(Model):
    """A column with its input columns."""

    name: str
    input_fields: list[InputField]
    transformation_description: str | None = None
    transformation_type: str | None = None


RunState = Literal["NEW", "RUNNING", "COMPLETED", "FAILED", "ABORTED"]
DatasetType = Literal["DB_TABLE", "STREAM"]
JobType = Literal["BATCH", "STREAM", "SERVICE"]
Facets = dict[str, Any]


class Run(Model):
    id: str
    created_at: datetime
    updated_at: datetime
    nominal_start_time: datetime | None
    nominal_end_time: datetime | None
    state: RunState
    started_at: datetime | None
    ended_at: datetime | None
    duration_ms: int | None
    args: dict[str, str]
    job_version: Version | None
    input_versions: list[Version]
    output_versions: list[Version]
    facets: Facets


class Runs(Model):
    runs: list[Run]
    total_count: int


class Dataset(Model):
    id: Name
    type: DatasetType
    name: str
    physical_name: str
    created_at: datetime
    updated_at: datetime
    namespace: str
    source_name: str
    fields: list[Field]
    tags: list[str]
    last_modified_at: datetime | None
    last_lifecycle_state: str
    description: str | None
    current_version: str | None
    column_lineage: list[OutputField] | None
    facets: Facets
    deleted: bool


class Datasets(Model):
    datasets: list[Dataset]
    total_count: int


class DatasetVersion(Model):
    id: Version
    type: DatasetType
    name: str
    physical_name: str
    created_at: datetime
    version: str
    namespace: str
    source_name: str
    fields: list[Field]
    tags: list[str]
    description: str | None
    lifecycle_state: str
    created_by_run: Run | None
    facets: Facets


class DatasetVersions(Model):
    versions: list[DatasetVersion]
    total_count: int


class Job(Model):
    id: Name
    type: JobType
    name: str
    simple_name: str
    parent_job_name: str | None
    parent_job_uuid: str | None
    created_at: datetime
    updated_at: datetime
    namespace: str
    inputs: list[Name]
    outputs: list[Name]
    tags: list[str]
    location: str | None
    description: str | None
    latest_run: Run | None
    latest_runs: list[Run] | None
    facets: Facets
    current_version: str


class Jobs(Model):
    jobs: list[Job]
    total_count: int


class JobVersion(Model):
    id: Version
    name: str
    version: str
    namespace: str
    created_at: datetime
    inputs: list[Name]
    outputs: list[Name]
    location: str | None
    latest_run: Run | None
    facets: Facets


class JobVersions(Model):
    versions: list[JobVersion]
    total_count: int


class Edge(Model):
    origin: str
    destination: str


class DatasetNode(Model, kw_only=True, tag_field="type", tag="DATASET"):
    """A dataset with its neighbours."""

    id: str
    data: Dataset | None
    in_edges: list[Edge]
    out_edges: list[Edge]


class JobNode(Model, kw_only=True, tag_field="type", tag="JOB"):
    """A job with its neighbours."""

    id: str
    data: Job | None
    in_edges: list[Edge]
    out_edges: list[Edge]


class LineageGraph(Model):
    graph: list[DatasetNode | JobNode]


class ColumnData(Model):
    namespace: str
    dataset: str
    dataset_version: str | None
    field: str
    field_type: str | None
    transformation_description: str | None
    transformation_type: str | None
    input_fields: list[InputField]


class ColumnNode(Model):
    id: str
    type: Literal["DATASET_FIELD"]
    data: ColumnData
    in_edges: list[Edge]
    out_edges: list[Edge]


class ColumnGraph(Model):
    graph: list[ColumnNode]


class SearchResult(Model):
    type: Literal["DATASET", "JOB"]
    name: str
    updated_at: datetime
    namespace: str
    node_id: str


class SearchResults(Model):
    total_count: int
    results: list[SearchResult]


class Events(Model):
    """Events as the spool stores them."""

    events: list[dict[str, Any]]
    total_count: int


class RunFacets(Model):
    run_id: str
    facets: Facets


class RunCounts(Model):
    """The number of runs by outcome in an interval."""

    start_interval: datetime
    end_interval: datetime
    fail: int
    start: int
    complete: int
    abort: int


class Count(Model):
    """The number of assets at the end of an interval."""

    start_interval: datetime
    end_interval: datetime
    count: int


# Types of parameters.
Text = Annotated[str, Meta(max_length=4_000)]
Limit = Annotated[int, Meta(ge=0, le=1_000)]
Offset = Annotated[int, Meta(ge=0, le=1_000_000)]


class Page(Model):
    """The bounds of a page."""

    limit: Limit = 100
    offset: Offset = 0


class NamespaceParams(Model):
    namespace: Text


class NamespacePageParams(Page, kw_only=True):
    namespace: Text
