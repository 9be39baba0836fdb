"""OpenLineage events with Headwater's own facets: answers, registered sources, artifacts, run
details.

OpenLineage has no facets for these. Custom facets have the prefix `headwater_`, as the
specification asks, so that any sender of OpenLineage events can send an answer.
`schema.facets.headwater` reads them.

| facet | on | content |
|---|---|---|
| `headwater_answer` | dataset event | an Answer and its citations |
| `headwater_source` | dataset event | one capture of a dataset that no known run produced |
| `headwater_artifact` | dataset event | a version of a dataset, and the run that made it |
| `headwater_symlinks` | dataset event | names declared the same dataset, or another, by hand |
| `headwater_asset` | dataset and job event | where a registered asset is: a file, a table, a DAG |
| `headwater_tags` | dataset and job event | tags that a person added or removed |
| `headwater_deletion` | dataset and job event | a deletion by hand, until a later event |
| `headwater_edits` | dataset and job event | description, owners, deprecation, approval; author |
| `headwater_tag` | dataset event | the definition of a tag |
| `headwater_inventory_NAME` | dataset event | the inventory NAME lists it |
| `headwater_contract_HASH` | dataset event | a version of a data contract about it |
| `headwater_run` | run event | code version and trigger of a run |
| `headwater_trace` | run event | the trace of the request that sent the event |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from headwater.errors import EventError
from headwater.schema.events import parse_instant

PRODUCER = "https://github.com/headwater-lineage/headwater"
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
ANSWER_NAMESPACE, DEFAULT_NAMESPACE, TAG_NAMESPACE = "answers", "default", "tags"

ANSWER_FACET = "headwater_answer"
SOURCE_FACET = "headwater_source"
ARTIFACT_FACET = "headwater_artifact"
RUN_FACET = "headwater_run"
TRACE_FACET = "headwater_trace"
SYMLINKS_FACET = "headwater_symlinks"
ASSET_FACET = "headwater_asset"
TAG_EDITS_FACET = "headwater_tags"
DELETION_FACET = "headwater_deletion"
EDITS_FACET = "headwater_edits"
TAG_FACET = "headwater_tag"
# With the name of the inventory behind it, so that each inventory has a register of its own.
INVENTORY_FACET_PREFIX = "headwater_inventory_"
EDIT_FACETS = frozenset({TAG_EDITS_FACET, DELETION_FACET, EDITS_FACET})
CERTIFIED_TAG, DEPRECATED_TAG = "certified", "deprecated"

# Status words of the registration API, beside OpenLineage's own.
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

_DATE = re.compile(r"\d{4}-\d\d-\d\d")

Event = dict[str, Any]
Citation = Mapping[str, str]
DatasetName = Mapping[str, str]


def now() -> str:
    """Return the current time as ISO 8601, UTC."""
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
    # A source may be captured on a day; the time of an event needs a time of day.
    is_date = event_time is not None and _DATE.fullmatch(event_time)
    return _event(
        "DatasetEvent", f"{event_time}T00:00:00Z" if is_date else event_time, {"dataset": dataset}
    )


def answer_event(
    answer_id: str,
    *,
    cites: Sequence[Citation],
    type: str | None = None,
    content: str | None = None,
    generated_at: str | None = None,
    generated_by: str | None = None,
    url: str | None = None,
    owners: Sequence[str] | None = None,
    event_time: str | None = None,
) -> Event:
    """Return the event of an answer.

    Each citation is a mapping. `{"namespace", "name"}` cites a dataset as it was at `generated_at`;
    with `"runId"` the version that the run produced; with `"field"` one column; `{"answerId"}`
    another answer.
    """
    fields = {
        "answerId": answer_id,
        "type": type,
        "content": content,
        "generatedAt": generated_at or event_time or now(),
        "generatedBy": generated_by,
        "url": url,
        "owners": None if owners is None else list(owners),
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
    """Return the event of one capture of raw data."""
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
    """Return the event of a version of a dataset, produced by the run `run_id`."""
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
    by: str | None = None,
    event_time: str | None = None,
) -> Event:
    """Return the event of a decision: other names are the same dataset (`same`), or another
    (`apart`).

    Every name is `{"namespace", "name"}`. The newest decision on a pair counts, over any symlinks
    facet. `by` is the name of the key that decides.
    """
    fields = {
        "same": [dict(name) for name in same] or None,
        "apart": [dict(name) for name in apart] or None,
    }
    facets = {SYMLINKS_FACET: _facet(SYMLINKS_FACET, fields), **_edits(by)}
    return _dataset_event(dataset["namespace"], dataset["name"], facets, event_time)


def tags_event(
    namespace: str,
    name: str,
    tags: Sequence[Mapping[str, str]],
    *,
    is_job: bool = False,
    event_time: str | None = None,
) -> Event:
    """Return the event that replaces all tags of a dataset or a job.

    Each tag is `{"key", "value"}`, optionally with `"source"` and, of a dataset, `"field"`.
    """
    facets = {"tags": _facet("tags", {"tags": [{**tag} for tag in tags]})}
    return _facets_event(namespace, name, facets, event_time, is_job=is_job)


def _facets_event(
    namespace: str, name: str, facets: Mapping[str, Any], event_time: str | None, *, is_job: bool
) -> Event:
    """Return the event of facets alone: of a dataset, or of a job without inputs and outputs."""
    if not is_job:
        return _dataset_event(namespace, name, facets, event_time)
    job = {"namespace": namespace, "name": name, "facets": dict(facets)}
    return _event("JobEvent", event_time, {"job": job, "inputs": [], "outputs": []})


def tag_edits_event(
    namespace: str,
    name: str,
    *,
    added: Sequence[Mapping[str, str]] = (),
    removed: Sequence[Mapping[str, str]] = (),
    is_job: bool = False,
    by: str | None = None,
    event_time: str | None = None,
) -> Event:
    """Return the event of tags that a person added to a dataset or a job, or removed from it.

    Each tag is `{"key"}`, optionally with `"value"` and, of a dataset, `"field"`. The newest edit
    of a tag counts, over any tags facet. `by` is the name of the key that edits.
    """
    fields = {
        "added": [{**tag} for tag in added] or None,
        "removed": [{**tag} for tag in removed] or None,
    }
    facets = {TAG_EDITS_FACET: _facet(TAG_EDITS_FACET, fields), **_edits(by)}
    return _facets_event(namespace, name, facets, event_time, is_job=is_job)


def _edits(by: str | None, **edits: Any) -> dict[str, Any]:
    """Return the facet of edits, under its name; nothing without edits and without an author."""
    fields = {"by": None if by is None else {"name": by}, **edits}
    is_empty = all(value is None for value in fields.values())
    return {} if is_empty else {EDITS_FACET: _facet(EDITS_FACET, fields)}


def description_edit_event(
    namespace: str,
    name: str,
    description: str | None,
    *,
    before: str | None = None,
    is_job: bool = False,
    by: str | None = None,
    event_time: str | None = None,
) -> Event:
    """Return the event of a description by a person, over any documentation facet.

    None withdraws it, so that the documentation facet counts again. `before` is the description
    that the person saw, and `by` the name of the key that edits.
    """
    facets = _edits(by, description={"value": description, "before": before})
    return _facets_event(namespace, name, facets, event_time, is_job=is_job)


def owner_edits_event(
    namespace: str,
    name: str,
    *,
    added: Sequence[str] = (),
    removed: Sequence[str] = (),
    is_job: bool = False,
    by: str | None = None,
    event_time: str | None = None,
) -> Event:
    """Return the event of owners that a person added or removed, over any ownership facet."""
    owners = {
        "added": [{"name": owner} for owner in added],
        "removed": [{"name": owner} for owner in removed],
    }
    facets = _edits(by, owners=owners)
    return _facets_event(namespace, name, facets, event_time, is_job=is_job)


def deprecation_event(
    namespace: str,
    name: str,
    *,
    reason: str | None,
    replacement: str | None = None,
    until: str | None = None,
    is_job: bool = False,
    by: str | None = None,
    event_time: str | None = None,
) -> Event:
    """Return the event that deprecates a dataset or a job, with the tag `deprecated`.

    A `reason` of None withdraws the deprecation. `replacement` is a urn, and `until` the date from
    which nobody should use it.
    """
    tag = {"added" if reason is not None else "removed": [{"key": DEPRECATED_TAG}]}
    value = None
    if reason is not None:
        given = {"reason": reason, "replacementUrn": replacement, "until": until}
        value = {key: text for key, text in given.items() if text is not None}
    facets = {
        TAG_EDITS_FACET: _facet(TAG_EDITS_FACET, tag),
        **_edits(by, deprecation={"value": value}),
    }
    return _facets_event(namespace, name, facets, event_time, is_job=is_job)


def approval_event(
    namespace: str,
    name: str,
    *,
    policy: str,
    reason: str | None,
    until: str | None = None,
    is_job: bool = False,
    by: str | None = None,
    event_time: str | None = None,
) -> Event:
    """Return the event that approves, under one policy, what is done to a dataset or a job.

    A `reason` of None withdraws the approval. `until` is the last day on which it counts.
    """
    value = None if reason is None else {"reason": reason}
    if value and until is not None:
        value["until"] = until
    facets = _edits(by, approval={"policy": policy, "value": value})
    return _facets_event(namespace, name, facets, event_time, is_job=is_job)


def deletion_event(
    namespace: str,
    name: str,
    *,
    is_job: bool = False,
    by: str | None = None,
    event_time: str | None = None,
) -> Event:
    """Return the event that hides a dataset or a job from lists until a later event names it."""
    facets = {DELETION_FACET: _facet(DELETION_FACET, {}), **_edits(by)}
    return _facets_event(namespace, name, facets, event_time, is_job=is_job)


def tag_event(name: str, *, description: str | None = None, event_time: str | None = None) -> Event:
    """Return the event that defines a tag, so that it is listed before its first use."""
    facets = {TAG_FACET: _facet(TAG_FACET, {"description": description})}
    return _dataset_event(TAG_NAMESPACE, name, facets, event_time)


def asset_events(
    name: str,
    *,
    asset_type: str,
    source_ref: str,
    namespace: str = DEFAULT_NAMESPACE,
    upstream: Sequence[DatasetName] = (),
    is_process: bool = False,
    was_process: bool = False,
    code: tuple[str, str] | None = None,
    event_time: str | None = None,
) -> list[Event]:
    """Return the events of a registered asset and its upstream; they replace earlier registrations.

    Every asset is a dataset. A process (a DAG, a Spark job) is also a job of the same name, which
    reads the upstream and writes that dataset. So others can name it as upstream before it is
    registered. `was_process` withdraws the declarations of such a job. `code` is the language and
    the text of its code; without it, code of an earlier registration no longer counts.
    """
    asset = _facet(ASSET_FACET, {"sourceRef": source_ref})
    sources = [
        {"namespace": dataset["namespace"], "name": dataset["name"], "type": "DATASET"}
        for dataset in upstream
    ]
    own = {"namespace": namespace, "name": name}
    facets = {
        ASSET_FACET: asset,
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
            ASSET_FACET: asset,
            "jobType": _facet("jobType", kind),
            "sourceCode": _source_code(code if is_process else None),
            **_code_location(source_ref),
            "lineage": _facet("lineage", {"entries": entries if is_process else []}),
        }
        body = {"job": {**own, "facets": job_facets}, "inputs": [], "outputs": []}
        events.append(_event("JobEvent", event_time, body))
    return events


def _source_code(code: tuple[str, str] | None) -> dict[str, Any]:
    if code is None:
        return _facet("sourceCode", {"_deleted": True})
    language, text = code
    return _facet("sourceCode", {"language": language, "sourceCode": text})


def _code_location(source_ref: str) -> dict[str, Any]:
    """Return the code location of a job, if its source reference is a path or an address."""
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
    """Return the events of a run: its START, if that time is known, and its end, unless it is
    running.

    `status` is an event type of OpenLineage or a word such as `success` or `failed`. An input is
    `{"namespace", "name"}`, read as it was when the run started, or has `"runId"`, for the version
    that run made. A run without any time is `undated`: the versions that it made give its time.

    Raises KeyError for an unknown status, EventError for a malformed time or an end before the
    start.
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
