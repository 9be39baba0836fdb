"""Rewrite the other files of a home without a value, in name and content.

Logs, evidence packs and policies are such files. A file that cannot be rewritten is removed if it
has the value.
"""

from __future__ import annotations

import mmap
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import apsw

from headwater.forgetting.contents import UnsearchedError, rewrite_content, unique_name
from headwater.forgetting.linked_walk import OnProblem, files_below, reason_of, walk
from headwater.ingest.receive.forgotten import Forgotten

_NEO4J_DATA = re.compile(r"data(\.damaged-.*)?")
_SECRET_SUFFIXES = {".key", ".lock"}
_WORD = re.compile(r"[^\W_]+")

Identity = tuple[int, int]


class Stores:
    """Files and folders that other modules rewrite, known by device and inode.

    Settings may name them by a link, or by another path to their folder than the home's. What does
    not exist is left out.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        named = list(paths)
        names = {*map(Path.absolute, named), *map(Path.resolve, named)}
        self._own = _identities(names)
        self._above = _identities(chain.from_iterable(name.parents for name in names))

    def __contains__(self, path: Path) -> bool:
        return _identity(path.lstat) in self._own

    def cover(self, path: Path) -> bool:
        """Return True if a path, also by links, is that of a store or of something in one."""
        real = path.resolve()
        return any(_identity(one.stat) in self._own for one in (real, *real.parents))

    def are_below(self, folder: Path) -> bool:
        """Return True if a store is below a folder."""
        return _identity(folder.stat) in self._above


def _identities(paths: Iterable[Path]) -> set[Identity | None]:
    """Return the identities of links, and of the files and folders that they name."""
    found = set()
    for path in paths:
        found |= {_identity(path.lstat), _identity(path.stat)}
    return found - {None}


def _identity(call: Callable[[], os.stat_result]) -> Identity | None:
    try:
        status = call()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def neo4j_data(home: Path) -> list[Path]:
    """Return the folders with data of a local Neo4j, also damaged data that was moved away.

    Its files hold texts in pieces, so a search does not find each value. They are removed as a
    whole.
    """
    return [path for path in home.glob("data*") if _NEO4J_DATA.fullmatch(path.name)]


def graph_files(home: Path, value: str, on_problem: OnProblem) -> int:
    """Return the number of files of a local Neo4j that hold the value in one piece."""
    words = [re.escape(word.encode()) for word in _WORD.findall(value)]
    pattern = re.compile(rb"[\W_]{1,9}".join(words), re.IGNORECASE)
    number = 0
    for path in chain.from_iterable(files_below(one, on_problem) for one in neo4j_data(home)):
        try:
            number += path.stat().st_size > 0 and _has_match(path, pattern)
        except OSError as error:
            on_problem(path, reason_of(error))
    return number


def links_of_graph(home: Path) -> list[Path]:
    """Return the links in the data of a local Neo4j, whose targets stay when it is removed."""
    found = chain.from_iterable(one.rglob("*") for one in neo4j_data(home))
    return [path for path in found if path.is_symlink() and path.exists()]


def _has_match(path: Path, pattern: re.Pattern[bytes]) -> bool:
    with (
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        return pattern.search(data) is not None


def entries(
    home: Path, excluded: Stores, on_problem: OnProblem = lambda *_: None
) -> Iterator[Path]:
    """Yield files, folders and links of a home, the excluded ones too, but nothing below these.

    What a link to a folder names is a part of the home.
    """
    data = set(neo4j_data(home))
    for here, names, files in walk(home, on_problem):
        yield from (here / name for name in (*names, *files) if here / name not in data)
        names[:] = [
            name
            for name in names
            if here / name not in excluded
            and here / name not in data
            and not ((here / name).is_symlink() and excluded.cover(here / name))
        ]


def other_files(
    home: Path, excluded: Stores, on_problem: OnProblem = lambda *_: None
) -> Iterator[Path]:
    """Yield the regular files of a home that no other module rewrites.

    A file that is outside of the home, and in it by links only, is yielded once, by its real path.
    """
    real_home, outer = home.resolve(), set()
    for path in entries(home, excluded, on_problem):
        if path in excluded or path.suffix in _SECRET_SUFFIXES or not path.is_file():
            continue
        real = path.resolve()
        if not real.is_relative_to(real_home):
            if real not in outer and real.suffix not in _SECRET_SUFFIXES:
                outer.add(real)
                if not excluded.cover(real):
                    yield real
        elif not path.is_symlink():
            yield path


def rename_entries(
    home: Path, excluded: Stores, forgotten: Forgotten, on_problem: OnProblem, *, dry_run: bool
) -> int:
    """Rename files and folders that have the value in their names; return their number."""
    number = 0
    # A folder comes before its content, so the reverse order renames the content first.
    for path in reversed(list(entries(home, excluded))):
        if path.is_symlink() and _has_value(os.readlink(path), forgotten):
            on_problem(path, "the target of this link has the value")
        if not _has_value(path.name, forgotten):
            continue
        if path in excluded or excluded.are_below(path):
            on_problem(path, "its name has the value, and settings or the spool name it")
            continue
        number += 1
        if not dry_run:
            _rename(path, forgotten, on_problem)
    return number


def rewrite_file(
    path: Path, forgotten: Forgotten, *, dry_run: bool, may_remove: bool = True
) -> str:
    """Rewrite or remove a file that has the value; return the name of its count, or nothing.

    Raises UnsearchedError if the file cannot be read, searched or written, or must be removed and
    may not.
    """
    try:
        data = path.read_bytes()
        new = rewrite_content(data, forgotten, is_parquet=path.suffix == ".parquet")
        if new == data:
            return ""
        if new is None and not may_remove:
            raise UnsearchedError("it has the value, and is outside of the home: remove it")
        if not dry_run and new is None:
            path.unlink()
        elif not dry_run and new is not None:
            _replace(path, new)
    except OSError as error:
        raise UnsearchedError(reason_of(error)) from error
    return "files removed" if new is None else "files rewritten"


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


def _has_value(text: str, forgotten: Forgotten) -> bool:
    return forgotten.rewrite_text(text) is not text


def _rename(path: Path, forgotten: Forgotten, on_problem: OnProblem) -> None:
    # A decoded name may have a slash.
    name = forgotten.rewrite_text(path.name).replace("/", "_")
    try:
        path.rename(path.with_name(unique_name(name, set(os.listdir(path.parent)))))
    except OSError as error:
        on_problem(path, f"it cannot be renamed: {reason_of(error)}")


def _replace(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically; its owner and mode stay. Follow no link."""
    partial = path.with_name(f".{path.name}.forget")
    partial.unlink(missing_ok=True)
    before = path.stat()
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchown(descriptor, before.st_uid, before.st_gid)
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        partial.chmod(before.st_mode & 0o777)
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
