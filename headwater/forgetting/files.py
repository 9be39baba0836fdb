"""Rewrite the other files of a home without a value: logs, evidence packs, policies.

Text and JSON are rewritten in place. A file that cannot be rewritten, such as the copy of a damaged
spool, is removed if it has the value, or if it is a database that cannot be searched.
"""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from headwater.ingest.receive.forgotten import Forgotten, is_json

_SQLITE = b"SQLite format 3\0"
_NEO4J_DATA = re.compile(r"data(\.damaged-.*)?")
_SECRET_SUFFIXES = {".key", ".lock"}


def neo4j_data(home: Path) -> list[Path]:
    """Return the folders with data of a local Neo4j, also damaged data that was moved away.

    Its files hold texts in pieces, so a value in them cannot be found. They are removed as a whole.
    """
    return [path for path in home.glob("data*") if _NEO4J_DATA.fullmatch(path.name)]


def other_files(home: Path, excluded: set[Path]) -> Iterator[Path]:
    """Yield the regular files of a home that no other module rewrites."""
    data = set(neo4j_data(home))
    for folder, names, files in os.walk(home):
        here = Path(folder)
        names[:] = [
            name for name in names if here / name not in excluded and here / name not in data
        ]
        for name in files:
            path = here / name
            is_own = path in excluded or path.suffix in _SECRET_SUFFIXES
            if not is_own and path.is_file() and not path.is_symlink():
                yield path


def rewrite_file(path: Path, forgotten: Forgotten, *, dry_run: bool) -> str:
    """Rewrite or remove a file that has the value; return the name of its count, or nothing."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return _rewrite_gzip(path, data, forgotten, dry_run)
    if path.suffix == ".parquet" or b"\0" in data:
        if not _holds(path, data, forgotten):
            return ""
        if not dry_run:
            path.unlink()
        return "files removed"
    new = _rewrite_text(data, forgotten)
    if new == data:
        return ""
    if not dry_run:
        _replace(path, new)
    return "files rewritten"


def rewrite_access(path: Path, forgotten: Forgotten, *, dry_run: bool) -> Counter[str]:
    """Rewrite the texts of every table beside the access log; return their number."""
    found: Counter[str] = Counter()
    connection = apsw.Connection(str(path))
    try:
        connection.pragma("secure_delete", True)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for table in [str(row[0]) for row in tables.fetchall()]:
            if table != "entry" and not table.startswith("sqlite_"):
                found["keys and sessions"] += _rewrite_table(connection, table, forgotten, dry_run)
        if not dry_run:
            connection.execute("VACUUM")
    finally:
        connection.close()
    return +found


def _rewrite_table(
    connection: apsw.Connection, table: str, forgotten: Forgotten, dry_run: bool
) -> int:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    changed = 0
    for column in columns:
        rows = connection.execute(
            f"SELECT rowid, {column} FROM {table} WHERE typeof({column}) = 'text'"
        ).fetchall()
        for rowid, value in rows:
            text = str(value)
            new = forgotten.rewrite_text(text)
            if new is not text:
                changed += 1
                if not dry_run:
                    statement = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
                    connection.execute(statement, (new, rowid))
    return changed


def _rewrite_gzip(path: Path, data: bytes, forgotten: Forgotten, dry_run: bool) -> str:
    try:
        plain = gzip.decompress(data)
    except (OSError, EOFError):
        return ""
    new = _rewrite_text(plain, forgotten)
    if new == plain:
        return ""
    if not dry_run:
        _replace(path, gzip.compress(new))
    return "files rewritten"


def _rewrite_text(data: bytes, forgotten: Forgotten) -> bytes:
    """Return a text without the value: one document of JSON, or lines of JSON or text."""
    if is_json(data):
        return forgotten.rewrite(data)
    return b"".join(forgotten.rewrite(line) for line in data.splitlines(keepends=True))


def _holds(path: Path, data: bytes, forgotten: Forgotten) -> bool:
    """Return True if a file that is no text has the value."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        texts = (
            value if isinstance(value, bytes) else str(value).encode()
            for row in pq.read_table(path, partitioning=None).to_pylist()
            for value in row.values()
        )
        return any(forgotten.rewrite(text) is not text for text in texts)
    if data.startswith(_SQLITE) and _database_holds(path, forgotten):
        return True
    text = data.decode("utf-8", "surrogateescape")
    return forgotten.rewrite_text(text) is not text


def _database_holds(path: Path, forgotten: Forgotten) -> bool:
    """Return True if a database has the value in a row, or cannot be read.

    A long value of SQLite stands on several pages, so a search of the file does not find all of it.
    """
    address = f"{path.absolute().as_uri()}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        with closing(apsw.Connection(address, flags=flags)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (table,) in tables.fetchall():
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    if any(_cell_holds(cell, forgotten) for cell in row):
                        return True
    except apsw.Error:
        return True
    return False


def _cell_holds(cell: object, forgotten: Forgotten) -> bool:
    data = cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")
    return forgotten.rewrite(data) is not data


def _replace(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically; its mode stays."""
    partial = path.with_name(f".{path.name}.forget")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    partial.chmod(path.stat().st_mode & 0o777)
    partial.replace(path)
