"""Projections of handwritten events."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from headwater.ingest.fold import fold
from headwater.ingest.project import (
    AnswerView,
    DatasetView,
    RunView,
    answer_view,
    dataset_view,
    run_view,
)
from headwater.schema.events import parse
from headwater.schema.naming import load_naming

# A facet without results.
UNTOLD = dict.fromkeys(
    ("assertions", "metrics", "failedChecks", "failedColumns", "qualityDataset", "reportedAt")
)


UNMARKED = {**UNTOLD, **dict.fromkeys(("checkedVersion", "updatedVersion", "failingVersion"))}


FACET = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}


def at(minute: int) -> str:
    return f"2026-01-01T00:{minute:02d}:00Z"


def moment(minute: int) -> datetime:
    return datetime(2026, 1, 1, 0, minute, tzinfo=UTC)


def event(
    minute: int, state: str, *, facets: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    run = {"runId": "r", "facets": facets or {}}
    return {
        "eventTime": at(minute),
        "eventType": state,
        "run": run,
        "job": {"namespace": "etl", "name": "j"},
        **more,
    }


def run(*events: dict[str, Any]) -> RunView:
    return run_view(
        fold(parse(json.dumps(e).encode(), received=0) for e in events).runs["run:r"], {}
    )


def table(*facets: dict[str, Any]) -> DatasetView:
    events = [
        {"eventTime": at(i), "dataset": {"namespace": "db", "name": "t", "facets": f}}
        for i, f in enumerate(facets)
    ]
    return dataset_view(
        fold(parse(json.dumps(e).encode(), received=0) for e in events).datasets["dataset:db:t"]
    )


def answer(*events: dict[str, Any]) -> AnswerView:
    return answer_view(
        fold(parse(json.dumps(e).encode(), received=0) for e in events).answers["answer:a"],
        load_naming(),
        {},
    )


def output(rows: Any = None, **more: Any) -> dict[str, Any]:
    statistics = {"outputStatistics": {**FACET, "rowCount": rows, **more}}
    return {"namespace": "db", "name": "t", "outputFacets": statistics}


def failed(name: str, message: str) -> dict[str, Any]:
    return {name: {**FACET, "message": message}}


def schema(*fields: Any) -> dict[str, Any]:
    return {"schema": {**FACET, "fields": list(fields)}}
