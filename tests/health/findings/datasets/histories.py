"""Histories of datasets for detectors, in a few words; days count from Monday, 5 January 2026."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.health.findings.datasets.history import (
    Check,
    DatasetHistory,
    Reader,
    ReaderRun,
    Report,
    Version,
)
from headwater.schema.drift import Fields

MONDAY = datetime(2026, 1, 5, 6, tzinfo=UTC)
ORDERS = "dataset:db:orders"


def day(number: float) -> datetime:
    return MONDAY + timedelta(days=number)


def history(**more: Any) -> DatasetHistory:
    content: dict[str, Any] = {
        "urn": ORDERS,
        "namespace": "db",
        "name": "orders",
        "first_seen": day(0),
        "last_seen": day(0),
    }
    return DatasetHistory(**{**content, **more})


def version(number: float, **more: Any) -> Version:
    content: dict[str, Any] = {
        "urn": f"artifact:db:orders:{number}",
        "run": f"run:{number}",
        "job": "job:etl:load",
        "created_at": day(number),
        "write_mode": "overwrite",
    }
    return Version(**{**content, **more})


def daily(rows: Sequence[int], **more: Any) -> tuple[Version, ...]:
    """Return a version a day with these numbers of rows."""
    return tuple(version(number, row_count=count, **more) for number, count in enumerate(rows))


def with_schema(number: float, fields: Fields, **more: Any) -> Version:
    digest = ",".join(f"{name} {kind}" for name, kind in sorted(fields.items()))
    return version(number, fields=fields, schema_hash=digest, **more)


def checked(number: float, *checks: Check, of: float | None = None) -> Report:
    """Return a report of a check job, on the version of the same day or of another."""
    made = int(number) if of is None else of
    return Report(
        day(number),
        run=f"run:check-{number}",
        job="job:etl:check",
        version=f"artifact:db:orders:{made}",
        checks=checks,
    )


def measured(number: float, value: float, *, measure: str = "mean", of: str = "") -> Report:
    """Return a report on the column `amount` of the version of the day."""
    return Report(
        day(number),
        run=f"run:check-{number}",
        job="job:etl:check",
        version=of or f"artifact:db:orders:{number}",
        measures={("amount", measure): value},
    )


def reader(name: str, *runs: float, **more: Any) -> Reader:
    """Return a job that reads the dataset since before the first day, with runs of an hour."""
    content: dict[str, Any] = {
        "job": f"job:etl:{name}",
        "is_current": True,
        "first_seen": day(-10),
        "last_seen": day(runs[-1]) if runs else day(-10),
        "runs": tuple(
            ReaderRun(f"run:{name}-{number}", day(number), day(number) + timedelta(hours=1))
            for number in runs
        ),
    }
    return Reader(**{**content, **more})
