"""Mutations: registrations of sources, runs, artifacts and answers without OpenLineage, and edits.

Each mutation creates ordinary events and submits them to the spool. When it returns, the events are
on disk; the graph follows, usually within a second.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import strawberry

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.edits import EditMutations
from headwater.graphql.queries.lineage import DatasetName
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.scalars import ID, Long, format_datetime
from headwater.schema import headwater_facets as native
from headwater.schema.headwater_facets import DEFAULT_NAMESPACE
from headwater.schema.urns import answer_urn, artifact_urn, run_urn, source_urn


@strawberry.input(description="A capture of raw data.")
class SourceInput:
    name: str
    namespace: str = DEFAULT_NAMESPACE
    origin: str | None = None
    format: str | None = None
    row_count: Long | None = None
    captured_at: datetime | None = None
    checksum: str | None = None


@strawberry.input(description="An execution of a pipeline. Register it again when it has ended.")
class PipelineRunInput:
    run_id: ID
    pipeline_name: str
    namespace: str = DEFAULT_NAMESPACE
    status: str = strawberry.field(
        default="success",
        description="One of running, success, failed, aborted, START, RUNNING, COMPLETE, FAIL, "
        "ABORT.",
    )
    started_at: datetime | None = None
    finished_at: datetime | None = None
    version: str | None = None
    triggered_by: str | None = None
    error: str | None = None
    inputs: list[DatasetName] = strawberry.field(default_factory=list)
    outputs: list[DatasetName] = strawberry.field(default_factory=list)


@strawberry.input(description="A version of a dataset, created by a run.")
class ArtifactInput:
    name: str
    run_id: ID
    namespace: str = DEFAULT_NAMESPACE
    type: str | None = None
    row_count: Long | None = None
    storage_path: str | None = None
    created_at: datetime | None = None
    schema: str | None = None


@strawberry.input(
    description="A cited dataset (optionally the version of one run, or one column of it), or a "
    "cited answer."
)
class CitationInput:
    namespace: str | None = None
    name: str | None = None
    run_id: ID | None = None
    field: str | None = None
    answer_id: ID | None = None


@strawberry.input(description="An answer with its citations.")
class AnswerInput:
    answer_id: ID
    cites: list[CitationInput]
    type: str | None = None
    content: str | None = None
    generated_at: datetime | None = None
    generated_by: str | None = None


@strawberry.type(
    description="A registration. It is on disk; the graph follows within about a second."
)
class Registration:
    urn: ID
    id: ID
    accepted: bool


@strawberry.type
class Mutation(EditMutations):
    @resolver("Register a capture of raw data.")
    async def register_source(self, info: Info, input: SourceInput) -> Registration:
        _require_names(name=input.name, namespace=input.namespace)
        event = native.source_event(
            input.name,
            namespace=input.namespace,
            origin=input.origin,
            format=input.format,
            row_count=input.row_count,
            captured_at=_datetime_text(input.captured_at),
            checksum=input.checksum,
        )
        return await _submit(info, [event], source_urn(input.namespace, input.name), input.name)

    @resolver("Register a run with its inputs and outputs.")
    async def register_pipeline_run(self, info: Info, input: PipelineRunInput) -> Registration:
        _require_names(
            runId=input.run_id, pipelineName=input.pipeline_name, namespace=input.namespace
        )
        try:
            events = native.run_events(
                input.run_id,
                pipeline_name=input.pipeline_name,
                namespace=input.namespace,
                status=input.status,
                started_at=_datetime_text(input.started_at),
                finished_at=_datetime_text(input.finished_at),
                version=input.version,
                triggered_by=input.triggered_by,
                error=input.error,
                inputs=[_dataset_name(dataset) for dataset in input.inputs],
                outputs=[_dataset_name(dataset) for dataset in input.outputs],
            )
        except KeyError as error:
            allowed = ", ".join(native.STATUS_EVENT_TYPES)
            raise QueryError(f"status {input.status[:40]!r} is none of {allowed}") from error
        return await _submit(info, events, run_urn(input.run_id), input.run_id)

    @resolver("Register a version of a dataset that a run created.")
    async def register_artifact(self, info: Info, input: ArtifactInput) -> Registration:
        _require_names(name=input.name, namespace=input.namespace, runId=input.run_id)
        event = native.artifact_event(
            input.name,
            run_id=input.run_id,
            namespace=input.namespace,
            type=input.type,
            row_count=input.row_count,
            storage_path=input.storage_path,
            created_at=_datetime_text(input.created_at),
            schema=input.schema,
        )
        urn = artifact_urn(input.namespace, input.name, input.run_id)
        return await _submit(info, [event], urn, input.name)

    @resolver("Register an answer with its citations.")
    async def register_answer(self, info: Info, input: AnswerInput) -> Registration:
        _require_names(answerId=input.answer_id)
        event = native.answer_event(
            input.answer_id,
            cites=[_citation(citation) for citation in input.cites],
            type=input.type,
            content=input.content,
            generated_at=_datetime_text(input.generated_at),
            generated_by=input.generated_by,
        )
        return await _submit(info, [event], answer_urn(input.answer_id), input.answer_id)


async def _submit(info: Info, events: list[dict[str, Any]], urn: str, id: str) -> Registration:
    await info.context.submit(events)
    return Registration(urn=urn, id=id, accepted=True)


def _require_names(**names: str) -> None:
    for name, value in names.items():
        if not value.strip():
            raise QueryError(f"{name} must not be empty")


def _dataset_name(dataset: DatasetName) -> dict[str, str]:
    _require_names(namespace=dataset.namespace, name=dataset.name)
    return {"namespace": dataset.namespace, "name": dataset.name}


def _citation(citation: CitationInput) -> dict[str, str]:
    of_dataset = {"namespace": citation.namespace, "name": citation.name}
    details = {"runId": citation.run_id, "field": citation.field}
    if citation.answer_id is not None and not any((*of_dataset.values(), *details.values())):
        _require_names(answerId=citation.answer_id)
        return {"answerId": citation.answer_id}
    if citation.answer_id is None and all((part or "").strip() for part in of_dataset.values()):
        return {key: value for key, value in {**of_dataset, **details}.items() if value is not None}
    raise QueryError(
        "a citation needs either answerId, or namespace and name (optionally runId and field)"
    )


def _datetime_text(instant: datetime | None) -> str | None:
    return None if instant is None else format_datetime(instant)
