"""Add ProducerStats to those of the graph: read, join and write in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.producer_stats import (
    FindingCounts,
    ProducerCounts,
    ProducerStats,
    join_findings,
    join_producers,
    median,
)
from headwater.schema.events import to_datetime
from headwater.schema.urns import display_name

T = TypeVar("T", ProducerCounts, FindingCounts)

_MICROSECONDS = 1_000_000


def write_producer_stats(transaction: Transaction, producer_stats: ProducerStats) -> None:
    """Add ProducerStats to the graph. The transaction must hold the graph's write lock."""
    _write(
        transaction,
        "producers",
        producer_stats.producers,
        ProducerCounts,
        join_producers,
        _producer_properties,
    )
    _write(
        transaction,
        "conformance_findings",
        producer_stats.findings,
        FindingCounts,
        join_findings,
        _finding_properties,
    )


def _write(
    transaction: Transaction,
    kind: str,
    counts: Mapping[str, T],
    type_: type[T],
    join: Callable[[T, T], T],
    properties: Callable[[T], dict[str, Any]],
) -> None:
    if not counts:
        return
    urns = sorted(counts)
    stored = {
        row["urn"]: row["statistics"]
        for row in transaction.run(f"read/write_path/stats_of_{kind}", urns=urns)
    }
    rows: list[Row] = []
    for urn in urns:
        text = stored.get(urn)
        total = counts[urn]
        if text is not None:
            total = join(msgspec.json.decode(text, type=type_), total)
        # In a fixed order, so that equal counts are equal texts.
        tally = msgspec.json.encode(
            msgspec.to_builtins(total, str_keys=True), order="deterministic"
        ).decode()
        rows.append({"urn": urn, "properties": {**properties(total), "statistics": tally}})
    transaction.run(f"write/maintenance/{kind}", rows=rows)


def _producer_properties(counts: ProducerCounts) -> dict[str, Any]:
    skews = counts.skews
    return {
        "producer": display_name(counts.producer),
        "events": counts.events,
        "first": to_datetime(counts.first),
        "last": to_datetime(counts.last),
        "futureEvents": counts.future,
        "skewMin": skews and skews.least / _MICROSECONDS,
        "skewMedian": skews and median(skews) / _MICROSECONDS,
        "skewMax": skews and skews.greatest / _MICROSECONDS,
    }


def _finding_properties(counts: FindingCounts) -> dict[str, Any]:
    return {
        "producer": display_name(counts.producer),
        "rule": counts.rule,
        "field": counts.field,
        "count": counts.count,
        "first": to_datetime(counts.first),
        "last": to_datetime(counts.last),
        "sequence": counts.example.sequence,
        "example": counts.example.snippet,
        "detail": counts.example.detail,
    }
