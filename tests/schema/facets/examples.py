"""Checks that the tests of all facets share."""

from __future__ import annotations

import json
from typing import Any

from headwater.schema.facets import Entity, fault_of

UUID = "0198c2f4-7a3b-7c11-9d5e-6f1a2b3c4d5e"
NAMED = {"namespace": "db", "name": "t"}
TIME = "2026-01-31T12:00:00Z"
# Entity, key, a valid facet, a faulty facet, and the path of the fault.
Example = tuple[Entity, str, dict[str, Any], dict[str, Any], str]


def check_example(example: Example) -> None:
    """Check that the valid facet passes and that the faulty one fails at its path."""
    entity, key, good, bad, path = example
    signed = {"_producer": "https://a", "_schemaURL": "https://b", "extra": {"is": "allowed"}}
    assert fault_of(entity, key, json.dumps({**good, **signed}).encode()) is None
    fault = fault_of(entity, key, json.dumps({**bad, **signed}).encode())
    assert fault is not None
    assert fault.path == path
    assert fault.message


def name_of(example: Example) -> str:
    """Return the name of an example in a test report."""
    return f"{example[0]}-{example[1]}"
