"""Requests: their bounds, and the hash that ties a cursor to its question."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

from headwater.lineage.traversal.filters import Filter
from headwater.lineage.traversal.layers import DATASETS_DOWN
from headwater.lineage.traversal.request import Bounds, LineageRequest, TraversalRequest

REQUEST = LineageRequest(("dataset:db:a",), direction="UPSTREAM", depth=3)


def test_deadline_counts_from_now() -> None:
    before = time.monotonic()
    bounds = replace(REQUEST, timeout_seconds=7.0).bounds()
    assert before + 7.0 <= bounds.deadline <= time.monotonic() + 7.0
    assert (bounds.depth, bounds.nodes_max, bounds.edges_max) == (3, 5_000, 20_000)


def test_hash_is_of_the_question_alone() -> None:
    assert len(REQUEST.hash) == 16
    same = [
        replace(REQUEST, after="cursor"),
        replace(REQUEST, nodes_max=1, edges_max=1, timeout_seconds=1.0),
        replace(REQUEST, fresh=True),
        replace(REQUEST, level=" "),
    ]
    assert {request.hash for request in same} == {REQUEST.hash}
    different = [
        replace(REQUEST, urns=("dataset:db:b",)),
        replace(REQUEST, direction="BOTH"),
        replace(REQUEST, depth=4),
        replace(REQUEST, level="top"),
        replace(REQUEST, as_of=datetime(2026, 1, 1, tzinfo=UTC)),
        replace(REQUEST, filter=Filter(tags=("pii",))),
    ]
    assert len({REQUEST.hash, *(request.hash for request in different)}) == 7
    assert replace(REQUEST, level="top").hash == replace(REQUEST, level=" TOP").hash


def test_plain_request_has_no_options() -> None:
    assert REQUEST.is_plain
    for options in (
        {"level": "RUN"},
        {"as_of": datetime(2026, 1, 1, tzinfo=UTC)},
        {"after": "cursor"},
        {"fresh": True},
        {"filter": Filter(tags=("pii",))},
    ):
        assert not replace(REQUEST, **options).is_plain


def test_rows_of_one_traversal_unless_shared() -> None:
    bounds = Bounds.within(1, depth=1, nodes_max=10, edges_max=10)
    assert TraversalRequest(DATASETS_DOWN, bounds).rows_max == 30
    assert TraversalRequest(DATASETS_DOWN, bounds, shared_rows_max=7).rows_max == 7
