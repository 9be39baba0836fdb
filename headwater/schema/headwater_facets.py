"""Headwater's own facets: answers, registered sources, artifacts and run details as OpenLineage
events.

What OpenLineage has no word for travels in facets with the prefix `headwater_` (the specification
asks custom facets to carry one), so that anything which can send an OpenLineage event can also send
an answer.

| facet | on | says |
|---|---|---|
| `headwater_answer` | dataset event | an Answer and what it cites |
| `headwater_source` | dataset event | one capture of a dataset nothing known produced |
| `headwater_artifact` | dataset event | a version of a dataset, and the run that produced it |
| `headwater_symlinks` | dataset event | that other names are the same dataset, or are not, decided by hand |
| `headwater_asset` | dataset and job event | where a registered asset is written down: a file, a table, a DAG |
| `headwater_run` | run event | code version and trigger of a run |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from headwater.errors import EventError
from headwater.schema.events import parse_instant

PRODUCER = "https://github.com/headwater-lineage/headwater"
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
ANSWER_NAMESPACE = "answers"
DEFAULT_NAMESPACE = "default"

ANSWER_FACET = "headwater_answer"
SOURCE_FACET = "headwater_source"
ARTIFACT_FACET = "headwater_artifact"
RUN_FACET = "headwater_run"
SYMLINKS_FACET = "headwater_symlinks"
ASSET_FACET = "headwater_asset"

# The seed's status words beside OpenLineage's own.
STATUS_EVENT_TYPES = {
    "running": "RUNNING",
    "started": "START",
    "success": "COMPLETE",
    "succeeded": "COMPLETE",
    "complete": "COMPLETE",
    "completed": "COMPLETE",
    "failed": "FAIL",
    "fail": "FAIL",
    "error": "FAIL",
    "aborted": "ABORT",
    "abort": "ABORT",
}

Event = dict[str, Any]
Citation = Mapping[str, str]
DatasetName = Mapping[str, str]


def now() -> str:
    """The present instant as OpenLineage writes it: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _facet(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    present = {key: value for key, value in fields.items() if value is not None}
    return {"_producer": PRODUCER, "_schemaURL": f"{PRODUCER}/facets/{name}.json", **present}


def _event(definition: str, event_time: str | None, body: Event) -> Event:
    return {
        "eventTime": event_time or now(),
        "producer": PRODUCER,
        "schemaURL": f"{_SPEC}#/$defs/{definition}",
        **body,
    }


def _dataset_event(
    namespace: str, name: str, facets: Mapping[str, Any], event_time: str | None
) -> Event:
    dataset = {"namespace": namespace, "name": name, "facets": dict(facets)}
    return _event("DatasetEvent", event_time, {"dataset": dataset})


def answer_event(
    answer_id: str,
    *,
    cites: Sequence[Citation],
    type: str | None = None,
    content: str | None = None,
    generated_at: str | None = None,
    generated_by: str | None = None,
    event_time: str | None = None,
) -> Event:
    """An Answer and what it cites.

    Each citation is a mapping: `{"namespace", "name"}` cites a dataset as it was at `generated_at`;
    with `"runId"` the very version that run produced; with `"field"` one column; `{"answerId"}`
    another answer.
    """
    fields = {
        "answerId": answer_id,
        "type": type,
        "content": content,
        "generatedAt": generated_at or event_time or now(),
        "generatedBy": generated_by,
        "cites": [dict(citation) for citation in cites],
    }
    facets = {ANSWER_FACET: _facet(ANSWER_FACET, fields)}
    return _dataset_event(ANSWER_NAMESPACE, answer_id, facets, event_time or generated_at)


def source_event(
    name: str,
    *,
    namespace: str = DEFAULT_NAMESPACE,
    origin: str | None = None,
    format: str | None = None,
    row_count: int | None = None,
    captured_at: str | None = None,
    checksum: str | None = None,
    event_time: str | None = None,
) -> Event:
    """One capture of raw data: where it came from, when, how many rows, its checksum."""
    fields = {
        "origin": origin,
        "format": format,
        "rowCount": row_count,
        "capturedAt": captured_at,
        "checksum": checksum,
    }
    return _dataset_event(
        namespace, name, {SOURCE_FACET: _facet(SOURCE_FACET, fields)}, event_time or captured_at
    )


def artifact_event(
    name: str,
    *,
    run_id: str,
    namespace: str = DEFAULT_NAMESPACE,
    type: str | None = None,
    row_count: int | None = None,
    storage_path: str | None = None,
    created_at: str | None = None,
    schema: str | None = None,
    event_time: str | None = None,
) -> Event:
    """One version of a dataset, produced by the run `run_id`."""
    fields = {
        "runId": run_id,
        "type": type,
        "rowCount": row_count,
        "storagePath": storage_path,
        "createdAt": created_at,
        "schema": schema,
    }
    return _dataset_event(
        namespace, name, {ARTIFACT_FACET: _facet(ARTIFACT_FACET, fields)}, event_time or created_at
    )


def symlinks_event(
    dataset: DatasetName,
    *,
    same: Sequence[DatasetName] = (),
    apart: Sequence[DatasetName] = (),
    event_time: str | None = None,
) -> Event:
    """That other names are the same dataset as this one (`same`) or another one (`apart`), whatever
    symlinks facets say. Every name is `{"namespace", "name"}`; the newest decision on a pair of
    names counts.
    """
    fields = {
        key: [{**name} for name in names] or None
        for key, names in (("same", same), ("apart", apart))
    }
    facets = {SYMLINKS_FACET: _facet(SYMLINKS_FACET, fields)}
    return _dataset_event(dataset["namespace"], dataset["name"], facets, event_time)


def tags_event(
    namespace: str,
    name: str,
    tags: Sequence[Mapping[str, str]],
    *,
    is_job: bool = False,
    event_time: str | None = None,
) -> Event:
    """All the tags of a dataset, or of a job: those it had before are gone. Each is `{"key",
    "value"}`, for a dataset also `"field"` where it is about one, and `"source"`.
    """
    facets = {"tags": _facet("tags", {"tags": [{**tag} for tag in tags]})}
    if is_job:
        body = {
            "job": {"namespace": namespace, "name": name, "facets": facets},
            "inputs": [],
            "outputs": [],
        }
        return _event("JobEvent", event_time, body)
    return _dataset_event(namespace, name, facets, event_time)


def asset_events(
    name: str,
    *,
    asset_type: str,
    source_ref: str,
    namespace: str = DEFAULT_NAMESPACE,
    upstream: Sequence[DatasetName] = (),
    is_process: bool = False,
    was_process: bool = False,
    event_time: str | None = None,
) -> list[Event]:
    """A registered asset and all that it is made from: the newest registration replaces those
    before.

    Every asset is a dataset of its name. One that is a process (a DAG, a Spark job) is also a job
    of its name, which reads what is upstream and makes that dataset, so that an asset may be named
    as upstream of others before anybody knows what it is. `was_process` withdraws what such a job
    declared.
    """
    told = _facet(ASSET_FACET, {"sourceRef": source_ref})
    sources = [
        {"namespace": one["namespace"], "name": one["name"], "type": "DATASET"} for one in upstream
    ]
    own = {"namespace": namespace, "name": name}
    facets = {
        ASSET_FACET: told,
        "datasetType": _facet("datasetType", {"datasetType": asset_type.upper()}),
        "lineage": _facet(
            "lineage", {**own, "type": "DATASET", "inputs": [] if is_process else sources}
        ),
    }
    events = [_dataset_event(namespace, name, facets, event_time)]
    if is_process or was_process:
        entries = [{**own, "type": kind, "inputs": sources} for kind in ("JOB", "DATASET")]
        kind = {
            "processingType": "BATCH",
            "integration": "HEADWATER",
            "jobType": asset_type.upper(),
        }
        job_facets = {
            ASSET_FACET: told,
            "jobType": _facet("jobType", kind),
            **_written_in(source_ref),
            "lineage": _facet("lineage", {"entries": entries if is_process else []}),
        }
        body = {"job": {**own, "facets": job_facets}, "inputs": [], "outputs": []}
        events.append(_event("JobEvent", event_time, body))
    return events


def _written_in(source_ref: str) -> dict[str, Any]:
    """Where the code of a job is, when what is told of it is a path or an address."""
    if not {"/", "."} & set(source_ref):
        return {"sourceCodeLocation": _facet("sourceCodeLocation", {"_deleted": True})}
    is_address = "://" in source_ref
    place = {
        "url": source_ref if is_address else f"file:{source_ref}",
        "path": None if is_address else source_ref,
    }
    return {"sourceCodeLocation": _facet("sourceCodeLocation", {"type": "file", **place})}


def _input(dataset: DatasetName) -> Event:
    named: Event = {"namespace": dataset["namespace"], "name": dataset["name"]}
    if dataset.get("runId"):
        named["inputFacets"] = {ARTIFACT_FACET: _facet(ARTIFACT_FACET, {"runId": dataset["runId"]})}
    return named


def run_events(
    run_id: str,
    *,
    pipeline_name: str,
    namespace: str = DEFAULT_NAMESPACE,
    status: str = "COMPLETE",
    started_at: str | None = None,
    finished_at: str | None = None,
    version: str | None = None,
    triggered_by: str | None = None,
    error: str | None = None,
    inputs: Sequence[DatasetName] = (),
    outputs: Sequence[DatasetName] = (),
) -> list[Event]:
    """A whole run: its START, where it is known when that was, and, unless it is still running, the
    event that ended it. A run without any time is marked `undated`: it is placed where the versions
    it made say they were created.

    `status` is one of OpenLineage's event types or the seed's words (`success`, `failed`, ...). An
    input is `{"namespace", "name"}`, read as it was when the run started, or with `"runId"` the
    version that run made. Raises KeyError when the status is neither, EventError when a time is
    none or the end comes before the start.
    """
    kind = STATUS_EVENT_TYPES.get(status.lower(), status.upper())
    if kind not in {"START", "RUNNING", "COMPLETE", "ABORT", "FAIL"}:
        raise KeyError(status)
    if started_at and finished_at and parse_instant(finished_at) < parse_instant(started_at):
        raise EventError("a run cannot finish before it starts", field="finishedAt")
    undated = True if not started_at and not finished_at else None
    fields = {"version": version, "triggeredBy": triggered_by, "undated": undated}
    facets: dict[str, Any] = {RUN_FACET: _facet(RUN_FACET, fields)}
    body: Event = {
        "run": {"runId": run_id, "facets": facets},
        "job": {"namespace": namespace, "name": pipeline_name},
        "inputs": [_input(dataset) for dataset in inputs],
        "outputs": [dict(dataset) for dataset in outputs],
    }
    ended = kind in {"COMPLETE", "ABORT", "FAIL"}
    events = []
    if started_at or not ended:
        state = "START" if started_at else "RUNNING"
        events.append(_event("RunEvent", started_at, {"eventType": state, **body}))
    if ended:
        if error is not None:
            message = _facet("errorMessage", {"message": error, "programmingLanguage": "unknown"})
            body = {**body, "run": {"runId": run_id, "facets": {**facets, "errorMessage": message}}}
        events.append(_event("RunEvent", finished_at or started_at, {"eventType": kind, **body}))
    return events
