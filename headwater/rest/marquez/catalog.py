"""Marquez' catalog: namespaces, datasets, jobs, runs, versions, sources and tags."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

from msgspec import Meta

from headwater.cypher.driver.database import Row
from headwater.errors import NotFoundError
from headwater.lineage.nodes import read_all_facets, read_nodes, resolve_urn
from headwater.lineage.questions import catalog
from headwater.lineage.view import GraphView
from headwater.rest.marquez import models, shapes
from headwater.rest.operations import ArgumentError, Operation, OperationRequest
from headwater.schema.urns import dataset_urn, guid_of, job_urn, run_urn

# The number of a dataset's newest versions that are searched for one version.
_VERSIONS_MAX = 10_000
_LATEST_RUNS = 10


class DatasetParams(models.NamespaceParams, kw_only=True):
    dataset: models.Text


class DatasetPageParams(models.NamespacePageParams, kw_only=True):
    dataset: models.Text


class DatasetVersionParams(DatasetParams, kw_only=True):
    version: models.Text


class JobParams(models.NamespaceParams, kw_only=True):
    job: models.Text


class JobPageParams(models.NamespacePageParams, kw_only=True):
    job: models.Text


class JobVersionParams(JobParams, kw_only=True):
    version: models.Text


class JobsParams(models.Page, kw_only=True):
    last_run_states: Annotated[
        str, Meta(description="States of the newest run, separated by commas.")
    ] = ""


class NamespaceJobsParams(JobsParams, kw_only=True):
    namespace: models.Text


class RunParams(models.Model):
    id: models.Text


class FacetsParams(models.Model, kw_only=True):
    id: models.Text
    type: Literal["run", "job"] = "run"


class SourceParams(models.Model):
    source: models.Text


def list_namespaces(request: OperationRequest) -> models.Namespaces:
    page: models.Page = request.params
    rows = catalog.namespaces(request.view, skip=page.offset, limit=page.limit)
    return models.Namespaces(namespaces=[_namespace(row) for row in rows])


def get_namespace(request: OperationRequest) -> models.Namespace:
    return require_namespace(request.view, request.params.namespace)


def _namespace(row: Row) -> models.Namespace:
    return models.Namespace(
        name=row["namespace"],
        created_at=row["first"] or shapes.NEVER,
        updated_at=row["last"] or shapes.NEVER,
    )


def require_namespace(view: GraphView, name: str) -> models.Namespace:
    """Return a namespace. Raises NotFoundError."""
    row = catalog.namespace(view, name)
    if row is None:
        raise NotFoundError(f"Namespace '{name}' not found.")
    return _namespace(row)


def list_datasets(request: OperationRequest) -> models.Datasets:
    page: models.NamespacePageParams = request.params
    require_namespace(request.view, page.namespace)
    listed = catalog.datasets_in_namespace(
        request.view, page.namespace, skip=page.offset, limit=page.limit
    )
    return models.Datasets(
        datasets=[*shapes.datasets(request.view, listed.urns).values()],
        total_count=listed.total,
    )


def get_dataset(request: OperationRequest) -> models.Dataset:
    urn = require_dataset(request.view, request.params)
    return shapes.datasets(request.view, [urn], with_columns=True)[urn]


def require_dataset(view: GraphView, params: DatasetParams | DatasetPageParams) -> str:
    """Return the urn of a dataset by any of its names. Raises NotFoundError."""
    urn = dataset_urn(params.namespace, params.dataset)
    nodes = read_nodes(view, [urn]) or read_nodes(view, [resolve_urn(view, urn)])
    shown = [urn for urn, row in nodes.items() if not row.get("deletedAt")]
    if not params.dataset or not shown:
        raise NotFoundError(f"Dataset '{params.dataset}' not found.")
    return shown[0]


def require_job(view: GraphView, params: JobParams | JobPageParams) -> str:
    """Return the urn of a job. Raises NotFoundError."""
    urn = job_urn(params.namespace, params.job)
    row = read_nodes(view, [urn]).get(urn)
    if not params.job or row is None or row.get("deletedAt"):
        raise NotFoundError(f"Job '{params.job}' not found.")
    return urn


def list_dataset_versions(request: OperationRequest) -> models.DatasetVersions:
    page: DatasetPageParams = request.params
    urn = require_dataset(request.view, page)
    listed = catalog.versions_of_dataset(request.view, urn, skip=page.offset, limit=page.limit)
    return models.DatasetVersions(
        versions=shapes.versions(request.view, urn, listed.urns), total_count=listed.total
    )


def get_dataset_version(request: OperationRequest) -> models.DatasetVersion:
    params: DatasetVersionParams = request.params
    urn = require_dataset(request.view, params)
    listed = catalog.versions_of_dataset(request.view, urn, skip=0, limit=_VERSIONS_MAX)
    matching = [urn for urn in listed.urns if params.version in (guid_of(urn), urn)]
    versions = shapes.versions(request.view, urn, matching)
    if not versions:
        raise NotFoundError(f"Dataset version '{params.version}' not found.")
    return versions[0]


def list_all_jobs(request: OperationRequest) -> models.Jobs:
    page: JobsParams = request.params
    states = _statuses(page.last_run_states)
    listed = catalog.jobs_by_last_seen(
        request.view, states=states, skip=page.offset, limit=page.limit
    )
    return models.Jobs(
        jobs=[*shapes.jobs(request.view, listed.urns).values()], total_count=listed.total
    )


def list_jobs(request: OperationRequest) -> models.Jobs:
    page: NamespaceJobsParams = request.params
    require_namespace(request.view, page.namespace)
    states = _statuses(page.last_run_states)
    listed = catalog.jobs_in_namespace(
        request.view, page.namespace, states=states, skip=page.offset, limit=page.limit
    )
    return models.Jobs(
        jobs=[*shapes.jobs(request.view, listed.urns).values()], total_count=listed.total
    )


def _statuses(states: str) -> list[str] | None:
    """Return the run statuses of Marquez' states; None if no state is given."""
    names = [state.strip().upper() for state in states.split(",") if state.strip()]
    for name in names:
        if name not in shapes.STATUSES:
            raise ArgumentError(
                f"{name[:40]!r} is not one of {', '.join(shapes.STATUSES)}", field="lastRunStates"
            )
    if not names:
        return None
    return list(chain.from_iterable(shapes.STATUSES[name] for name in names))


def get_job(request: OperationRequest) -> models.Job:
    return _job(request.view, request.params)


def _job(view: GraphView, params: JobParams) -> models.Job:
    urn = require_job(view, params)
    return shapes.jobs(view, [urn], runs_max=_LATEST_RUNS)[urn]


def list_job_versions(request: OperationRequest) -> models.JobVersions:
    page: JobPageParams = request.params
    job = _job(request.view, JobParams(namespace=page.namespace, job=page.job))
    versions = [_job_version(job)] if page.offset == 0 and page.limit else []
    return models.JobVersions(versions=versions, total_count=1)


def get_job_version(request: OperationRequest) -> models.JobVersion:
    params: JobVersionParams = request.params
    job = _job(request.view, params)
    if params.version != job.current_version:
        raise NotFoundError(f"Job version '{params.version}' not found.")
    return _job_version(job)


def _job_version(job: models.Job) -> models.JobVersion:
    return models.JobVersion(
        id=models.Version(namespace=job.namespace, name=job.name, version=job.current_version),
        name=job.name,
        version=job.current_version,
        namespace=job.namespace,
        created_at=job.created_at,
        inputs=job.inputs,
        outputs=job.outputs,
        location=job.location,
        latest_run=job.latest_run,
        facets=job.facets,
    )


def list_runs(request: OperationRequest) -> models.Runs:
    page: JobPageParams = request.params
    urn = require_job(request.view, page)
    listed = catalog.runs_of_job(request.view, urn, skip=page.offset, limit=page.limit)
    runs = shapes.runs(request.view, listed.urns)
    return models.Runs(
        runs=[runs[run] for run in listed.urns if run in runs], total_count=listed.total
    )


def get_run(request: OperationRequest) -> models.Run:
    runs = shapes.runs(request.view, [resolve_urn(request.view, run_urn(request.params.id))])
    if not runs:
        raise NotFoundError(f"Run '{request.params.id}' not found.")
    return next(iter(runs.values()))


def get_run_facets(request: OperationRequest) -> models.RunFacets:
    params: FacetsParams = request.params
    urn = resolve_urn(request.view, run_urn(params.id))
    if not read_nodes(request.view, [urn]):
        raise NotFoundError(f"Run '{params.id}' not found.")
    if params.type == "job":
        facets = read_all_facets(request.view, shapes.jobs_of(request.view, urn)[:1])
        return models.RunFacets(run_id=params.id, facets=next(iter(facets.values()), {}))
    return models.RunFacets(
        run_id=params.id, facets=read_all_facets(request.view, [urn]).get(urn, {})
    )


def list_sources(request: OperationRequest) -> models.Sources:
    page: models.Page = request.params
    rows = catalog.data_sources(request.view, skip=page.offset, limit=page.limit)
    return models.Sources(sources=[shapes.source_of(row) for row in rows])


def get_source(request: OperationRequest) -> models.Source:
    name = request.params.source
    row = catalog.data_source(request.view, name)
    if row is None:
        raise NotFoundError(f"Source '{name}' not found.")
    return shapes.source_of(row)


def list_tags(request: OperationRequest) -> models.Tags:
    page: models.Page = request.params
    rows = catalog.tags(request.view, skip=page.offset, limit=page.limit)
    return models.Tags(
        tags=[models.Tag(name=row["tag"], description=row["description"]) for row in rows]
    )


_NAMED = "/namespaces/{namespace}"
_DATASET = f"{_NAMED}/datasets/{{dataset}}"
_JOB = f"{_NAMED}/jobs/{{job}}"
_NOT_FOUND = {404: "Nothing has this name."}

OPERATIONS = (
    Operation("GET", "/namespaces", "Namespaces", list_namespaces, models.Namespaces, models.Page),
    Operation(
        "GET",
        _NAMED,
        "A namespace",
        get_namespace,
        models.Namespace,
        models.NamespaceParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "GET",
        f"{_NAMED}/datasets",
        "Datasets",
        list_datasets,
        models.Datasets,
        models.NamespacePageParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "GET", _DATASET, "A dataset", get_dataset, models.Dataset, DatasetParams, errors=_NOT_FOUND
    ),
    Operation(
        "GET",
        f"{_DATASET}/versions",
        "The versions of a dataset",
        list_dataset_versions,
        models.DatasetVersions,
        DatasetPageParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "GET",
        f"{_DATASET}/versions/{{version}}",
        "A version of a dataset",
        get_dataset_version,
        models.DatasetVersion,
        DatasetVersionParams,
        errors=_NOT_FOUND,
    ),
    Operation("GET", "/jobs", "Jobs of all namespaces", list_all_jobs, models.Jobs, JobsParams),
    Operation(
        "GET",
        f"{_NAMED}/jobs",
        "Jobs",
        list_jobs,
        models.Jobs,
        NamespaceJobsParams,
        errors=_NOT_FOUND,
    ),
    Operation("GET", _JOB, "A job", get_job, models.Job, JobParams, errors=_NOT_FOUND),
    Operation(
        "GET",
        f"{_JOB}/versions",
        "The versions of a job",
        list_job_versions,
        models.JobVersions,
        JobPageParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "GET",
        f"{_JOB}/versions/{{version}}",
        "A version of a job",
        get_job_version,
        models.JobVersion,
        JobVersionParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "GET",
        f"{_JOB}/runs",
        "The runs of a job",
        list_runs,
        models.Runs,
        JobPageParams,
        errors=_NOT_FOUND,
    ),
    Operation("GET", "/jobs/runs/{id}", "A run", get_run, models.Run, RunParams, errors=_NOT_FOUND),
    Operation(
        "GET",
        "/jobs/runs/{id}/facets",
        "The facets of a run or of its job",
        get_run_facets,
        models.RunFacets,
        FacetsParams,
        errors=_NOT_FOUND,
    ),
    Operation("GET", "/sources", "Where datasets are", list_sources, models.Sources, models.Page),
    Operation(
        "GET",
        "/sources/{source}",
        "A source",
        get_source,
        models.Source,
        SourceParams,
        errors=_NOT_FOUND,
    ),
    Operation("GET", "/tags", "Tags", list_tags, models.Tags, models.Page),
)
