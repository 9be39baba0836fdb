"""Rows in buckets and bundles: merged, they are the same rows in order."""

from __future__ import annotations

import random
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.pipelines import shuffle
from headwater.pipelines.rows import (
    Kind,
    delta_to_rows,
    pack,
    rows_to_delta,
)
from headwater.pipelines.shuffle import assign_buckets, bundle_rows, gather_buckets, merge_bundles
from tests.histories import histories
from tests.pipelines.test_rows import folded, relaxed


@relaxed
@given(histories, st.integers(0, 2**32).map(random.Random))
def test_merged_bundles_are_the_same_rows_in_order(
    bodies: list[bytes], chance: random.Random
) -> None:
    buckets, middle = chance.randint(1, 20), chance.randint(0, len(bodies))
    parts: list[tuple[int, bytes]] = []
    for some in (bodies[:middle], bodies[middle:]):
        for bucket, rows in assign_buckets(delta_to_rows(folded(some)), buckets):
            parts.append((bucket, pack(rows)))
    chance.shuffle(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, "BUNDLE_ROWS", chance.randint(1, 10))
        patch.setattr(shuffle, "_MERGE_ROWS", chance.randint(1, 10))
        bundles = list(chain.from_iterable(map(bundle_rows, gather_buckets(sorted(parts)))))
        rows = [row for row in merge_bundles(sorted(bundles)) if row.kind > Kind.REFUSED]
    assert len({(row.kind, row.key) for row in rows}) == len(rows)
    assert rows == sorted(rows)
    assert rows_to_delta(rows) == folded(bodies)
