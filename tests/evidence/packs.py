"""A small evidence pack without a graph, for the tests of the digest and the page."""

from __future__ import annotations

from typing import Any


def pack(name: str = "orders") -> dict[str, Any]:
    """Build a pack in which every text from an event is `name`."""
    node = {
        "urn": f"dataset:db:{name}",
        "kind": "DATASET",
        "namespace": name,
        "name": name,
        "directions": [],
    }
    job = {
        "urn": f"job:etl:{name}",
        "kind": "JOB",
        "namespace": "etl",
        "name": name,
        "directions": ["UPSTREAM"],
    }
    return {
        "format": "headwater-evidence/1",
        "headwater": name,
        "createdAt": "2026-01-01T00:00:00Z",
        "subject": {**node, "properties": {"description": name, name: name}},
        "lineage": {
            "bounds": {"depth": 10},
            "truncated": {"UPSTREAM": name, "DOWNSTREAM": None},
            "nodes": [node, job],
            "edges": [{"source": job["urn"], "target": node["urn"], "type": name}],
        },
        "runs": {
            "perJob": 10,
            "items": [{"status": name, "error": name, "runId": name}],
            "truncatedFor": [name],
        },
        "codeVersions": [{"job": name, "versions": [name]}],
        "versions": {
            "perDataset": 10,
            "items": [{"dataset": name, "drift": [name]}],
            "truncatedFor": [],
        },
        "freshness": [{"dataset": name, "updatedAt": None, "ageSeconds": 5}],
        "violations": [{"kind": name, "at": None, "urn": name, "detail": name}],
        "findings": [{"urn": name, "rule": name, "root": name, "evidence": {name: [name]}}],
        "owners": [{"urn": name, "owners": [name]}],
        "tags": [{"urn": name, "tags": [name]}],
    }
