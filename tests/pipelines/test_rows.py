"""A delta as rows: split, shuffled and joined in any way, it is the same delta."""

from __future__ import annotations

import random
from hashlib import sha1
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.ingest.fold import fold
from headwater.pipelines.rows import (
    Kind,
    Row,
    Totals,
    delta_to_rows,
    digest_rows,
    join_rows,
    pack,
    rows_to_delta,
    split_rows,
    unpack,
)
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse
from tests.histories import histories

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
on_neo4j = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def folded(bodies: list[bytes]) -> GraphDelta:
    return fold(parse(body, received=0) for body in bodies)


def sorted_rows(bodies: list[bytes], chance: random.Random, parts: int = 4) -> list[Row]:
    """Return the rows of a run history that is folded in parts, in write order."""
    cuts = sorted(chance.randint(0, len(bodies)) for _ in range(parts - 1))
    rows = [
        row
        for a, b in pairwise([0, *cuts, len(bodies)])
        for row in delta_to_rows(folded(bodies[a:b]))
    ]
    chance.shuffle(rows)
    met = join_rows(sorted(rows, key=lambda row: (row.kind, row.key)))
    return sorted(
        (row for row in met if row.kind > Kind.REFUSED), key=lambda row: (row.kind, row.at, row.key)
    )


@relaxed
@given(histories, st.integers(0, 2**32).map(random.Random))
def test_rows_are_the_delta_for_any_cut(bodies: list[bytes], chance: random.Random) -> None:
    rows = sorted_rows(bodies, chance)
    assert len({(row.kind, row.key) for row in rows}) == len(rows)
    assert rows_to_delta(rows) == folded(bodies)
    pieces = list(
        split_rows(rows, rows_max=chance.randint(1, 20), bytes_max=chance.randint(1, 4_000))
    )
    assert [row for piece in pieces for row in piece] == rows
    assert [unpack(pack(piece)) for piece in pieces] == pieces


def test_counters_precede_the_facts_in_pieces_of_their_own() -> None:
    rows = [
        Row(kind, 0, b"", b"x" * 10)
        for kind in (Kind.COUNTS, Kind.TOTALS, Kind.SCHEMA, Kind.RUN, Kind.RUN)
    ]
    assert [
        [row.kind for row in piece] for piece in split_rows(rows, rows_max=2, bytes_max=1_000)
    ] == [
        [Kind.COUNTS, Kind.TOTALS],
        [Kind.SCHEMA, Kind.RUN],
        [Kind.RUN],
    ]
    assert [len(piece) for piece in split_rows(rows, rows_max=9, bytes_max=15)] == [1, 1, 1, 1, 1]
    edges = [
        Row(kind, 0, b"", b"x" * 10)
        for kind in (Kind.SCHEMA, Kind.SCHEMA, Kind.COLUMN, Kind.DERIVATION)
    ]
    assert [len(piece) for piece in split_rows(edges, rows_max=9, bytes_max=40)] == [4]
    assert [len(piece) for piece in split_rows(edges, rows_max=9, bytes_max=40, edge_weight=3)] == [
        2,
        1,
        1,
    ]


def test_receipts_are_counted_once_and_dropped() -> None:
    first, second, third = (sha1(text).digest() for text in (b"a", b"b", b"c"))
    rows = [*digest_rows([first, second]), *digest_rows([second, third, second])] + [
        Row(Kind.SCHEMA, 0, b"s", pack("[]"))
    ] * 2
    *facts, met = join_rows(sorted(rows))
    assert facts == [Row(Kind.SCHEMA, 0, b"s", pack("[]"))]
    assert (met.kind, met.fact) == (Kind.TOTALS, pack(Totals(3, 1)))
