"""Namespaces, datasets, jobs, runs, their versions, sources and tags, as lists and one by one."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from headwater.cypher.driver.database import Database, Row
from headwater.errors import NotFoundError
from headwater.lineage.nodes import read_all_facets, read_nodes, resolve
from headwater.lineage.questions import catalog as catalogue
from headwater.rest.marquez import models, shapes
from headwater.rest.operations import ArgumentError, Asked, Operation
from headwater.schema.urns import dataset_urn, guid_of, job_urn, run_urn

# Of a dataset's versions so many are looked through for one.
_VERSIONS_MAX = 10_000
_LATEST_RUNS = 10


class WhichDataset(models.InNamespace, kw_only=True):
    dataset: models.Text


class PageOfDataset(models.PageInNamespace, kw_only=True):
    dataset: models.Text


class WhichDatasetVersion(WhichDataset, kw_only=True):
    version: models.Text


class WhichJob(models.InNamespace, kw_only=True):
    job: models.Text


class PageOfJob(models.PageInNamespace, kw_only=True):
    job: models.Text


class WhichJobVersion(WhichJob, kw_only=True):
    version: models.Text


class JobPage(models.Page, kw_only=True):
    last_run_states: Annotated[
        str, Meta(description="States of the newest run, separated by commas.")
    ] = ""


class JobPageInNamespace(JobPage, kw_only=True):
    namespace: models.Text


class WhichRun(models.Model):
    id: models.Text


class WhichFacets(models.Model, kw_only=True):
    id: models.Text
    type: Literal["run", "job"] = "run"


class WhichSource(models.Model):
    source: models.Text


def list_namespaces(asked: Asked) -> models.Namespaces:
    page: models.Page = asked.arguments
    rows = catalogue.namespaces(asked.database, skip=page.offset, limit=page.limit)
    return models.Namespaces(namespaces=[_namespace(row) for row in rows])


def get_namespace(asked: Asked) -> models.Namespace:
    return _namespace(_required_namespace(asked.database, asked.arguments.namespace))


def _namespace(row: Row) -> models.Namespace:
    return models.Namespace(
        name=row["namespace"],
        created_at=row["first"] or shapes.NEVER,
        updated_at=row["last"] or shapes.NEVER,
    )


def _required_namespace(database: Database, name: str) -> Row:
    row = catalogue.namespace(database, name)
    if row is None:
        raise NotFoundError(f"Namespace '{name}' not found.")
    return row


def list_datasets(asked: Asked) -> models.Datasets:
    page: models.PageInNamespace = asked.arguments
    _required_namespace(asked.database, page.namespace)
    listed = catalogue.datasets_in(
        asked.database, page.namespace, skip=page.offset, limit=page.limit
    )
    return models.Datasets(
        datasets=[*shapes.datasets(asked.database, listed.urns).values()], total_count=listed.total
    )


def get_dataset(asked: Asked) -> models.Dataset:
    urn = _dataset(asked.database, asked.arguments)
    return shapes.datasets(asked.database, [urn], with_columns=True)[urn]


def _dataset(database: Database, which: WhichDataset | PageOfDataset) -> str:
    """The urn of a dataset, asked for by any of its names."""
    urn = dataset_urn(which.namespace, which.dataset)
    known = read_nodes(database, [urn]) or read_nodes(database, [resolve(database, urn)])
    if not which.dataset or not known:
        raise NotFoundError(f"Dataset '{which.dataset}' not found.")
    return next(iter(known))


def list_dataset_versions(asked: Asked) -> models.DatasetVersions:
    page: PageOfDataset = asked.arguments
    urn = _dataset(asked.database, page)
    listed = catalogue.versions_of(asked.database, urn, skip=page.offset, limit=page.limit)
    return models.DatasetVersions(
        versions=shapes.versions(asked.database, urn, listed.urns), total_count=listed.total
    )


def get_dataset_version(asked: Asked) -> models.DatasetVersion:
    which: WhichDatasetVersion = asked.arguments
    urn = _dataset(asked.database, which)
    listed = catalogue.versions_of(asked.database, urn, skip=0, limit=_VERSIONS_MAX)
    meant = [version for version in listed.urns if which.version in (guid_of(version), version)]
    found = shapes.versions(asked.database, urn, meant)
    if not found:
        raise NotFoundError(f"Dataset version '{which.version}' not found.")
    return found[0]


def list_all_jobs(asked: Asked) -> models.Jobs:
    page: JobPage = asked.arguments
    states = _statuses(page.last_run_states)
    listed = catalogue.jobs_newest(
        asked.database, states=states, skip=page.offset, limit=page.limit
    )
    return models.Jobs(
        jobs=[*shapes.jobs(asked.database, listed.urns).values()], total_count=listed.total
    )


def list_jobs(asked: Asked) -> models.Jobs:
    page: JobPageInNamespace = asked.arguments
    _required_namespace(asked.database, page.namespace)
    states = _statuses(page.last_run_states)
    listed = catalogue.jobs_in(
        asked.database, page.namespace, states=states, skip=page.offset, limit=page.limit
    )
    return models.Jobs(
        jobs=[*shapes.jobs(asked.database, listed.urns).values()], total_count=listed.total
    )


def _statuses(states: str) -> list[str] | None:
    """The statuses of runs that Marquez' states stand for; None where none is asked for."""
    asked = [state.strip().upper() for state in states.split(",") if state.strip()]
    for state in asked:
        if state not in shapes.STATUSES:
            raise ArgumentError(
                f"{state[:40]!r} is none of {', '.join(shapes.STATUSES)}", field="lastRunStates"
            )
    return [status for state in asked for status in shapes.STATUSES[state]] if asked else None


def get_job(asked: Asked) -> models.Job:
    return _job(asked.database, asked.arguments)


def _job(database: Database, which: WhichJob) -> models.Job:
    found = shapes.jobs(database, [job_urn(which.namespace, which.job)], runs_max=_LATEST_RUNS)
    if not which.job or not found:
        raise NotFoundError(f"Job '{which.job}' not found.")
    return next(iter(found.values()))


def list_job_versions(asked: Asked) -> models.JobVersions:
    page: PageOfJob = asked.arguments
    job = _job(asked.database, WhichJob(namespace=page.namespace, job=page.job))
    shown = [_job_version(job)] if page.offset == 0 and page.limit else []
    return models.JobVersions(versions=shown, total_count=1)


def get_job_version(asked: Asked) -> models.JobVersion:
    which: WhichJobVersion = asked.arguments
    job = _job(asked.database, which)
    if which.version != job.current_version:
        raise NotFoundError(f"Job version '{which.version}' not found.")
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


def list_runs(asked: Asked) -> models.Runs:
    page: PageOfJob = asked.arguments
    urn = job_urn(page.namespace, page.job)
    if not read_nodes(asked.database, [urn]):
        raise NotFoundError(f"Job '{page.job}' not found.")
    listed = catalogue.runs_of(asked.database, urn, skip=page.offset, limit=page.limit)
    found = shapes.runs(asked.database, listed.urns)
    return models.Runs(
        runs=[found[run] for run in listed.urns if run in found], total_count=listed.total
    )


def get_run(asked: Asked) -> models.Run:
    found = shapes.runs(asked.database, [run_urn(asked.arguments.id)])
    if not found:
        raise NotFoundError(f"Run '{asked.arguments.id}' not found.")
    return next(iter(found.values()))


def get_run_facets(asked: Asked) -> models.RunFacets:
    which: WhichFacets = asked.arguments
    urn = run_urn(which.id)
    if not read_nodes(asked.database, [urn]):
        raise NotFoundError(f"Run '{which.id}' not found.")
    if which.type == "job":
        found = read_all_facets(asked.database, shapes.jobs_of(asked.database, urn)[:1])
        return models.RunFacets(run_id=which.id, facets=next(iter(found.values()), {}))
    return models.RunFacets(
        run_id=which.id, facets=read_all_facets(asked.database, [urn]).get(urn, {})
    )


def list_sources(asked: Asked) -> models.Sources:
    page: models.Page = asked.arguments
    rows = catalogue.data_sources(asked.database, skip=page.offset, limit=page.limit)
    return models.Sources(sources=[shapes.source_of(row) for row in rows])


def get_source(asked: Asked) -> models.Source:
    wanted = asked.arguments.source
    row = catalogue.data_source(asked.database, wanted)
    if row is None:
        raise NotFoundError(f"Source '{wanted}' not found.")
    return shapes.source_of(row)


def list_tags(asked: Asked) -> models.Tags:
    page: models.Page = asked.arguments
    found = catalogue.tags(asked.database, skip=page.offset, limit=page.limit)
    return models.Tags(tags=[models.Tag(name=name) for name in found])


_NAMED = "/namespaces/{namespace}"
_DATASET = f"{_NAMED}/datasets/{{dataset}}"
_JOB = f"{_NAMED}/jobs/{{job}}"
_GONE = {404: "There is nothing of this name."}

OPERATIONS = (
    Operation("GET", "/namespaces", "Namespaces", list_namespaces, models.Namespaces, models.Page),
    Operation(
        "GET",
        _NAMED,
        "A namespace",
        get_namespace,
        models.Namespace,
        models.InNamespace,
        refusals=_GONE,
    ),
    Operation(
        "GET",
        f"{_NAMED}/datasets",
        "Datasets",
        list_datasets,
        models.Datasets,
        models.PageInNamespace,
        refusals=_GONE,
    ),
    Operation(
        "GET", _DATASET, "A dataset", get_dataset, models.Dataset, WhichDataset, refusals=_GONE
    ),
    Operation(
        "GET",
        f"{_DATASET}/versions",
        "The versions of a dataset",
        list_dataset_versions,
        models.DatasetVersions,
        PageOfDataset,
        refusals=_GONE,
    ),
    Operation(
        "GET",
        f"{_DATASET}/versions/{{version}}",
        "A version of a dataset",
        get_dataset_version,
        models.DatasetVersion,
        WhichDatasetVersion,
        refusals=_GONE,
    ),
    Operation("GET", "/jobs", "Jobs of all namespaces", list_all_jobs, models.Jobs, JobPage),
    Operation(
        "GET", f"{_NAMED}/jobs", "Jobs", list_jobs, models.Jobs, JobPageInNamespace, refusals=_GONE
    ),
    Operation("GET", _JOB, "A job", get_job, models.Job, WhichJob, refusals=_GONE),
    Operation(
        "GET",
        f"{_JOB}/versions",
        "The versions of a job",
        list_job_versions,
        models.JobVersions,
        PageOfJob,
        refusals=_GONE,
    ),
    Operation(
        "GET",
        f"{_JOB}/versions/{{version}}",
        "A version of a job",
        get_job_version,
        models.JobVersion,
        WhichJobVersion,
        refusals=_GONE,
    ),
    Operation(
        "GET",
        f"{_JOB}/runs",
        "The runs of a job",
        list_runs,
        models.Runs,
        PageOfJob,
        refusals=_GONE,
    ),
    Operation("GET", "/jobs/runs/{id}", "A run", get_run, models.Run, WhichRun, refusals=_GONE),
    Operation(
        "GET",
        "/jobs/runs/{id}/facets",
        "The facets of a run or of its job",
        get_run_facets,
        models.RunFacets,
        WhichFacets,
        refusals=_GONE,
    ),
    Operation("GET", "/sources", "Where datasets are", list_sources, models.Sources, models.Page),
    Operation(
        "GET",
        "/sources/{source}",
        "A source",
        get_source,
        models.Source,
        WhichSource,
        refusals=_GONE,
    ),
    Operation("GET", "/tags", "Tags", list_tags, models.Tags, models.Page),
)
