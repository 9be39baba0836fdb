"""Small run histories in one line each, which the real writer folds into the graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.schema import headwater_facets as native
from headwater.schema.events import parse
from headwater.schema.urns import artifact_urn, column_urn, dataset_urn, job_urn, run_urn

Event = dict[str, Any]
FACET = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}
SPOOL = "stories"
# The receipt of events in tests, in microseconds since 1970: later than the times of the events.
RECEIVED = 1_790_000_000_000_000


def at(minute: int) -> str:
    """Return the time `minute` minutes after midnight on 1 January 2026."""
    return f"{datetime(2026, 1, 1) + timedelta(minutes=minute):%Y-%m-%dT%H:%M:%SZ}"


def ds(name: str) -> str:
    return dataset_urn("db", name)


def job(name: str) -> str:
    return job_urn("etl", name)


def column(name: str, field: str) -> str:
    return column_urn("db", name, field)


def version(name: str, run_id: str) -> str:
    return artifact_urn("db", name, run_id)


def run(
    run_id: str,
    pipeline: str,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    *,
    minute: int = 0,
    status: str = "COMPLETE",
    derived: Mapping[str, Sequence[str]] | None = None,
    error: str | None = None,
    parent: str | None = None,
    version: str | None = None,
    rows: int | None = None,
) -> list[Event]:
    """Return the events of a run of one minute.

    `derived` has the inputs from which each output is derived; it becomes column lineage.
    """
    events = native.run_events(
        run_id,
        pipeline_name=pipeline,
        namespace="etl",
        status=status,
        started_at=at(minute),
        finished_at=at(minute + 1),
        error=error,
        version=version,
        inputs=[{"namespace": "db", "name": name} for name in inputs],
        outputs=[{"namespace": "db", "name": name} for name in outputs],
    )
    for event in events:
        if parent is not None:
            event["run"]["facets"]["parent"] = {
                **FACET,
                "run": {"runId": parent},
                "job": {"namespace": "etl", "name": "dag"},
            }
        for output in event["outputs"]:
            if derived and output["name"] in derived:
                output["facets"] = {"columnLineage": column_lineage(derived[output["name"]])}
            if rows is not None:
                output["outputFacets"] = {"outputStatistics": {**FACET, "rowCount": rows}}
    return events


def column_lineage(sources: Sequence[str]) -> Event:
    fields = [{"namespace": "db", "name": name, "field": "id"} for name in sources]
    return {**FACET, "fields": {"id": {"inputFields": fields}}}


def answer(
    answer_id: str,
    *cites: str | Mapping[str, str],
    minute: int = 0,
    content: str | None = None,
    url: str | None = None,
    owners: Sequence[str] | None = None,
) -> list[Event]:
    """Return the event of an answer; a plain string cites a dataset by name."""
    citations = [
        {"namespace": "db", "name": cite} if isinstance(cite, str) else dict(cite) for cite in cites
    ]
    return [
        native.answer_event(
            answer_id,
            cites=citations,
            generated_at=at(minute),
            content=content,
            url=url,
            owners=owners,
        )
    ]


def write_events(database: Database, *stories: Sequence[Event]) -> None:
    """Fold events into the graph, as the worker would."""
    bodies = [json.dumps(event).encode() for event in chain.from_iterable(stories)]
    before = read_checkpoint(database, SPOOL)
    after = Checkpoint(before.position + len(bodies), before.folded + len(bodies), before.dead)
    delta = fold(parse(body, received=0) for body in bodies)
    write(database, WriteRequest(delta, spool=SPOOL, before=before, after=after, holder="tests"))


def run_of(run_id: str) -> str:
    return run_urn(run_id)
