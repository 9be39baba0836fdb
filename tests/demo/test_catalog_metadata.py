"""The descriptions of the demo's datasets, with and without an API key."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.demo import catalog_metadata
from tests.spark_hooks.servers import recorder


@pytest.mark.parametrize(
    ("api_key", "headers"), [(None, set()), ("", set()), ("hw_1", {"Bearer hw_1"})]
)
def test_every_dataset_is_described(api_key: str | None, headers: set[str]) -> None:
    with recorder(201) as server:
        catalog_metadata.send_metadata(server.url, api_key, Path("/lake"))
    assert [event["dataset"]["name"] for event in server.events] == [
        f"/lake/{name}" for name in catalog_metadata.DATASETS
    ]
    assert server.keys - {None, ""} == headers
