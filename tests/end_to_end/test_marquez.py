"""Marquez' own client against a whole Headwater: it finds the events that it sends."""

from __future__ import annotations

import pytest
import requests
from marquez_client import MarquezClient  # type: ignore[import-untyped]

from tests.end_to_end.conftest import Running
from tests.event_builders import dataset, run_event

pytestmark = pytest.mark.neo4j

RUN = "00000000-0000-4000-8000-00000000ab01"


def test_marquez_client_finds_the_events_it_sent(running: Running) -> None:
    bucket = "s3://marquez-lake"
    event = run_event(
        RUN, minute=1, job="to_marquez", outputs=[dataset("shop/orders", namespace=bucket)]
    )
    assert requests.post(f"{running.url}/api/v1/lineage", json=event, timeout=10).status_code == 201
    running.wait_folded()
    client = MarquezClient(url=running.url)
    assert client.get_dataset(bucket, "shop/orders")["id"] == {
        "namespace": bucket,
        "name": "shop/orders",
    }
    assert client.get_job_run(RUN)["state"] == "COMPLETED"
    node = f"dataset:{bucket}:shop/orders"
    lineage = requests.get(
        f"{running.url}/api/v1/lineage", params={"nodeId": node}, timeout=10
    ).json()
    assert [one["id"] for one in lineage["graph"]] == [node, "job:etl:to_marquez"]
    listed = requests.get(
        f"{running.url}/api/v1/events/lineage", params={"limit": 1000}, timeout=10
    ).json()
    assert event in listed["events"]
    # Run events only, by their times.
    assert all("run" in one for one in listed["events"])
    assert listed["totalCount"] == len(listed["events"])
