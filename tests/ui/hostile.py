"""A history of hostile texts: markup, reversed writing, no spaces, 10 kB, quotes, newlines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from headwater.schema.urns import dataset_urn, job_urn
from tests.run_builders import FACET, Event, answer, run

MARKUP = '<img src=x onerror="window.hostile=1">'
REVERSED = "\u202eevil\u202c \u2067mixed \u05d0\u05d1\u05d2"
_SIGNS = "\"'`{{7*7}}${7*7}</script><b>&amp;\t🦆👩‍👩‍👧"
NAME = f"{MARKUP}{REVERSED}{_SIGNS}"
LONG = f"{MARKUP}{'long' * 2_500}"
LINES = f"{NAME}\nsecond line\r\n{LONG}"
JOB, RUN, ANSWER = f"job {NAME}", "hostile-run", f"answer {NAME}"
# An urn may not be longer, so the long name has the hash as its urn.
DATASETS = (f"table {NAME}", f"table {LONG}")


def history() -> list[list[Event]]:
    """Return a failed run, a complete one, a reader of its data and an answer; all of today."""
    stories = [
        _run(RUN, minute=0, status="FAIL", error=LINES),
        _run("hostile-2", minute=5, error=None),
        run("hostile-3", f"next {NAME}", [DATASETS[0]], ["end"], minute=9, version=NAME),
        answer(ANSWER, DATASETS[0], minute=10, content=LINES),
    ]
    today = datetime.now(UTC).date().isoformat()
    moved: list[list[Event]] = json.loads(json.dumps(stories).replace("2026-01-01T", f"{today}T"))
    return moved


def paths() -> dict[str, str]:
    """Return the address of each view of this history."""
    table, job, long = (
        quote(urn, safe="")
        for urn in (
            dataset_urn("db", DATASETS[0]),
            job_urn("etl", JOB),
            dataset_urn("db", DATASETS[1]),
        )
    )
    return {
        "home": "/",
        "search": f"/search?text={quote(NAME)}",
        "graph": f"/lineage?urn={table}&depth=3",
        "graph as a list": f"/lineage?urn={table}&depth=3&view=list",
        "failures": "/failures?since=all",
        "failure": f"/failures?since=all&open=run%3A{RUN}",
        "filters of failures": f"/failures?namespace={quote(LONG[:500])}&pipeline={quote(NAME)}",
        "dataset": f"/datasets/{table}?days=3650",
        "dataset with a long name": f"/datasets/{long}?days=3650",
        "job": f"/jobs/{job}",
        "run": f"/runs/{RUN}",
        "answer": f"/answers/{quote(ANSWER, safe='')}",
        "unknown": f"/datasets/{quote(NAME, safe='')}",
        "on call": "/dashboards/on-call",
    }


def _run(run_id: str, **more: Any) -> list[Event]:
    events = run(run_id, JOB, [*DATASETS], [*DATASETS], rows=7, **more)
    owners = {"ownership": {**FACET, "owners": [{"name": f"team {NAME}", "type": NAME}]}}
    for event in events:
        event["job"]["facets"] = {
            **owners,
            "sql": {**FACET, "query": f"select '{LINES}'"},
            "documentation": {**FACET, "description": LINES},
            "tags": {**FACET, "tags": [{"key": NAME, "value": LONG[:300], "source": NAME}]},
            "sourceCodeLocation": {**FACET, "type": "git", "url": "javascript:window.hostile=1"},
        }
        if "errorMessage" in event["run"]["facets"]:
            event["run"]["facets"]["errorMessage"]["stackTrace"] = LINES
        event["run"]["facets"]["links"] = {**FACET, "logUrl": "javascript:window.hostile=1"}
        for output in event["outputs"]:
            output["facets"] = _dataset_facets() | owners
    return events


def _dataset_facets() -> Event:
    names = [f"column {NAME}", f"column {LONG[:1_000]}"]
    return {
        "schema": {**FACET, "fields": [{"name": name, "type": NAME} for name in names]},
        "documentation": {**FACET, "description": LINES},
        "tags": {
            **FACET,
            "tags": [
                {"key": NAME, "value": LONG[:300], "source": "test"},
                {"key": NAME, "value": "1", "field": names[0], "source": "test"},
            ],
        },
        "dataSource": {**FACET, "name": NAME, "uri": "javascript:window.hostile=1"},
        "dataQualityAssertions": {
            **FACET,
            "assertions": [
                {"assertion": NAME, "column": names[0], "success": False, "actual": LONG[:2_000]}
            ],
        },
    }
