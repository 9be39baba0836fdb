"""Parts of OpenLineage events that the importers share."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from headwater.schema.headwater_facets import PRODUCER, Event

DatasetName = tuple[str, str]
# A column of a dataset.
Field = tuple[DatasetName, str]

_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
_FACETS = "https://openlineage.io/spec/facets"
_RUN_IDS = uuid.UUID("b7a2e8f0-5d0b-5b7e-8a3e-2f3a1c9d4e10")
# Standard facets that importers send, with their versions.
_SCHEMAS = {
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "dataQualityAssertions": "1-0-1/DataQualityAssertionsDatasetFacet",
    "dataQualityMetrics": "1-0-2/DataQualityMetricsDatasetFacet",
    "dataSource": "1-0-1/DatasourceDatasetFacet",
    "errorMessage": "1-0-1/ErrorMessageRunFacet",
    "jobType": "2-0-3/JobTypeJobFacet",
    "lifecycleStateChange": "1-0-1/LifecycleStateChangeDatasetFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet",
    "parent": "1-1-0/ParentRunFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
    "schema": "1-1-1/SchemaDatasetFacet",
    "sql": "1-1-0/SQLJobFacet",
    "symlinks": "1-0-1/SymlinksDatasetFacet",
}


def facets(**named: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return facets by name, each with the fields that are not None; without fields it is absent.

    The name of a field may end with `_`, where it would be a word of Python."""
    result = {}
    for name, fields in named.items():
        present = {key: value for key, value in (fields or {}).items() if value is not None}
        if present:
            path = _SCHEMAS.get(name)
            url = f"{_FACETS}/{path}.json" if path else f"{PRODUCER}/facets/{name}.json"
            result[name] = {"_producer": PRODUCER, "_schemaURL": url, **present}
    return result


def dataset(name: DatasetName, own: Mapping[str, Any] | None = None, **more: Any) -> Event:
    """Return a dataset of an event, with its facets if it has any."""
    named: Event = {"namespace": name[0], "name": name[1]}
    if own:
        named["facets"] = dict(own)
    return named | {key: value for key, value in more.items() if value}


def run_event(
    event_type: str,
    time: str,
    run_id: str,
    job: Event,
    *,
    run_facets: Mapping[str, Any],
    inputs: Iterable[Event] = (),
    outputs: Iterable[Event] = (),
) -> Event:
    """Return one event of a run."""
    return {
        "eventType": event_type,
        "eventTime": time,
        "producer": PRODUCER,
        "schemaURL": f"{_SPEC}#/$defs/RunEvent",
        "run": {"runId": run_id, "facets": dict(run_facets)},
        "job": job,
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def job_event(time: str, job: Event, inputs: Iterable[Event], outputs: Iterable[Event]) -> Event:
    """Return an event that declares what a job reads and writes."""
    return {
        "eventTime": time,
        "producer": PRODUCER,
        "schemaURL": f"{_SPEC}#/$defs/JobEvent",
        "job": job,
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def dataset_event(time: str, described: Event) -> Event:
    """Return an event that describes a dataset."""
    return {
        "eventTime": time,
        "producer": PRODUCER,
        "schemaURL": f"{_SPEC}#/$defs/DatasetEvent",
        "dataset": described,
    }


def column_lineage(
    direct: Mapping[str, Iterable[Field]], indirect: Iterable[Field] = ()
) -> dict[str, Any] | None:
    """Return the fields of a columnLineage facet: the sources of each column, and of all rows."""
    fields = {
        column: {"inputFields": [_input_field(source) for source in sorted(set(sources))]}
        for column, sources in direct.items()
    }
    fields = {column: entry for column, entry in fields.items() if entry["inputFields"]}
    whole = [
        {**_input_field(source), "transformations": [{"type": "INDIRECT"}]}
        for source in sorted(set(indirect))
    ]
    if not fields and not whole:
        return None
    return {"fields": fields, "dataset": whole or None}


def _input_field(source: Field) -> dict[str, str]:
    (namespace, name), column = source
    return {"namespace": namespace, "name": name, "field": column}


def stable_run_id(*parts: str) -> str:
    """Return a run id that is the same for the same parts."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass"))
    return str(uuid.uuid5(_RUN_IDS, digest.hexdigest()))


def to_time(instant: int) -> str:
    """Return an instant (microseconds since 1970, UTC) as ISO 8601."""
    seconds, microseconds = divmod(instant, 1_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=microseconds)
    return moment.isoformat().replace("+00:00", "Z")
