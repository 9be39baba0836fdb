"""Contracts and observations in a few words; days count from Monday, 5 January 2026."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from headwater.governance.contracts.observations import NewData, Observation, Observed
from headwater.schema.contracts import FACET_PREFIX, ContractVersion
from headwater.schema.facets.contracts import ContractFacet
from headwater.schema.facts import LwwRegister

MONDAY = datetime(2026, 1, 5, 6, tzinfo=UTC)


def day(number: float) -> datetime:
    return MONDAY + timedelta(days=number)


def micros(time: datetime) -> int:
    return round(time.timestamp() * 1_000_000)


def facet(**more: Any) -> ContractFacet:
    return msgspec.convert(
        {"contractId": "orders", "version": "1.0.0", "status": "active", **more}, ContractFacet
    )


def in_force(begin: float = -1, end: float | None = None, **more: Any) -> ContractVersion:
    last = None if end is None else micros(day(end))
    return ContractVersion(facet(**more), micros(day(begin)), last)


def register(time: datetime, **more: Any) -> LwwRegister:
    return LwwRegister(micros(time), 0, msgspec.json.encode(facet(**more)).decode())


def registers(*some: LwwRegister) -> dict[str, LwwRegister]:
    return {f"{FACET_PREFIX}{number}": one for number, one in enumerate(some)}


def seen(number: float, **more: Any) -> Observation:
    content: dict[str, Any] = {
        "urn": f"artifact:db:orders:{number}",
        "at": day(number),
        "run": f"run:{number}",
        "job": "job:etl:load",
    }
    return Observation(**{**content, **more})


def observed(*some: Observation) -> Observed:
    return Observed(some, tuple(NewData(one.at, one.urn) for one in some))
