"""From source to answer, without OpenLineage: two raw sources, two runs, two artifacts, one answer,
traced back.

Run it beside `headwater up`:  python examples/seed_tutorial.py [URL]
"""

from __future__ import annotations

import sys
import time
from typing import Any

from headwater import Artifact, Headwater
from headwater.errors import NotFoundError

WAIT_SECONDS_MAX = 30


def register(headwater: Headwater) -> None:
    """Run steps 1 to 5: register sources, runs, artifacts and an answer; record a failed run."""
    enriched = enrich(headwater)
    summarise(headwater, enriched)
    fail(headwater, enriched)


def enrich(headwater: Headwater) -> Artifact:
    """Register two raw sources and a run that joins them."""
    crm_export = headwater.source(
        "crm-export-2025-03-01",
        origin="Salesforce",
        format="csv",
        row_count=14_200,
        captured_at="2025-03-01T00:00:00Z",
        checksum="sha256:abc123",
    )
    billing_snapshot = headwater.source(
        "billing-snapshot-Q1",
        origin="Stripe",
        format="json",
        row_count=3_800,
        captured_at="2025-03-31T23:59:59Z",
        checksum="sha256:def456",
    )
    enrich_run = headwater.pipeline_run(
        "enrich-contacts-v2-20250301",
        pipeline_name="enrich-contacts",
        version="v2.4.1",
        started_at="2025-03-01T01:00:00Z",
        finished_at="2025-03-01T01:47:23Z",
        status="success",
        triggered_by="scheduler",
        inputs=[crm_export, billing_snapshot],
    )
    return headwater.artifact(
        "contacts-enriched-20250301",
        produced_by=enrich_run,
        type="dataset",
        row_count=13_940,
        storage_path="s3://data-lake/enriched/contacts-2025-03-01.parquet",
        created_at="2025-03-01T01:47:23Z",
        schema="contacts-enriched-v3",
    )


def summarise(headwater: Headwater, enriched: Artifact) -> None:
    """Register a report of that run, and an answer that cites it."""
    summary_run = headwater.pipeline_run(
        "summary-q1-20250401",
        pipeline_name="generate-summary",
        version="v1.2.0",
        status="success",
        triggered_by="manual",
        inputs=[enriched],
    )
    summary = headwater.artifact(
        "q1-contact-summary",
        produced_by=summary_run,
        type="report",
        storage_path="s3://reports/q1-2025/contact-summary.json",
        created_at="2025-04-01T08:11:42Z",
    )
    headwater.answer(
        "report-q1-retention",
        type="retention-report",
        generated_at="2025-04-02T09:00:00Z",
        generated_by="analytics-agent-v3",
        content="Q1 2025: churn rate dropped 4.2% YoY.",
        cites=[summary],
    )


def fail(headwater: Headwater, enriched: Artifact) -> None:
    """Record the failed run of the next quarter, with its unfinished artifact."""
    failed_run = headwater.pipeline_run(
        "summary-q2-20250701",
        pipeline_name="generate-summary",
        version="v1.2.1",
        started_at="2025-07-01T08:00:00Z",
        finished_at="2025-07-01T08:04:10Z",
        status="failed",
        triggered_by="scheduler",
        error="billing snapshot is missing",
        inputs=[enriched],
    )
    headwater.artifact("q2-contact-summary", produced_by=failed_run, type="report")


def traced(headwater: Headwater) -> dict[str, Any]:
    """Trace the answer, step 6, as soon as the worker has written it."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        try:
            found = headwater.trace("report-q1-retention")
            if len(found["sources"]) == 2 or time.monotonic() > deadline:
                return found
        except NotFoundError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def main() -> None:
    headwater = Headwater(*sys.argv[1:2])
    register(headwater)
    for source in traced(headwater)["sources"]:
        print(f"source {source['name']} from {source['origin']}, captured {source['capturedAt']}")
    for run in headwater.failed_runs():
        for artifact in run["artifacts"]:
            print(f"failed run {run['runId']} at {run['failedAt']} left {artifact['name']}")


if __name__ == "__main__":
    main()
