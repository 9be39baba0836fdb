"""Cursors: every position comes back, and only with the request that it belongs to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.errors import QueryError
from headwater.lineage.pagination import encode_cursor
from headwater.lineage.traversal.cursors import CursorPosition, decode_position, encode_position
from headwater.lineage.traversal.request import LineageRequest, ResumePoint

REQUEST = LineageRequest(("dataset:db:a",), direction="UPSTREAM", depth=3)
POINTS: list[ResumePoint] = [
    (),
    (0, "answer:a"),
    (1, "job:etl:j", ""),
    (1, "job:etl:j", "dataset:db:b"),
    (2, "job:etl:k"),
    (3,),
    (3, "dataset:db:c"),
]


@pytest.mark.parametrize("point", POINTS)
def test_position_survives_its_cursor(point: ResumePoint) -> None:
    position = CursorPosition("dataset:db:b", True, 2, point)
    assert decode_position(REQUEST, encode_position(REQUEST, position)) == position


def test_cursor_of_another_request_is_refused() -> None:
    cursor = encode_position(REQUEST, CursorPosition("dataset:db:b", True, 2, ()))
    for other in (replace(REQUEST, depth=4), replace(REQUEST, direction="DOWNSTREAM")):
        with pytest.raises(QueryError, match="cursor of another question"):
            decode_position(other, cursor)
    other_kind = encode_cursor(1, REQUEST.hash, "dataset:db:b", "UPSTREAM", 2, 9, "", "")
    with pytest.raises(QueryError, match="cursor of another question"):
        decode_position(REQUEST, other_kind)


def test_both_directions_have_cursors_of_either() -> None:
    request = replace(REQUEST, direction="BOTH")
    for upstream in (True, False):
        position = CursorPosition("dataset:db:b", upstream, 1, ())
        assert decode_position(request, encode_position(request, position)) == position
