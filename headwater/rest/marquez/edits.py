"""Marquez' edits: tags, and soft deletions of datasets, jobs and namespaces.

Each edit is an event of the spool. So it is in the log, and a rebuilt graph has it. A request is
answered when the graph shows the edit, so a client that reads next finds it. If the worker takes
longer than `WAIT_SECONDS_MAX`, the answer comes earlier; the event is on disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import Meta

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.errors import NotFoundError
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions import catalog
from headwater.lineage.view import GraphView
from headwater.rest.marquez import models, shapes
from headwater.rest.marquez.catalog import (
    DatasetParams,
    JobParams,
    require_dataset,
    require_job,
    require_namespace,
)
from headwater.rest.operations import ArgumentError, Operation, OperationRequest
from headwater.schema import headwater_facets as native
from headwater.schema.urns import parse_urn

WAIT_SECONDS_MAX = 5.0
_POLL_SECONDS = 0.02
# A namespace of more nodes is not deleted by one request.
NODES_MAX = 100_000
_PAGE = 1_000
TagName = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]


class TagParams(models.Model, kw_only=True):
    tag: TagName


class DatasetTagParams(DatasetParams, kw_only=True):
    tag: TagName


class FieldTagParams(DatasetTagParams, kw_only=True):
    field: models.Text


class JobTagParams(JobParams, kw_only=True):
    tag: TagName


class TagDescription(models.Model):
    description: Annotated[str, Meta(max_length=4_000)] | None = None


def create_tag(request: OperationRequest) -> models.Tag:
    name, description = request.params.tag, request.body.description
    request.submit([native.tag_event(name, description=description)])
    _wait_until(lambda: _is_defined(request.view, name, description))
    return models.Tag(name=name, description=description)


def _is_defined(view: GraphView, name: str, description: str | None) -> bool:
    tag = catalog.defined_tag(view, name)
    return tag is not None and tag["description"] == description


def tag_dataset(request: OperationRequest) -> models.Dataset:
    params: DatasetTagParams = request.params
    return _edit_dataset_tag(request, params, "", is_added=True)


def untag_dataset(request: OperationRequest) -> models.Dataset:
    params: DatasetTagParams = request.params
    return _edit_dataset_tag(request, params, "", is_added=False)


def tag_field(request: OperationRequest) -> models.Dataset:
    params: FieldTagParams = request.params
    return _edit_dataset_tag(request, params, params.field, is_added=True)


def untag_field(request: OperationRequest) -> models.Dataset:
    params: FieldTagParams = request.params
    return _edit_dataset_tag(request, params, params.field, is_added=False)


def _edit_dataset_tag(
    request: OperationRequest, params: DatasetTagParams, field: str, *, is_added: bool
) -> models.Dataset:
    """Add or remove a tag of a dataset, or of one of its columns."""
    urn = require_dataset(request.view, params)
    if field and field not in (_node(request.view, urn).get("columns") or ()):
        raise NotFoundError(f"Field '{field}' not found in dataset '{params.dataset}'.")
    tag = {"key": params.tag, "field": field} if field else {"key": params.tag}
    _edit_tag(request, urn, tag, is_added=is_added)
    return shapes.datasets(request.view, [urn], with_columns=True)[urn]


def _edit_tag(
    request: OperationRequest, urn: str, tag: Mapping[str, str], *, is_added: bool
) -> None:
    """Add a tag to a dataset or a job, or remove it, and wait until the graph shows it."""
    namespace, name = _name(urn)
    event = native.tag_edits_event(
        namespace,
        name,
        added=[tag] if is_added else [],
        removed=[] if is_added else [tag],
        is_job=urn.startswith("job:"),
        by=request.author,
    )
    request.submit([event])
    text = f"{tag['field']}:{tag['key']}" if "field" in tag else tag["key"]
    _wait_until(lambda: (text in (_node(request.view, urn).get("tags") or ())) is is_added)


def tag_job(request: OperationRequest) -> models.Job:
    return _edit_job_tag(request, is_added=True)


def untag_job(request: OperationRequest) -> models.Job:
    return _edit_job_tag(request, is_added=False)


def _edit_job_tag(request: OperationRequest, *, is_added: bool) -> models.Job:
    params: JobTagParams = request.params
    urn = require_job(request.view, params)
    _edit_tag(request, urn, {"key": params.tag}, is_added=is_added)
    return shapes.jobs(request.view, [urn], runs_max=1)[urn]


def delete_dataset(request: OperationRequest) -> models.Dataset:
    urn = require_dataset(request.view, request.params)
    dataset = shapes.datasets(request.view, [urn], with_columns=True)[urn]
    _delete(request, [urn])
    return dataset


def delete_job(request: OperationRequest) -> models.Job:
    urn = require_job(request.view, request.params)
    job = shapes.jobs(request.view, [urn], runs_max=1)[urn]
    _delete(request, [urn])
    return job


def delete_namespace(request: OperationRequest) -> models.Namespace:
    name = request.params.namespace
    namespace = require_namespace(request.view, name)
    jobs = _urns(
        lambda skip: catalog.jobs_in_namespace(
            request.view, name, states=None, skip=skip, limit=_PAGE
        )
    )
    datasets = _urns(
        lambda skip: catalog.datasets_in_namespace(request.view, name, skip=skip, limit=_PAGE)
    )
    _delete(request, [*jobs, *datasets])
    return namespace


def _urns(read_page: Callable[[int], catalog.UrnPage]) -> list[str]:
    """Return the urns of all pages. Raises ArgumentError if they are more than `NODES_MAX`."""
    urns: list[str] = []
    while urns_of_page := (page := read_page(len(urns))).urns:
        if page.total > NODES_MAX:
            raise ArgumentError(
                f"the namespace has {page.total} nodes; one request deletes {NODES_MAX} at most",
                field="namespace",
            )
        urns += urns_of_page
    return urns


def _delete(request: OperationRequest, urns: Sequence[str]) -> None:
    """Delete datasets and jobs, and wait until the graph shows it."""
    for some in chunks(urns, _PAGE):
        rows = read_nodes(request.view, some)
        request.submit([_deletion(urn, row, request.author) for urn, row in rows.items()])
    _wait_until(lambda: _are_deleted(request.view, urns))


def _are_deleted(view: GraphView, urns: Sequence[str]) -> bool:
    return all(row.get("deletedAt") for row in read_nodes(view, urns).values())


def _deletion(urn: str, row: Mapping[str, Any], author: str) -> native.Event:
    """Return a deletion that is not older than any event of the node so far."""
    namespace, name = _name(urn)
    at = max(datetime.now(UTC), row.get("lastSeen") or shapes.NEVER)
    return native.deletion_event(
        namespace,
        name,
        is_job=urn.startswith("job:"),
        by=author,
        event_time=at.isoformat(),
    )


def _name(urn: str) -> tuple[str, str]:
    """Return the namespace and the name of a dataset or a job. Raises ArgumentError."""
    parts = parse_urn(urn).parts
    if len(parts) != 2:
        raise ArgumentError("the name is too long to be edited", field="name")
    return parts[0], parts[1]


def _node(view: GraphView, urn: str) -> Row:
    return read_nodes(view, [urn]).get(urn, {})


def _wait_until(is_done: Callable[[], bool]) -> None:
    """Wait until the graph shows an edit, or for `WAIT_SECONDS_MAX`."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not is_done() and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


_NOT_FOUND = {404: "Nothing has this name."}
_DATASET = "/namespaces/{namespace}/datasets/{dataset}"
_FIELD_TAG = f"{_DATASET}/fields/{{field}}/tags/{{tag}}"
_JOB = "/namespaces/{namespace}/jobs/{job}"

OPERATIONS = (
    Operation(
        "PUT", "/tags/{tag}", "Define a tag", create_tag, models.Tag, TagParams, TagDescription
    ),
    Operation(
        "POST",
        f"{_DATASET}/tags/{{tag}}",
        "Tag a dataset",
        tag_dataset,
        models.Dataset,
        DatasetTagParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "DELETE",
        f"{_DATASET}/tags/{{tag}}",
        "Remove a tag from a dataset",
        untag_dataset,
        models.Dataset,
        DatasetTagParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "POST",
        _FIELD_TAG,
        "Tag a column",
        tag_field,
        models.Dataset,
        FieldTagParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "DELETE",
        _FIELD_TAG,
        "Remove a tag from a column",
        untag_field,
        models.Dataset,
        FieldTagParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "POST",
        f"{_JOB}/tags/{{tag}}",
        "Tag a job",
        tag_job,
        models.Job,
        JobTagParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "DELETE",
        f"{_JOB}/tags/{{tag}}",
        "Remove a tag from a job",
        untag_job,
        models.Job,
        JobTagParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "DELETE",
        _DATASET,
        "Delete a dataset until an event names it",
        delete_dataset,
        models.Dataset,
        DatasetParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "DELETE",
        _JOB,
        "Delete a job until an event names it",
        delete_job,
        models.Job,
        JobParams,
        errors=_NOT_FOUND,
    ),
    Operation(
        "DELETE",
        "/namespaces/{namespace}",
        "Delete all datasets and jobs of a namespace",
        delete_namespace,
        models.Namespace,
        models.NamespaceParams,
        errors=_NOT_FOUND,
    ),
)
