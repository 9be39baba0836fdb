"""A run history whose graph can be computed by hand.

Run i belongs to job i % JOBS, reads the source `raw-(i % RAWS)` and writes `mart-(i % JOBS)`. It
starts in second 10 i and ends 5 s later. Every tenth run fails. Each run has two events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain, count
from typing import Any

from headwater.cypher.driver.database import Database

JOBS = 20
RAWS = 50
BEGIN = datetime(2026, 1, 1)
FIELDS = ("id", "carrier", "delay", "origin", "dest")
FACET = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}
_COUNTS = """
MATCH (n) WITH count(n) AS nodes
RETURN
  COUNT { (:PipelineRun) } AS runs,
  COUNT { (:PipelineRun {status: 'FAIL'}) } AS failed,
  COUNT { (:PipelineRun {status: 'COMPLETE'}) } AS complete,
  COUNT { (:Artifact) } AS artifacts,
  COUNT { (:Source) } AS sources,
  COUNT { (:Dataset) } AS datasets,
  COUNT { (:Job) } AS jobs,
  COUNT { (:Column) } AS columns,
  COUNT { (:Source)-[:FEEDS]->(:PipelineRun) } AS reads,
  COUNT { (:Artifact)-[:FEEDS]->(:PipelineRun) } AS reads_of_artifacts,
  COUNT { (:PipelineRun)-[:PRODUCED]->(:Artifact) } AS writes,
  COUNT { (:PipelineRun)-[:RUN_OF]->(:Job) } AS run_of,
  COUNT { (:Dataset)-[:FEEDS]->(:Job) } AS job_inputs,
  COUNT { (:Job)-[:PRODUCED]->(:Dataset) } AS job_outputs
"""


def _event(i: int, state: str, second: int) -> dict[str, Any]:
    fields = [{"name": name, "type": "string"} for name in FIELDS]
    return {
        "eventTime": f"{BEGIN + timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ}",
        "eventType": state,
        "producer": "https://example.com/p",
        "run": {"runId": f"00000000-0000-4000-8000-{i:012d}"},
        "job": {"namespace": "etl", "name": f"job-{i % JOBS}"},
        "inputs": [{"namespace": "db", "name": f"raw-{i % RAWS}"}],
        "outputs": [
            {
                "namespace": "db",
                "name": f"mart-{i % JOBS}",
                "facets": {"schema": {**FACET, "fields": fields}},
                "outputFacets": {"outputStatistics": {**FACET, "rowCount": i}},
            }
        ],
    }


def events_of(i: int) -> list[bytes]:
    """Return the two events of run i."""
    states = ("START", "FAIL" if i % 10 == 0 else "COMPLETE")
    return [json.dumps(_event(i, state, 10 * i + 5 * k)).encode() for k, state in enumerate(states)]


def history(runs: int, first: int = 0) -> list[bytes]:
    return list(chain.from_iterable(events_of(i) for i in range(first, first + runs)))


def endless(first: int = 0) -> Iterator[list[bytes]]:
    """Yield single events without end."""
    for i in count(first):
        for body in events_of(i):
            yield [body]


def expected(runs: int) -> dict[str, int]:
    """Return the counts of the graph of `runs` runs.

    `runs` must be a multiple of 100, because the pattern repeats after 100 runs.
    """
    assert runs % 100 == 0
    return {
        "runs": runs,
        "failed": runs // 10,
        "complete": runs - runs // 10,
        "artifacts": runs,
        "sources": RAWS,
        "datasets": RAWS + JOBS,
        "jobs": JOBS,
        "columns": JOBS * len(FIELDS),
        "reads": runs,
        "reads_of_artifacts": 0,
        "writes": runs,
        "run_of": runs,
        # i % 50 and i % 20 have 100 different pairs.
        "job_inputs": 100,
        "job_outputs": JOBS,
    }


def counted(database: Database) -> dict[str, int]:
    return dict(database.ask(_COUNTS, {})[0])
