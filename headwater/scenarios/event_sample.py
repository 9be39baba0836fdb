"""The lineage of single events: where a job read an event, and where it wrote it.

Only events of the sample have it (`headwater.steps.is_sampled`). The records go to a file beside
the tables. The run has their counts, and some of the lost keys, as a step in its facets.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import headwater.steps
from headwater.scenarios.rows import Row, Rows
from headwater.scenarios.workshop import Event, Job
from headwater.steps.row_changes import SAMPLE_MAX, row_changes

STEPS_FACET = "headwater_steps"
STEP = "sampled_events"


def event_records(
    job: Job,
    before: Rows,
    after: Rows,
    key: str,
    rate: float,
    *,
    read_from: int = 0,
    written_from: int = 0,
) -> Rows:
    """Return a record for each sampled event that a job read.

    `readAt` and `writtenAt` are offsets in the topics. `writtenAt` is null for an event that the
    job did not write.

    Args:
        job: The job.
        before: The rows that it read.
        after: The rows that it wrote.
        key: The column with the key of an event.
        rate: The share of the events in the sample.
        read_from: The offset of the first row that it read.
        written_from: The offset of the first row that it wrote.
    """
    written = {row[key]: number for number, row in enumerate(after, written_from)}
    return [
        {
            "job": job.name,
            "key": row[key],
            "readFrom": job.inputs[0],
            "readAt": number,
            "writtenTo": job.output,
            "writtenAt": written.get(row[key]),
        }
        for number, row in enumerate(before, read_from)
        if headwater.steps.is_sampled(row[key], rate)
    ]


def steps_facet(job: Job, records: Sequence[Row], key: str) -> Event:
    """Return the facet with the counts of the records, as `headwater.steps` sends it."""
    before = {one["key"] for one in records}
    after = {one["key"] for one in records if one["writtenAt"] is not None}
    tracking = headwater.steps.rows(key, sample=SAMPLE_MAX, hashed=False)
    code = hashlib.sha256(inspect.getsource(job.compute).encode()).hexdigest()[:16]
    step = {
        "number": 1,
        "name": STEP,
        "codeHash": code,
        "inputs": [],
        "outputs": [],
        "rows": row_changes(before, after, tracking),
    }
    return {STEPS_FACET: {"steps": [step], "omitted": 0}}


def as_lines(records: Sequence[Row]) -> str:
    """Return records as lines of JSON."""
    return "".join(f"{json.dumps(one)}\n" for one in records)


def write_records(file: Path, records: Sequence[Row]) -> None:
    """Write records to a file, and create its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(as_lines(records), encoding="utf-8")


def read_records(file: Path) -> list[dict[str, Any]]:
    """Return the records of a file."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
