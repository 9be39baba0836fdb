"""`project`: from joined facts to what the graph shows of them. Pure: the same facts give the same rows.

A projection never looks at what was projected before, so nothing here can depend on the order of arrival. What
spans several entities (which version of a dataset was current when a run started) is in `ingest.versions`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec

from headwater.errors import EventError
from headwater.ingest.attempts import Attempts, attempts
from headwater.ingest.facets import (
    ArtifactDetails,
    ErrorMessage,
    NominalTime,
    ProcessingEngine,
    RunDetails,
    Schema,
    SchemaField,
    SourceDetails,
    Sql,
    Statistics,
    TypeFacet,
    read_facet,
)
from headwater.schema import native
from headwater.schema.events import datetime_of, instant_of
from headwater.schema.facts import (
    AnswerFacts,
    DatasetFacts,
    JobFacts,
    Name,
    Registers,
    RunFacts,
    Span,
    Usage,
)
from headwater.schema.urns import (
    answer_urn,
    artifact_urn,
    column_urn,
    dataset_urn,
    is_uuid,
    run_urn,
    shown,
    source_urn,
)

Properties = dict[str, Any]
# What Neo4j can hold; a count beyond it is no count.
_COUNT_MAX = 2**63 - 1
# Fields nested deeper, or with a longer path, are no columns of their own: paths grow with the square of the depth.
_FIELD_DEPTH_MAX = 50
_FIELD_PATH_MAX = 2_000


class Citation(msgspec.Struct, frozen=True):
    """One thing an answer cites: a dataset (`dataset`), perhaps one version of it (`pinned`) or one column of it."""

    dataset: str = ""
    name: tuple[str, str] = ("", "")
    pinned: str | None = None
    column: str | None = None
    field: str | None = None
    answer: str | None = None


class Use(msgspec.Struct, frozen=True):
    """A dataset that a run read or an answer cited, at an instant; `pinned` when the event names the version."""

    dataset: str
    pinned: str | None
    properties: Properties


class RunView(msgspec.Struct):
    node: Properties
    artifacts: dict[str, Properties]
    uses: list[Use]
    produced: dict[str, Properties]


class DatasetView(msgspec.Struct):
    node: Properties
    columns: dict[str, Properties]
    source: Properties | None


class AnswerView(msgspec.Struct):
    node: Properties
    citations: list[Citation]


def run_view(facts: RunFacts) -> RunView:
    """A run, what it read, and the version it made of every dataset it wrote."""
    details = read_facet(RunDetails, facts.facets, native.RUN_FACET) or RunDetails()
    state = _placed(facts, attempts(facts.states), undated=details.undated)
    started = _started(facts, state)
    engine = read_facet(ProcessingEngine, facts.facets, "processing_engine")
    nominal = read_facet(NominalTime, facts.facets, "nominalTime")
    job = max(facts.jobs.values(), default=None)
    node: Properties = {
        "runId": shown(facts.run_id),
        "runUuid": _uuid_beside(facts.run_id),
        "pipelineName": shown(job.name) if job else None,
        "namespace": shown(job.namespace) if job else None,
        "status": state.status,
        "startedAt": _time(started),
        "finishedAt": _time(state.finished),
        "failedAt": _time(state.failed),
        "attempts": state.count,
        "error": _error(facts.facets, since=state.started),
        "engine": " ".join(word for word in (engine.name, engine.version) if word) if engine else None,
        "nominalStart": _time_of(nominal.nominal_start_time) if nominal else None,
        "version": details.version,
        "triggeredBy": details.triggered_by,
        "facts": _text(facts),
    }
    artifacts, produced = {}, {}
    for urn, usage in facts.outputs.items():
        made = artifact_urn(usage.dataset.namespace, usage.dataset.name, facts.run_id)
        artifacts[made] = _artifact(facts, urn, usage, state, started)
        produced[made] = {key: artifacts[made][key] for key in ("rowCount", "bytes")}
    uses = [_use(urn, usage) for urn, usage in sorted(facts.inputs.items())]
    return RunView(node, artifacts, uses, produced)


def _placed(facts: RunFacts, state: Attempts, *, undated: bool) -> Attempts:
    """A run that was registered without any time happened when the versions it made say they were created."""
    if not undated or state.started is not None:
        return state
    said = (read_facet(ArtifactDetails, usage.facets, native.ARTIFACT_FACET) for usage in facts.outputs.values())
    times = [_instant_of(details.created_at) for details in said if details]
    made = max((time for time in times if time is not None), default=None)
    if made is None:
        return state
    failed = None if state.failed is None else made
    return replace(state, started=made, finished=None if state.finished is None else made, failed=failed)


def _started(facts: RunFacts, state: Attempts) -> int | None:
    if state.started is not None or facts.span is None:
        return state.started
    return facts.span.first


def _artifact(facts: RunFacts, dataset: str, usage: Usage, state: Attempts, started: int | None) -> Properties:
    details = read_facet(ArtifactDetails, usage.facets, native.ARTIFACT_FACET)
    statistics = read_facet(Statistics, usage.facets, "outputStatistics") or Statistics()
    # A run that has ended made its version when it ended; until then readers meet what it has written so far.
    created = _time(state.finished if state.finished is not None else started)
    return {
        "namespace": shown(usage.dataset.namespace),
        "name": shown(usage.dataset.name),
        "dataset": dataset,
        "run": run_urn(facts.run_id),
        "runId": shown(facts.run_id),
        "startedAt": _time(started),
        "createdAt": (_time_of(details.created_at) if details else None) or created,
        "complete": state.status == "COMPLETE",
        "status": state.status,
        "rowCount": _count(details.row_count if details and details.row_count is not None else statistics.row_count),
        "bytes": _count(statistics.size),
        "fileCount": _count(statistics.file_count),
        "type": details.type if details else None,
        "storagePath": details.storage_path if details else None,
        "schema": details.schema if details else None,
        "derivedFrom": sorted(dataset_urn(name.namespace, name.name) for name in usage.derived) or None,
    }


def _use(urn: str, usage: Usage) -> Use:
    pinned = read_facet(ArtifactDetails, usage.facets, native.ARTIFACT_FACET)
    statistics = read_facet(Statistics, usage.facets, "inputStatistics") or Statistics()
    named = pinned is not None and pinned.run_id.strip()
    version = artifact_urn(usage.dataset.namespace, usage.dataset.name, pinned.run_id) if pinned and named else None
    return Use(urn, version, {"rowCount": _count(statistics.row_count), "bytes": _count(statistics.size)})


def dataset_view(facts: DatasetFacts) -> DatasetView:
    """A dataset, its columns now, and its registered source if one was sent."""
    name = facts.dataset
    schema = read_facet(Schema, facts.facets, "schema")
    fields = _flattened(schema.fields) if schema else {}
    kind = read_facet(TypeFacet, facts.facets, "datasetType")
    node = {
        "namespace": shown(name.namespace),
        "name": shown(name.name),
        **_seen(facts.span),
        "columns": list(fields) or None,
        "schema": msgspec.json.encode(fields).decode() if fields else None,
        "type": kind.dataset_type if kind else None,
        "facts": _text(facts),
    }
    columns = {
        column_urn(name.namespace, name.name, field): {**column_properties(name, field), "type": type, "current": True}
        for field, type in fields.items()
    }
    return DatasetView(node, columns, _source(facts))


def column_properties(dataset: Name, field: str) -> Properties:
    """What every column node has, whether the dataset's schema lists it or only a column edge names it."""
    return {"namespace": shown(dataset.namespace), "dataset": shown(dataset.name), "name": shown(field)}


def source_properties(dataset: Name) -> Properties:
    """What every source node has, registered or not."""
    return {
        "namespace": shown(dataset.namespace),
        "name": shown(dataset.name),
        "dataset": dataset_urn(dataset.namespace, dataset.name),
    }


def _source(facts: DatasetFacts) -> Properties | None:
    details = read_facet(SourceDetails, facts.facets, native.SOURCE_FACET)
    if details is None:
        return None
    return {
        **source_properties(facts.dataset),
        "registered": True,
        "origin": details.origin,
        "format": details.format,
        "rowCount": _count(details.row_count),
        "capturedAt": _time_of(details.captured_at),
        "checksum": details.checksum,
    }


def source_of(facts: DatasetFacts) -> str:
    return source_urn(facts.dataset.namespace, facts.dataset.name)


def _flattened(fields: list[SchemaField], prefix: str = "", depth: int = 1) -> dict[str, str | None]:
    """Nested fields by their dotted path, parents before children."""
    flat: dict[str, str | None] = {}
    for field in fields:
        path = prefix + field.name
        if not field.name.strip() or (prefix and len(path) > _FIELD_PATH_MAX):
            continue
        flat[path] = field.type
        if field.fields and depth < _FIELD_DEPTH_MAX:
            flat.update(_flattened(field.fields, f"{path}.", depth + 1))
    return flat


def job_properties(facts: JobFacts) -> Properties:
    """A job node."""
    sql = read_facet(Sql, facts.facets, "sql")
    kind = read_facet(TypeFacet, facts.facets, "jobType")
    return {
        "namespace": shown(facts.job.namespace),
        "name": shown(facts.job.name),
        **_seen(facts.span),
        "type": kind.job_type if kind else None,
        "sql": sql.query if sql else None,
        "facts": _text(facts),
    }


def answer_view(facts: AnswerFacts) -> AnswerView:
    """An answer and what it cites. One that is only referred to, or was deleted, has no properties but its id."""
    text = facts.answer.value if facts.answer else ""
    said = native.answer_facet(text) if text else native.AnswerFacet()
    generated = _time_of(said.generated_at) or (_time(facts.answer.instant) if facts.answer and text else None)
    node = {
        "answerId": shown(facts.answer_id),
        "name": shown(facts.answer_id) if text else None,
        "type": said.type,
        "content": said.content,
        "generatedAt": generated,
        "generatedBy": said.generated_by,
        "facts": _text(facts),
    }
    return AnswerView(node, [_citation(citation) for citation in native.citations(text)] if text else [])


def _citation(citation: native.CitationFacet) -> Citation:
    if citation.answer_id:
        return Citation(answer=answer_urn(citation.answer_id))
    name = (citation.namespace, citation.name)
    return Citation(
        dataset=dataset_urn(*name),
        name=name,
        field=citation.field,
        pinned=artifact_urn(*name, citation.run_id) if citation.run_id else None,
        column=column_urn(*name, citation.field) if citation.field else None,
    )


def span_properties(span: Span | None) -> Properties:
    """The ends of a span as times, for an edge of the map."""
    return {"first": _time(span.first) if span else None, "last": _time(span.last) if span else None}


def _seen(span: Span | None) -> Properties:
    return {"firstSeen": _time(span.first) if span else None, "lastSeen": _time(span.last) if span else None}


def _error(facets: Registers, *, since: int | None) -> str | None:
    """Why a run failed: the specification's facet, then the one in which Spark really puts the cause. What was said
    before the last attempt began is not about that attempt."""
    for name in ("errorMessage", "spark.exception"):
        said = read_facet(ErrorMessage, facets, name)
        if said is not None and (since is None or facets[name].instant >= since):
            return said.message
    return None


def _uuid_beside(run_id: str) -> str | None:
    """A stable UUID for a run id that is none: UUIDv5 (RFC 9562) of the id in the URL namespace."""
    return None if is_uuid(run_id) else str(uuid5(NAMESPACE_URL, run_id))


def _count(value: object) -> int | None:
    """A count that may have come as text or as 1.0; None when it is none, or more than Neo4j can hold."""
    try:
        count = msgspec.convert(value, int, strict=False)
    except msgspec.ValidationError:
        return None
    return count if abs(count) <= _COUNT_MAX else None


def _time(instant: int | None) -> datetime | None:
    return None if instant is None else datetime_of(instant)


def _time_of(text: str | None) -> datetime | None:
    return _time(_instant_of(text))


def _instant_of(text: str | None) -> int | None:
    if not text:
        return None
    try:
        return instant_of(text)
    except EventError:
        return None


def _text(facts: msgspec.Struct) -> str:
    return msgspec.json.encode(facts, order="sorted").decode()
