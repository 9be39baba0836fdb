"""Tallies into the graph: what it has of the same urns is read, joined, and written, all in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.producer_stats import (
    FindingTally,
    ProducerTally,
    Tallies,
    join_findings,
    join_producers,
    median,
)
from headwater.schema.events import to_datetime
from headwater.schema.urns import display_name

T = TypeVar("T", ProducerTally, FindingTally)

_MICROSECONDS = 1_000_000


def write_tallies(transaction: Transaction, tallies: Tallies) -> None:
    """Add these to what the graph has counted. The graph's write lock must be held."""
    _write(
        transaction,
        "producers",
        tallies.producers,
        ProducerTally,
        join_producers,
        _producer_properties,
    )
    _write(
        transaction, "findings", tallies.findings, FindingTally, join_findings, _finding_properties
    )


def _write(
    transaction: Transaction,
    kind: str,
    tallies: Mapping[str, T],
    type_: type[T],
    join: Callable[[T, T], T],
    properties: Callable[[T], dict[str, Any]],
) -> None:
    if not tallies:
        return
    urns = sorted(tallies)
    stored = {
        row["urn"]: row["tally"]
        for row in transaction.run(f"read/write_path/stats_of_{kind}", urns=urns)
    }
    rows: list[Row] = []
    for urn in urns:
        text = stored.get(urn)
        said = (
            tallies[urn]
            if text is None
            else join(msgspec.json.decode(text, type=type_), tallies[urn])
        )
        # In one order, so that equal tallies are equal texts.
        kept = msgspec.json.encode(
            msgspec.to_builtins(said, str_keys=True), order="deterministic"
        ).decode()
        rows.append({"urn": urn, "properties": {**properties(said), "tally": kept}})
    transaction.run(f"write/{kind}", rows=rows)


def _producer_properties(said: ProducerTally) -> dict[str, Any]:
    skews = said.skews
    return {
        "producer": display_name(said.producer),
        "events": said.events,
        "first": to_datetime(said.first),
        "last": to_datetime(said.last),
        "fromTheFuture": said.future,
        "skewMin": skews and skews.least / _MICROSECONDS,
        "skewMedian": skews and median(skews) / _MICROSECONDS,
        "skewMax": skews and skews.greatest / _MICROSECONDS,
    }


def _finding_properties(said: FindingTally) -> dict[str, Any]:
    return {
        "producer": display_name(said.producer),
        "rule": said.rule,
        "field": said.field,
        "count": said.count,
        "first": to_datetime(said.first),
        "last": to_datetime(said.last),
        "receipt": said.example.receipt,
        "example": said.example.snippet,
        "detail": said.example.detail,
    }
