"""The official Python clients of OpenLineage against the real server: sync and async, gzip and
plain.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime

import pytest
import requests
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import DatasetFacet, schema_dataset
from openlineage.client.transport.async_http import AsyncHttpConfig, AsyncHttpTransport
from openlineage.client.transport.http import HttpCompression, HttpConfig, HttpTransport

from tests.ingest.conftest import EVENT_BYTES_MAX, Api

COMPRESSIONS = [None, HttpCompression.GZIP]


def a_run(count: int = 2, columns: int = 2) -> list[RunEvent]:
    """Return a START, some RUNNING and a COMPLETE event of one run."""
    run, job = Run(str(uuid.uuid4())), Job("etl", "load")
    fields = [
        schema_dataset.SchemaDatasetFacetFields(f"column {i}", "string") for i in range(columns)
    ]
    facets: dict[str, DatasetFacet] = {"schema": schema_dataset.SchemaDatasetFacet(fields)}
    states = [RunState.START, *[RunState.RUNNING] * (count - 2), RunState.COMPLETE]
    return [
        RunEvent(
            eventTime=datetime.now(UTC).isoformat(),
            eventType=state,
            run=run,
            job=job,
            producer="https://example.com/p",
            inputs=[InputDataset("db", "raw", facets=facets)],
            outputs=[OutputDataset("db", "clean", facets=facets)],
        )
        for state in states
    ]


def stored_types(api: Api, after: int) -> list[str]:
    return [json.loads(body)["eventType"] for body in api.stored(after)]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_sync_client(api: Api, compression: HttpCompression | None) -> None:
    before = api.last()
    transport = HttpTransport(HttpConfig(url=api.url, compression=compression))
    client = OpenLineageClient(transport=transport)
    for event in a_run(3):
        client.emit(event)
    client.close()
    assert stored_types(api, before) == ["START", "RUNNING", "COMPLETE"]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_async_client(api: Api, compression: HttpCompression | None) -> None:
    before = api.last()
    transport = AsyncHttpTransport(AsyncHttpConfig(url=api.url, compression=compression))
    client = OpenLineageClient(transport=transport)
    for _ in range(5):
        for event in a_run(4):
            client.emit(event)
    assert client.close(timeout=20)
    # The client waits only for the response to START; the order of the other events is not fixed.
    assert sorted(stored_types(api, before)) == ["COMPLETE"] * 5 + ["RUNNING"] * 10 + ["START"] * 5


def test_an_endpoint_with_a_trailing_slash(api: Api) -> None:
    before = api.last()
    client = OpenLineageClient(
        transport=HttpTransport(HttpConfig(url=api.url, endpoint="api/v1/lineage/"))
    )
    client.emit(a_run()[0])
    client.close()
    assert stored_types(api, before) == ["START"]


def test_the_client_gets_a_refusal_and_sends_the_event_once(api: Api) -> None:
    """The event is far above the limit. The client must receive 413, because it would retry after a
    broken connection.
    """
    before = api.last()
    large = a_run(columns=EVENT_BYTES_MAX // 4)[0]
    client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=api.url)))
    with pytest.raises(requests.HTTPError, match="413"):
        client.emit(large)
    client.close()
    assert api.last() == before


def test_many_concurrent_clients(api: Api) -> None:
    before = api.last()

    def send() -> None:
        client = OpenLineageClient(
            transport=HttpTransport(HttpConfig(url=api.url, compression=HttpCompression.GZIP))
        )
        for event in a_run(5):
            client.emit(event)
        client.close()

    async def all_of_them() -> None:
        await asyncio.gather(*(asyncio.to_thread(send) for _ in range(8)))

    asyncio.run(all_of_them())
    assert len(api.stored(before)) == 40
