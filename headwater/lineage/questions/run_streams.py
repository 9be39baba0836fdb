"""The topics that a run read or wrote, with the offsets that its events reported. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.schema.stream_offsets import PartitionReport


@dataclass(frozen=True)
class RunStream:
    """One topic of a run. `lag` is that of the newest report that has one, of all partitions."""

    dataset: str
    is_output: bool
    reported_at: datetime
    lag: int | None
    partitions: tuple[PartitionReport, ...]


def run_streams(links: Mapping[str, Any]) -> list[RunStream]:
    """Return the streams in the links of a run: what it read first, by dataset.

    Args:
        links: A row of `read/nodes/run_links`.
    """
    found = [
        *_streams(links.get("inputs", ()), is_output=False),
        *_streams(links.get("outputs", ()), is_output=True),
    ]
    return sorted(found, key=lambda one: (one.is_output, one.dataset))


def _streams(uses: Iterable[Mapping[str, Any]], *, is_output: bool) -> Iterator[RunStream]:
    # A run may have read several versions of one topic; each edge has the same offsets.
    streams = {use["dataset"]: use["stream"] for use in uses if use.get("stream")}
    for dataset, stream in streams.items():
        yield RunStream(
            dataset=dataset,
            is_output=is_output,
            reported_at=stream["reportedAt"],
            lag=stream["lag"],
            partitions=tuple(PartitionReport(**row) for row in json.loads(stream["offsets"])),
        )
