"""Projections of jobs, computed by hand."""

from __future__ import annotations

import json

from headwater.ingest.fold import fold
from headwater.ingest.project import (
    job_properties,
)
from headwater.schema.events import parse
from tests.ingest.project.projections import (
    FACET,
    at,
    moment,
)


def test_a_job() -> None:
    facets = {
        "sql": {**FACET, "query": "SELECT 1"},
        "jobType": {**FACET, "jobType": "SQL_JOB", "integration": "SPARK"},
    }
    declaration = {"eventTime": at(1), "job": {"namespace": "etl", "name": "j", "facets": facets}}
    node = job_properties(
        fold([parse(json.dumps(declaration).encode(), received=0)]).jobs["job:etl:j"]
    )
    assert (node["sql"], node["type"], node["firstSeen"], node["lastSeen"]) == (
        "SELECT 1",
        "SQL_JOB",
        moment(1),
        moment(1),
    )
