"""The `parent` facet in every spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.schema.facets import JobName, Parent, read_parent
from tests.schema.facets.examples import NAMED, UUID, Example, check_example, name_of

EXAMPLES: list[Example] = [
    (
        "run",
        "parent",
        {"run": {"runId": UUID}, "job": NAMED, "root": {"run": {"runId": UUID}, "job": NAMED}},
        {"run": {"runId": "scheduled__2026"}, "job": NAMED},
        "run.runId",
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_a_valid_facet_passes_and_a_fault_is_reported_at_its_path(example: Example) -> None:
    check_example(example)


JOB = JobName("db", "t")
PARENTS: list[tuple[str, dict[str, Any], Parent | None]] = [
    ("as it should be", {"parent": {"run": {"runId": UUID}, "job": NAMED}}, Parent(UUID, JOB)),
    (
        "with a root",
        {
            "parent": {
                "run": {"runId": "r"},
                "job": NAMED,
                "root": {"run": {"runId": "q"}, "job": NAMED},
            }
        },
        Parent("r", JOB, "q", JOB),
    ),
    ("the older key", {"parentRun": {"run": {"runId": "r"}, "job": NAMED}}, Parent("r", JOB)),
    (
        "both keys",
        {"parentRun": {"run": {"runId": "old"}}, "parent": {"run": {"runId": "new"}}},
        Parent("new"),
    ),
    (
        "a broken new one",
        {"parent": {"run": 7}, "parentRun": {"run": {"runId": "old"}}},
        Parent("old"),
    ),
    ("no job", {"parent": {"run": {"runId": "r"}}}, Parent("r")),
    ("no run", {"parent": {"job": NAMED}}, Parent(None, JOB)),
    ("a job by half", {"parent": {"run": {"runId": "r"}, "job": {"name": "t"}}}, Parent("r")),
    ("snake case", {"parent": {"run": {"run_id": "r"}}}, Parent("r")),
    ("flat", {"parent": {"runId": "r", "namespace": "db", "name": "t"}}, Parent("r", JOB)),
    (
        "flat and prefixed",
        {"parent": {"parentRunId": "r", "rootParentRunId": "q"}},
        Parent("r", None, "q"),
    ),
    ("blank", {"parent": {"run": {"runId": " "}}}, None),
    ("deleted", {"parent": {"_deleted": True, "run": {"runId": "r"}}}, None),
    ("null", {"parent": None}, None),
    ("a list", {"parent": [{"runId": "r"}]}, None),
    ("none", {"nominalTime": {}}, None),
]


@pytest.mark.parametrize(
    ("facets", "parent"), [case[1:] for case in PARENTS], ids=[case[0] for case in PARENTS]
)
def test_a_parent_is_read_in_every_spelling(facets: dict[str, Any], parent: Parent | None) -> None:
    assert read_parent({key: json.dumps(value).encode() for key, value in facets.items()}) == parent


def test_no_facets_name_no_parent() -> None:
    assert read_parent(None) is None
