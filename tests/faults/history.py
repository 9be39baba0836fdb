"""A history whose graph can be worked out by hand.

Run i belongs to job i % JOBS, reads `raw-(i % RAWS)`, which nothing made, and writes `mart-(i %
JOBS)`. It begins in second 10 i and ends 5 s later; every tenth fails. Two events a run.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from headwater.cypher.driver.database import Database

JOBS = 20
RAWS = 50
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
  COUNT { (:Dataset)-[:FEEDS]->(:Job) } AS map_reads,
  COUNT { (:Job)-[:PRODUCED]->(:Dataset) } AS map_writes
"""


def _event(i: int, state: str, second: int) -> dict[str, Any]:
    day, rest = divmod(second, 86_400)
    hour, minute = divmod(rest // 60, 60)
    fields = [{"name": name, "type": "string"} for name in FIELDS]
    return {
        "eventTime": f"2026-01-{day + 1:02d}T{hour:02d}:{minute:02d}:{rest % 60:02d}Z",
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
    """The two events of run i."""
    states = ("START", "FAIL" if i % 10 == 0 else "COMPLETE")
    return [json.dumps(_event(i, state, 10 * i + 5 * k)).encode() for k, state in enumerate(states)]


def history(runs: int, first: int = 0) -> list[bytes]:
    return [body for i in range(first, first + runs) for body in events_of(i)]


def endless(first: int = 0) -> Iterator[list[bytes]]:
    """Single events, for ever."""
    return ([body] for i in itertools.count(first) for body in events_of(i))


def expected(runs: int) -> dict[str, int]:
    """The counts of the graph of runs 0 to `runs` - 1; `runs` is a multiple of 100, where the
    pattern repeats.
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
        # i % 50 and i % 20 take 100 different pairs before they repeat.
        "map_reads": 100,
        "map_writes": JOBS,
    }


def counted(database: Database) -> dict[str, int]:
    return dict(database.ask(_COUNTS, {})[0])
