"""The freshness of a dataset as GraphQL shows it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater.errors import QueryError
from headwater.graphql.types.quality import Freshness, FreshnessState, SourceFreshness
from headwater.lineage.questions.freshness import Freshness as KnownFreshness
from headwater.lineage.questions.freshness import SourceAge
from tests.run_builders import ds, version

DAY_SECONDS = 86_400


def shown(age: timedelta, *, reason: str = "") -> Any:
    """Return the freshness of a version written now from a source of that age.

    To mypy its resolvers are fields, so it has no type here.
    """
    now = datetime.now(UTC)
    sources = [SourceAge(ds("raw"), now - age, exact=True)]
    return Freshness.of(KnownFreshness(ds("t"), now, version("t", "r"), sources, reason))


def test_the_age_is_that_of_the_oldest_source() -> None:
    freshness = shown(timedelta(days=2))
    assert freshness.newest_urn == version("t", "r")
    assert freshness.effective_age_seconds is not None
    assert 2 * DAY_SECONDS <= freshness.effective_age_seconds < 2 * DAY_SECONDS + 3_600
    assert (freshness.exact, freshness.incomplete_reason) == (True, None)
    assert isinstance(freshness.sources[0], SourceFreshness)


def test_the_verdict_names_the_data_that_is_too_old() -> None:
    stale = shown(timedelta(days=2)).verdict(max_age_seconds=DAY_SECONDS)
    assert (stale.state, [cause.urn for cause in stale.causes]) == (
        FreshnessState.STALE,
        [ds("raw")],
    )
    fresh = shown(timedelta(hours=2)).verdict(max_age_seconds=DAY_SECONDS)
    assert (fresh.state, fresh.causes) == (FreshnessState.FRESH, [])


def test_sources_that_may_be_missing_leave_the_verdict_unknown() -> None:
    freshness = shown(timedelta(hours=2), reason="depth")
    assert (freshness.exact, freshness.incomplete_reason) == (False, "depth")
    assert freshness.verdict(max_age_seconds=DAY_SECONDS).state is FreshnessState.UNKNOWN


def test_a_dataset_without_data_has_no_age() -> None:
    freshness: Any = Freshness.of(KnownFreshness(ds("t"), None, None, []))
    assert (freshness.age_seconds, freshness.effective_age_seconds) == (None, None)
    assert freshness.verdict(max_age_seconds=1).state is FreshnessState.UNKNOWN


def test_a_limit_below_a_second_is_refused() -> None:
    with pytest.raises(QueryError, match="maxAgeSeconds"):
        shown(timedelta(0)).verdict(max_age_seconds=0)
