"""Facets of jobs."""

from __future__ import annotations

import pytest

from tests.schema.facets.examples import Example, check_example, name_of

EXAMPLES: list[Example] = [
    ("job", "documentation", {"description": "d"}, {"description": None}, "description"),
    (
        "job",
        "jobType",
        {"processingType": "BATCH", "integration": "SPARK"},
        {
            "processingType": "STREAMING",
            "integration": "FLINK",
            "emissionPattern": {"eventTrigger": "t", "eventContentMode": "m", "windowDuration": 0},
        },
        "emissionPattern.windowDuration",
    ),
    (
        "job",
        "ownership",
        {"owners": [{"name": "ann", "type": "MAINTAINER"}]},
        {"owners": [{}]},
        "owners[].name",
    ),
    (
        "job",
        "sourceCode",
        {"language": "python", "sourceCode": "pass"},
        {"language": "python"},
        "sourceCode",
    ),
    (
        "job",
        "sourceCodeLocation",
        {"type": "git", "url": "https://a/b"},
        {"type": "git", "url": "a/b"},
        "url",
    ),
    ("job", "sql", {"query": "select 1", "dialect": "ansi"}, {"query": ["select 1"]}, "query"),
    (
        "job",
        "tags",
        {"tags": [{"key": "k", "value": "v"}]},
        {"tags": [{"value": "v"}]},
        "tags[].key",
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_a_valid_facet_passes_and_a_fault_is_reported_at_its_path(example: Example) -> None:
    check_example(example)
