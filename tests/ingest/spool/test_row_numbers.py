"""The row numbers in the raw pages of a SQLite file and its log."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.ingest.spool.row_numbers import iterate_leaf_numbers

NUMBERS = {-(2**63), -1, 0, 1, 127, 128, 16_384, 2**32, 2**56, 2**63 - 1, *range(5_000, 6_000)}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(str(tmp_path / "rows.db"))) as connection:
        yield connection


def create(connection: apsw.Connection, page_bytes: int, journal: str) -> None:
    connection.pragma("page_size", page_bytes)
    connection.pragma("journal_mode", journal)
    connection.execute("CREATE TABLE row(number INTEGER PRIMARY KEY, body BLOB)")
    rows = [(number, bytes(number % 300)) for number in NUMBERS]
    with connection:
        connection.executemany("INSERT INTO row VALUES(?, ?)", rows)


def found(connection: apsw.Connection) -> set[int]:
    numbers: set[int] = set()
    with connection:
        for leaf in iterate_leaf_numbers(connection):
            numbers.update(leaf)
    return numbers


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("page_bytes", [512, 4_096, 65_536])
def test_each_number_is_found(connection: apsw.Connection, page_bytes: int, journal: str) -> None:
    create(connection, page_bytes, journal)
    assert found(connection) >= NUMBERS


def test_numbers_of_the_log_are_found_after_a_part_was_written_back(
    connection: apsw.Connection,
) -> None:
    create(connection, 4_096, "wal")
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.execute("INSERT INTO row VALUES(77, 'new')")
    assert found(connection) >= NUMBERS | {77}


def test_each_leaf_is_ascending(connection: apsw.Connection) -> None:
    create(connection, 4_096, "delete")
    assert all(leaf == sorted(leaf) for leaf in iterate_leaf_numbers(connection))


@pytest.mark.parametrize("seed", range(5))
def test_damaged_pages_end_nothing(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "rows.db"
    with closing(apsw.Connection(str(path))) as connection:
        create(connection, 4_096, "delete")
    chosen = random.Random(seed)
    content = bytearray(path.read_bytes())
    for place in chosen.sample(range(4_096, len(content)), len(content) // 4):
        content[place] = chosen.randrange(256)
    # Leaf pages with cells up to and behind their ends.
    for page in range(4_096, len(content), 4_096):
        content[page : page + 1] = b"\x0d"
        content[page + 3 : page + 5] = b"\xff\xff"
    path.write_bytes(content)
    with closing(apsw.Connection(str(path))) as connection:
        assert sum(1 for _ in iterate_leaf_numbers(connection)) == len(content) // 4_096 - 1
