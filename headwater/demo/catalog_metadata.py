"""Send owners, descriptions and tags of the demo's datasets, as a team's catalogue would.

They are dataset events, sent with the official client.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import DatasetEvent, StaticDataset
from openlineage.client.generated.documentation_dataset import DocumentationDatasetFacet
from openlineage.client.generated.ownership_dataset import Owner, OwnershipDatasetFacet
from openlineage.client.generated.tags_dataset import TagsDatasetFacet, TagsDatasetFacetFields
from openlineage.client.transport.http import (
    ApiKeyTokenProvider,
    HttpConfig,
    HttpTransport,
    TokenProvider,
)

PRODUCER = "https://github.com/headwater-lineage/headwater/demo"

# By name: owner, description, and tags as (key, value, field).
DATASETS: dict[str, tuple[str, str, tuple[tuple[str, str, str | None], ...]]] = {
    "raw/flights": ("team:operations", "Every flight that left New York City in 2013", ()),
    # A tail number identifies the owner of a plane.
    "raw/planes": ("team:fleet", "Planes by tail number", (("pii", "true", "tailnum"),)),
    "raw/weather": ("team:operations", "Hourly weather at the three airports", ()),
    "marts/carrier_delays": ("team:insight", "Delays by carrier", (("certified", "true", None),)),
    "marts/airport_ranking": (
        "team:insight",
        "Destinations by punctuality",
        (("certified", "true", None),),
    ),
}


def send_metadata(url: str, api_key: str | None, lake: Path) -> None:
    """Send the metadata of the datasets in the folder `lake`."""
    auth = ApiKeyTokenProvider({"apiKey": api_key}) if api_key else TokenProvider({})
    client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=url, auth=auth)))
    event_time = datetime.now(UTC).isoformat()
    for name, (owner, description, tags) in DATASETS.items():
        facets = {
            "ownership": OwnershipDatasetFacet(owners=[Owner(name=owner, type="OWNER")]),
            "documentation": DocumentationDatasetFacet(description=description),
            "tags": TagsDatasetFacet(
                tags=[
                    TagsDatasetFacetFields(key=key, value=value, field=field)
                    for key, value, field in tags
                ]
            ),
        }
        dataset = StaticDataset(namespace="file", name=str(lake / name), facets=facets)
        client.emit(DatasetEvent(eventTime=event_time, producer=PRODUCER, dataset=dataset))
    client.close()
