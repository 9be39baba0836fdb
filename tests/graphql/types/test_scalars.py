"""Instants and large counts are read and written exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from graphql import GraphQLError

from headwater.graphql.types.scalars import (
    format_datetime,
    long_or_none,
    parse_datetime,
    parse_long,
)

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_instants_are_utc_with_a_z() -> None:
    assert format_datetime(NOON) == "2026-01-31T12:00:00Z"
    assert format_datetime(NOON.replace(tzinfo=None)) == "2026-01-31T12:00:00Z"
    assert format_datetime(NOON.astimezone(timezone(timedelta(hours=2)))) == "2026-01-31T12:00:00Z"
    for text in ("2026-01-31T12:00:00Z", "2026-01-31T14:00:00+02:00", "2026-01-31T12:00:00"):
        assert parse_datetime(text) == NOON
    with pytest.raises(GraphQLError, match=r"30 February.*; write ISO 8601, for example 2026-"):
        parse_datetime("30 February")


def test_longs_have_64_bits() -> None:
    assert parse_long(2**63 - 1) == 2**63 - 1
    assert parse_long(-3_000_000_000) == -3_000_000_000
    bad: tuple[object, ...] = (2**63, True, 1.5, "7", None)
    for value in bad:
        with pytest.raises(GraphQLError, match="64 bits"):
            parse_long(value)
    assert (long_or_none(None), long_or_none(5)) == (None, 5)
