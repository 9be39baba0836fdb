"""Deltas of handwritten events."""

from __future__ import annotations

import json
from typing import Any

from headwater.ingest.fold import fold
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse, parse_instant
from headwater.schema.facts import LwwRegister, Name

NOON = "2026-01-01T12:00:00Z"


AT = parse_instant(NOON)


FACET = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}


JOB = {"namespace": "etl", "name": "load"}


A, B, T = Name("db", "a"), Name("db", "b"), Name("db", "t")


def dataset(name: str, facets: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"namespace": "db", "name": name, **({"facets": facets} if facets else {}), **more}


def delta_of(*events: dict[str, Any]) -> GraphDelta:
    return fold(
        parse(json.dumps({"eventTime": NOON, **event}).encode(), received=0) for event in events
    )


def run_event(state: str = "COMPLETE", **more: Any) -> dict[str, Any]:
    return {
        "eventType": state,
        "run": {"runId": "r", "facets": more.pop("facets", None)},
        "job": JOB,
        **more,
    }


def facet(value: str, name: str = "f") -> LwwRegister | None:
    dataset = f'{{"namespace":"db","name":"t","facets":{{"{name}":{value}}}}}'
    body = f'{{"eventTime":"{NOON}","dataset":{dataset}}}'
    return fold([parse(body.encode(), received=0)]).datasets["dataset:db:t"].facets.get(name)
