"""A delta in rows: joined in any parts it is the same delta, and written in any pieces it is the same graph."""

from __future__ import annotations

import random
from hashlib import sha1
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.pipelines import shuffle as bundles
from headwater.pipelines.chunk_writer import ChunkWriter
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
from headwater.pipelines.shuffle import assign_buckets, bundle_rows, gather_buckets, merge_bundles
from headwater.schema.events import parse
from headwater.schema.facts import GraphDelta
from headwater.schema.naming import load_naming
from tests.canonical import canonical, empty
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
    """The rows of a history that is folded in parts, in the order in which they are written."""
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
def test_rows_are_the_delta_however_it_was_cut(bodies: list[bytes], chance: random.Random) -> None:
    rows = sorted_rows(bodies, chance)
    assert len({(row.kind, row.key) for row in rows}) == len(rows)
    assert rows_to_delta(rows) == folded(bodies)
    pieces = list(
        split_rows(rows, rows_max=chance.randint(1, 20), bytes_max=chance.randint(1, 4_000))
    )
    assert [row for piece in pieces for row in piece] == rows
    assert [unpack(pack(piece)) for piece in pieces] == pieces


def test_what_was_read_comes_before_the_facts_in_pieces_of_its_own() -> None:
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


def test_events_seen_are_counted_once_and_go_no_further() -> None:
    first, second, third = (sha1(text).digest() for text in (b"a", b"b", b"c"))
    rows = [*digest_rows([first, second]), *digest_rows([second, third, second])] + [
        Row(Kind.SCHEMA, 0, b"s", pack("[]"))
    ] * 2
    *facts, met = join_rows(sorted(rows))
    assert facts == [Row(Kind.SCHEMA, 0, b"s", pack("[]"))]
    assert (met.kind, met.fact) == (Kind.TOTALS, pack(Totals(3, 1)))


@relaxed
@given(histories, st.integers(0, 2**32).map(random.Random))
def test_in_bundles_they_are_the_same_rows_in_order(
    bodies: list[bytes], chance: random.Random
) -> None:
    buckets, middle = chance.randint(1, 20), chance.randint(0, len(bodies))
    parts = [
        (bucket, pack(rows))
        for some in (bodies[:middle], bodies[middle:])
        for bucket, rows in assign_buckets(delta_to_rows(folded(some)), buckets)
    ]
    chance.shuffle(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "BUNDLE_ROWS", chance.randint(1, 10))
        patch.setattr(bundles, "_MERGE_ROWS", chance.randint(1, 10))
        cut_up = [bundle for rows in gather_buckets(sorted(parts)) for bundle in bundle_rows(rows)]
        rows = [row for row in merge_bundles(sorted(cut_up)) if row.kind > Kind.REFUSED]
    assert len({(row.kind, row.key) for row in rows}) == len(rows)
    assert rows == sorted(rows)
    assert rows_to_delta(rows) == folded(bodies)


@pytest.mark.neo4j
@on_neo4j
@given(histories, st.integers(0, 2**32).map(random.Random))
def test_any_pieces_same_graph(
    database: Database, bodies: list[bytes], chance: random.Random
) -> None:
    rows = sorted_rows(bodies, chance)
    empty(database)
    writer = ChunkWriter(database, "pieces", load_naming())
    for piece in split_rows(rows, rows_max=chance.choice([1, 2, 7, 1_000]), bytes_max=2**20):
        # Whoever comes after one that was killed begins at the first row again.
        if chance.randrange(10) == 0:
            writer = ChunkWriter(database, "pieces", load_naming())
            writer.write(rows[: writer.resumed])
        writer.write(piece)
    assert writer.position == len(rows)
    assert read_checkpoint(database, "pieces") == Checkpoint(len(rows), len(rows), 0)
    in_pieces = canonical(database)
    empty(database)
    after = Checkpoint(len(bodies), len(bodies), 0)
    write(
        database,
        WriteRequest(folded(bodies), spool="s", before=Checkpoint(), after=after, holder="test"),
    )
    assert in_pieces == canonical(database)
