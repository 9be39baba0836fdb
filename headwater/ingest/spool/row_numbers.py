"""Read the row numbers in the raw pages of a SQLite file, in any order.

A query for the next row trusts the order of the numbers. A damaged page may have any number, so
the query can pass over readable rows. Each row that SQLite can find by its number has that number
in a leaf page, either in the file or in its write-ahead log. The format is described at
https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import apsw

_FILE, _LOG = 0, 1
_LOG_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24
_LEAF_OF_TABLE = 0x0D
_PAGE_HEADER_BYTES, _POINTER_BYTES = 8, 2
_NUMBER_BYTES_MAX = 9


def iterate_leaf_numbers(connection: apsw.Connection) -> Iterator[list[int]]:
    """Yield the row numbers of each leaf page of the tables, in ascending order.

    The pages of all tables are read, and also pages that are no longer in use. The caller holds a
    transaction, so that no page moves.
    """
    page_bytes = int(connection.pragma("page_size"))
    for page in _pages(connection, page_bytes):
        if page[0] == _LEAF_OF_TABLE:
            yield sorted(_numbers(page))


def _pages(connection: apsw.Connection, page_bytes: int) -> Iterator[bytes]:
    """Yield each readable page of the log and of the file."""
    for index in count():
        offset = _LOG_HEADER_BYTES + index * (_FRAME_HEADER_BYTES + page_bytes)
        page = _read(connection, _LOG, offset + _FRAME_HEADER_BYTES, page_bytes)
        if page is None:
            break
        yield page
    for index in range(int(connection.pragma("page_count"))):
        page = _read(connection, _FILE, index * page_bytes, page_bytes)
        if page is not None:
            yield page


def _read(connection: apsw.Connection, file: int, offset: int, size: int) -> bytes | None:
    """Return bytes of the file or its log; None behind its end, without it, or if a read fails."""
    try:
        is_complete, content = connection.read("main", file, offset, size)
    except apsw.Error:
        return None
    return content if is_complete else None


def _numbers(page: bytes) -> Iterator[int]:
    """Yield the row numbers of the cells that are within a leaf page."""
    for index in range(int.from_bytes(page[3:5])):
        begin = _PAGE_HEADER_BYTES + index * _POINTER_BYTES
        pointer = page[begin : begin + _POINTER_BYTES]
        if len(pointer) < _POINTER_BYTES:
            return
        # As SQLite does: the size of a page is a power of two.
        cell = int.from_bytes(pointer) & (len(page) - 1)
        size = _variable_integer(page, cell)
        number = None if size is None else _variable_integer(page, size[1])
        if number is not None:
            yield number[0]


def _variable_integer(page: bytes, begin: int) -> tuple[int, int] | None:
    """Return a signed integer of variable length and its end; None if it leaves the page."""
    value = 0
    for index, byte in enumerate(page[begin : begin + _NUMBER_BYTES_MAX]):
        end = begin + index + 1
        if index == _NUMBER_BYTES_MAX - 1:
            value = value << 8 | byte
            return (value - 2**64 if value >= 2**63 else value), end
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, end
    return None
