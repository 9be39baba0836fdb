"""Cursors of continuations: where a lineage that was cut short goes on.

A cursor holds a node, the direction, the node's distance, the step that comes next, and a hash of
the request. The same request with the cursor goes on from there. A cursor holds no name of a hidden
node.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.errors import QueryError
from headwater.lineage.pagination import decode_cursor, encode_cursor
from headwater.lineage.traversal.request import LineageRequest, ResumePoint

_VERSION = 1
# version, hash of the request, urn, direction, hops, and the resume point: kind of step, first
# node, second node.
_SHAPE = (0, "", "", "", 0, 0, "", "")
_FROM_START = -1


@dataclass(frozen=True)
class CursorPosition:
    """A node from which a traversal goes on: its distance in hops, and the step that comes next."""

    urn: str
    upstream: bool
    hops: int
    point: ResumePoint


def encode_position(request: LineageRequest, position: CursorPosition) -> str:
    """Return the cursor of a position."""
    kind, *nodes = position.point or (_FROM_START,)
    first, second = (*nodes, "", "")[:2]
    direction = "UPSTREAM" if position.upstream else "DOWNSTREAM"
    return encode_cursor(
        _VERSION,
        request.hash,
        position.urn,
        direction,
        position.hops,
        kind,
        first,
        second,
    )


def decode_position(request: LineageRequest, cursor: str) -> CursorPosition:
    """Return the position of a cursor. Raises QueryError for a cursor of another request."""
    version, hash, urn, direction, hops, kind, first, second = decode_cursor(cursor, _SHAPE)
    every_direction = {"UPSTREAM", "DOWNSTREAM"}
    directions = every_direction if request.direction == "BOTH" else {request.direction}
    is_of_request = version == _VERSION and hash == request.hash and direction in directions
    if not is_of_request or kind not in {_FROM_START, 0, 1, 2, 3}:
        raise QueryError(
            "`after` is a cursor of another question",
            hint="Pass a cursor with the same arguments as the lineage that returned it.",
        )
    point = _resume_point(int(kind), str(first), str(second))
    return CursorPosition(str(urn), direction == "UPSTREAM", max(0, int(hops)), point)


def _resume_point(kind: int, first: str, second: str) -> ResumePoint:
    if kind == _FROM_START:
        return ()
    if kind == 1:
        return (1, first, second)
    if kind == 3 and not first:
        return (3,)
    return (kind, first)
