"""Rewrite the content of a file without a value: text, JSON, compressed files and zip archives.

Content that cannot be rewritten, such as a Parquet file or a database, is removed if it has the
value. A database that cannot be searched is removed too.
"""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from typing import IO, Any

import apsw

from headwater.errors import HeadwaterError
from headwater.ingest.receive.forgotten import WORDS_MAX, Forgotten, is_json

EXPANDED_BYTES_MAX = 2**29
MEMBERS_MAX = 10_000
DEPTH_MAX = 4
_CHUNK_BYTES = 2**20
# The header of gzip, in which the name of the compressed file stands.
_HEADER_BYTES = 1_024
_SQLITE, _PARQUET = b"SQLite format 3\0", b"PAR1"
_ZIP = (b"PK\3\4", b"PK\5\6")
_COMPRESSIONS: tuple[tuple[re.Pattern[bytes], Any], ...] = (
    (re.compile(rb"\x1f\x8b"), gzip),
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2),
)
_ARROW_SCHEMA = b"ARROW:schema"
# The marks at the beginning of a text in a wide encoding; that of UTF-16 begins that of UTF-32.
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Lines of text are searched in windows of this size, which overlap by at least this many words: a
# value has fewer, also if each of its letters is an entity of HTML.
_WINDOW_CHARACTERS = 2**18
_OVERLAP_WORDS = 16 * WORDS_MAX
_WORD = re.compile(r"\w+")
# A binary file may have texts in either, from any byte.
_UTF_16 = ("utf-16-le", "utf-16-be")
_UNSUPPORTED = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\0": "xz",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
}


class UnsearchedError(HeadwaterError):
    """A file that cannot be searched or rewritten."""


def rewrite_content(data: bytes, forgotten: Forgotten, *, is_parquet: bool = False) -> bytes | None:
    """Return content without the value, or None if it has the value and must be removed.

    `is_parquet` is True for a file whose name ends with `.parquet`. Raises UnsearchedError.
    """
    if is_parquet:
        return None if _parquet_holds(data, forgotten) else data
    rewriting = _Rewriting(forgotten)
    new = rewriting.rewrite(data, depth=0)
    if new == data and rewriting.is_cut:
        raise UnsearchedError(
            "its compressed data is cut or damaged; the part that can be read has no such value"
        )
    return new


class _Rewriting:
    """The rewriting of one file, with a limit for the bytes that it expands to."""

    def __init__(self, forgotten: Forgotten) -> None:
        self._forgotten = forgotten
        self._expanded = 0
        # Some compressed data ends too early: it is cut, or damage hides its end.
        self.is_cut = False

    def rewrite(self, data: bytes, depth: int) -> bytes | None:
        """Return content without the value, or None if it must be removed."""
        for magic, name in _UNSUPPORTED.items():
            if data.startswith(magic):
                raise UnsearchedError(f"it is compressed by {name}, which cannot be rewritten")
        for pattern, module in _COMPRESSIONS:
            if pattern.match(data):
                return self._rewrite_compressed(data, module, depth)
        if data.startswith(_ZIP):
            return self._rewrite_zip(data, depth)
        if data.startswith(_PARQUET):
            return None if _parquet_holds(data, self._forgotten) else data
        wide = _rewrite_wide(data, self._forgotten)
        if wide != data:
            return wide
        if b"\0" in data:
            return None if _binary_holds(data, self._forgotten) else data
        return _rewrite_text(data, self._forgotten)

    def _rewrite_compressed(self, data: bytes, module: Any, depth: int) -> bytes | None:
        _check_depth(depth)
        with module.open(io.BytesIO(data)) as stream:
            plain = self._expand(stream)
        new = self.rewrite(plain, depth + 1)
        if new is None:
            return None
        if new == plain and not _text_holds(data[:_HEADER_BYTES], self._forgotten):
            return data
        return bytes(module.compress(new))

    def _rewrite_zip(self, data: bytes, depth: int) -> bytes:
        """Return an archive without the value; members that must be removed are left out."""
        _check_depth(depth)
        written = io.BytesIO()
        try:
            with (
                zipfile.ZipFile(io.BytesIO(data)) as archive,
                zipfile.ZipFile(written, "w") as new_archive,
            ):
                members = archive.infolist()
                if len(members) > MEMBERS_MAX:
                    raise UnsearchedError(f"it has more than {MEMBERS_MAX:,} members")
                new_archive.comment = self._forgotten.rewrite(archive.comment)
                is_changed = new_archive.comment != archive.comment
                for member in members:
                    with archive.open(member) as stream:
                        plain = self._expand(stream)
                    new = self.rewrite(plain, depth + 1)
                    info = self._member(member, set(new_archive.namelist()))
                    is_changed |= new != plain or info.filename != member.filename
                    is_changed |= _text_holds(member.extra + member.comment, self._forgotten)
                    if new is not None:
                        new_archive.writestr(info, new)
        # RuntimeError: an encrypted member.
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError) as error:
            raise UnsearchedError(f"the archive cannot be read: {error}") from error
        return written.getvalue() if is_changed else data

    def _member(self, member: zipfile.ZipInfo, taken: set[str]) -> zipfile.ZipInfo:
        """Return the header of a member without the value, with a name that is not taken."""
        name = self._forgotten.rewrite_text(member.filename)
        info = zipfile.ZipInfo(unique_name(name, taken), member.date_time)
        info.compress_type = member.compress_type
        info.external_attr = member.external_attr
        info.comment = self._forgotten.rewrite(member.comment)
        return info

    def _expand(self, stream: IO[bytes]) -> bytes:
        """Return the content of compressed data; of cut data, the part that can be read."""
        chunks: list[bytes] = []
        try:
            while chunk := stream.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
                self._expanded += len(chunk)
                if self._expanded > EXPANDED_BYTES_MAX:
                    raise UnsearchedError(f"it expands to more than {EXPANDED_BYTES_MAX:,} bytes")
                chunks.append(chunk)
        except EOFError:
            self.is_cut = True
        except (OSError, zlib.error) as error:
            raise UnsearchedError(f"its compressed data is damaged: {error}") from error
        return b"".join(chunks)


def unique_name(name: str, taken: set[str]) -> str:
    """Return a name, with a number at its end if it is taken."""
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    return unique


def _check_depth(depth: int) -> None:
    if depth >= DEPTH_MAX:
        raise UnsearchedError(f"it has more than {DEPTH_MAX} archives inside each other")


def _rewrite_text(data: bytes, forgotten: Forgotten) -> bytes:
    """Return a text without the value: one document of JSON, or lines of JSON or text."""
    if is_json(data):
        return forgotten.rewrite(data)
    return b"".join(_rewritten_lines(data, forgotten))


def _rewritten_lines(data: bytes, forgotten: Forgotten) -> Iterator[bytes]:
    """Yield the lines of a text without the value, which may stand across lines of text.

    A line that is JSON is rewritten by itself: it must stay JSON.
    """
    lines: list[str] = []
    size = size_max = 0
    for line in data.splitlines(keepends=True):
        if line.lstrip().startswith((b"{", b"[", b'"')) and is_json(line):
            yield _encode(_rewrite_window(lines, forgotten))
            yield forgotten.rewrite(line)
            lines, size = [], 0
            continue
        lines.append(line.decode("utf-8", "surrogateescape"))
        size += len(line)
        if size > max(size_max, _WINDOW_CHARACTERS):
            lines = _rewrite_window(lines, forgotten)
            kept = _overlap(lines)
            yield _encode(lines[:kept])
            lines = lines[kept:]
            size = sum(map(len, lines))
            # Lines without words may be many: each is searched a few times only.
            size_max = 2 * size
    yield _encode(_rewrite_window(lines, forgotten))


def _rewrite_window(lines: list[str], forgotten: Forgotten) -> list[str]:
    """Return lines without the value, also where it stands across them."""
    text = "".join(lines)
    if forgotten.rewrite_text(text) is text:
        return lines
    # By lines first: an encoded value replaces the whole text that it stands in.
    text = "".join(map(forgotten.rewrite_text, lines))
    return forgotten.rewrite_text(text).splitlines(keepends=True)


def _overlap(lines: list[str]) -> int:
    """Return the index of the line from which a value may go on behind the last line."""
    words = 0
    for index in range(len(lines) - 1, -1, -1):
        words += len(_WORD.findall(lines[index]))
        if words >= _OVERLAP_WORDS:
            return index
    return 0


def _encode(lines: list[str]) -> bytes:
    return "".join(lines).encode("utf-8", "surrogateescape")


def _rewrite_wide(data: bytes, forgotten: Forgotten) -> bytes:
    """Return a text of UTF-16 or UTF-32 without the value; other data as it is."""
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            try:
                plain = data[len(mark) :].decode(encoding).encode()
            except UnicodeDecodeError:
                return data
            new = _rewrite_text(plain, forgotten)
            return data if new == plain else mark + new.decode().encode(encoding)
    return data


def _text_holds(data: bytes, forgotten: Forgotten) -> bool:
    text = data.decode("utf-8", "surrogateescape")
    return forgotten.rewrite_text(text) is not text


def _parquet_holds(data: bytes, forgotten: Forgotten) -> bool:
    """Return True if a Parquet file has the value. Raises UnsearchedError."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UnsearchedError("pyarrow is not installed; it is in headwater[pipelines]") from error
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        metadata = dict(file.metadata.metadata or {})
        # The schema of Arrow, in base64: it has the metadata of fields at any depth.
        schema = base64.b64decode(metadata.pop(_ARROW_SCHEMA, b""))
        names = str(file.schema)
        table = file.read()
        # A row as a dictionary would lose one of two columns with the same name.
        columns = [column.to_pylist() for column in table.columns]
    # ValueError, OverflowError: a cell that Python cannot hold.
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise UnsearchedError(f"the Parquet file cannot be read: {error}") from error
    return _cell_holds([metadata, schema, names, columns], forgotten)


def _binary_holds(data: bytes, forgotten: Forgotten) -> bool:
    """Return True if a database or another binary file has the value."""
    if data.startswith(_SQLITE) and _database_holds(data, forgotten):
        return True
    texts = (data[start:].decode(one, "replace") for one, start in product(_UTF_16, (0, 1)))
    return _text_holds(data, forgotten) or any(
        forgotten.rewrite_text(text) is not text for text in texts
    )


def _database_holds(data: bytes, forgotten: Forgotten) -> bool:
    """Return True if a database has the value in a row, or cannot be read.

    A long value of SQLite stands on several pages, so a search of the file does not find all of it.
    """
    # A database in memory has no write-ahead log: bytes 18 and 19 name the mode of the journal.
    image = data[:18] + b"\1\1" + data[20:]
    try:
        with closing(apsw.Connection(":memory:")) as connection:
            connection.deserialize("main", image)
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (table,) in tables.fetchall():
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    if any(_cell_holds(cell, forgotten) for cell in row):
                        return True
    except apsw.Error:
        return True
    return False


def _cell_holds(cell: object, forgotten: Forgotten) -> bool:
    if isinstance(cell, dict):
        return _cell_holds([*cell, *cell.values()], forgotten)
    if isinstance(cell, (list, tuple)):
        return any(_cell_holds(one, forgotten) for one in cell)
    data = cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")
    return forgotten.rewrite(data) is not data
