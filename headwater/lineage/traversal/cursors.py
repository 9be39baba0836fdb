"""How a lineage that was cut short goes on: a cursor for each node from which there is more.

A cursor holds the node, the way, the distance it had and the step that comes next (`steps`), and a hash of the question
it belongs to: the same question, asked with it, goes on from there. It holds no name of anything hidden.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from headwater.errors import QueryError
from headwater.lineage.pagination import read_cursor, write_cursor
from headwater.lineage.traversal.bfs import Mark
from headwater.lineage.traversal.filters import Filter

_VERSION = 1
_SHAPE = (0, "", "", "", 0, 0, "", "")
_HASH_CHARACTERS = 16


@dataclass(frozen=True)
class Question:
    """What makes two lineages one question: everything but the cursor and the bounds."""

    urns: tuple[str, ...]
    direction: str
    depth: int
    level: str
    as_of: datetime | None
    where: Filter

    @cached_property
    def hash(self) -> str:
        where = tuple(vars(self.where)[name] for name in Filter.__dataclass_fields__)
        said = (self.urns, self.direction, self.depth, self.level, self.as_of, where)
        return hashlib.sha256(repr(said).encode()).hexdigest()[:_HASH_CHARACTERS]


@dataclass(frozen=True)
class Onward:
    """From where a walk goes on."""

    urn: str
    upstream: bool
    hops: int
    mark: Mark


def write_onward(question: Question, onward: Onward) -> str:
    rank, first, second = (
        (*onward.mark, *("", "", "")[len(onward.mark) :]) if onward.mark else (-1, "", "")
    )
    way = "UPSTREAM" if onward.upstream else "DOWNSTREAM"
    return write_cursor(_VERSION, question.hash, onward.urn, way, onward.hops, rank, first, second)


def read_onward(question: Question, text: str) -> Onward:
    """Raises QueryError when it is no cursor, or none of this question."""
    version, asked, urn, way, hops, rank, first, second = read_cursor(text, _SHAPE)
    ways = {"UPSTREAM", "DOWNSTREAM"} if question.direction == "BOTH" else {question.direction}
    if (
        version != _VERSION
        or asked != question.hash
        or way not in ways
        or rank not in {-1, 0, 1, 2, 3}
    ):
        raise QueryError(
            "after is a cursor of another question",
            hint="Pass on the cursor with the very arguments of the lineage that it came with.",
        )
    mark: Mark = {-1: (), 1: (1, str(first), str(second))}.get(int(rank), (int(rank), str(first)))
    mark = mark[:1] if mark == (3, "") else mark
    return Onward(str(urn), way == "UPSTREAM", max(0, int(hops)), mark)
