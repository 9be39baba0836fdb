"""The standard events of the measurements, about 6 kB each, as Spark's integration sends them.

A run has two events (START and COMPLETE), two inputs, one output, schemas of ten fields and twenty
column edges. Job `j` reads the tables `j` and `j + 1` of its lake and writes table `j + 2`, so the
jobs of a lake form one long chain. From run to run of a job only ids, times and row counts change.
The text of a job is built once and filled in for each run, so building events takes next to no
time.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count
from typing import Any

PRODUCER = "https://github.com/OpenLineage/spark/1.53.0"
NAMESPACE = "spark://bench"
LAKE = "s3://lake"
COLUMNS = tuple(f"c{k}" for k in range(10))
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
# Seconds between the starts of runs; each run takes half as long.
_STEP_SECONDS = 2.0
# A prime number: jobs take turns such that hardly any begins while its input is being written.
_STRIDE = 7_919
_IDS = uuid.UUID("6b1f2e0c-8a53-4d0b-9f0e-0f6d1c2b3a49")


def run_id(number: int) -> str:
    """Return the id of run `number`; it is the same in every measurement."""
    return str(uuid.uuid5(_IDS, str(number)))


def pair(number: int, jobs: int, *, lasting: float = 0.5, stride: int = 1) -> tuple[bytes, bytes]:
    """Return START and COMPLETE of run `number`, of the job `number * stride % jobs`, as JSON.

    The run ends when `lasting` other runs have begun after it.
    """
    began = _FIRST + timedelta(seconds=number * _STEP_SECONDS)
    job = number * stride % jobs
    return run_of(job, (job + 1, job, job + 2), number, began, seconds=lasting * _STEP_SECONDS)


def table_name(number: int) -> str:
    """Return the name of a table of the lake."""
    return f"sales/t{number:06}"


def run_of(
    job: int,
    tables: tuple[int, int, int],
    number: int,
    began: datetime,
    *,
    seconds: float,
    state: str = "COMPLETE",
) -> tuple[bytes, bytes]:
    """Return START and end of run `number` of a job that reads two tables and writes the third."""
    parts = _template(job, tables)
    values = {b"@run@": run_id(number).encode(), b"@rows@": str(1_000 + number % 1_000).encode()}
    ended = began + timedelta(seconds=seconds)
    return (
        _filled(parts, {**values, b"@state@": b"START", b"@time@": _text(began)}),
        _filled(parts, {**values, b"@state@": state.encode(), b"@time@": _text(ended)}),
    )


def events(runs: int, jobs: int, *, first: int = 0) -> Iterator[bytes]:
    """Yield the events of `runs` runs, run by run; `jobs` jobs take turns."""
    for number in range(first, first + runs):
        yield from pair(number, jobs)


def interleaved(jobs: int, apart: int, *, first: int = 0) -> Iterator[bytes]:
    """Yield the events of runs without end, from run number `first`; each run ends when `apart`
    others have begun.
    """
    for number in count(first):
        yield pair(number, jobs, stride=_STRIDE)[0]
        if number >= first + apart:
            yield pair(number - apart, jobs, lasting=apart + 0.5, stride=_STRIDE)[1]


def _text(moment: datetime) -> bytes:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()


def _filled(parts: tuple[bytes, ...], values: dict[bytes, bytes]) -> bytes:
    return b"".join(values.get(part, part) for part in parts)


@lru_cache(maxsize=100_000)
def _template(job: int, tables: tuple[int, int, int]) -> tuple[bytes, ...]:
    """Return the text of a job's events, cut at the values that change."""
    text = (
        json.dumps(_event(job, tables), separators=(",", ":"))
        .replace('"@rows@"', "@rows@")
        .encode()
    )
    parts = [text]
    for mark in (b"@time@", b"@state@", b"@run@", b"@rows@"):
        parts = [piece for part in parts for piece in _cut(part, mark)]
    return tuple(parts)


def _cut(part: bytes, mark: bytes) -> list[bytes]:
    pieces: list[bytes] = []
    for piece in part.split(mark):
        pieces += [mark, piece]
    return pieces[1:]


def _facet(schema: str, **values: Any) -> dict[str, Any]:
    return {
        "_producer": PRODUCER,
        "_schemaURL": f"https://openlineage.io/spec/facets/1-0-0/{schema}.json#/$defs/{schema}",
        **values,
    }


def _table(number: int) -> dict[str, Any]:
    fields = [{"name": name, "type": "string"} for name in COLUMNS]
    return {
        "namespace": LAKE,
        "name": table_name(number),
        "facets": {
            "dataSource": _facet("DatasourceDatasetFacet", name=LAKE, uri=LAKE),
            "schema": _facet("SchemaDatasetFacet", fields=fields),
        },
    }


def _event(job: int, tables: tuple[int, int, int]) -> dict[str, Any]:
    *sources, target = (_table(number) for number in tables)
    identity = {"type": "DIRECT", "subtype": "IDENTITY"}
    target["facets"]["columnLineage"] = _facet(
        "ColumnLineageDatasetFacet",
        fields={
            name: {
                "inputFields": [
                    {
                        "namespace": LAKE,
                        "name": s["name"],
                        "field": name,
                        "transformations": [identity],
                    }
                    for s in sources
                ]
            }
            for name in COLUMNS
        },
    )
    target["outputFacets"] = {
        "outputStatistics": _facet("OutputStatisticsOutputDatasetFacet", rowCount="@rows@")
    }
    return {
        "eventTime": "@time@",
        "eventType": "@state@",
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {
            "runId": "@run@",
            "facets": {
                "processing_engine": _facet(
                    "ProcessingEngineRunFacet",
                    name="spark",
                    version="4.1.3",
                    openlineageAdapterVersion="1.53.0",
                )
            },
        },
        "job": {
            "namespace": NAMESPACE,
            "name": f"job_{job:06}",
            "facets": {
                "jobType": _facet(
                    "JobTypeJobFacet", processingType="BATCH", integration="SPARK", jobType="JOB"
                )
            },
        },
        "inputs": sources,
        "outputs": [target],
    }
