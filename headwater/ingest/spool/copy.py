"""Copy a spool at one position while others use it, and test whether others do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import msgspec

from headwater.errors import SpoolFullError
from headwater.ingest.spool.damage import last_seq, read_cut, read_record, unreadable_spool
from headwater.ingest.spool.folder_lock import in_use
from headwater.ingest.spool.salvage_lock import remove_trigger
from headwater.ingest.spool.version import read_version

_BUSY_MS = 10_000
_PAGES_PER_STEP = 512

# Called with the number of pages copied and the number of all pages.
OnPages = Callable[[int, int], object]


class SpoolPosition(msgspec.Struct, frozen=True):
    """The identity and the end of a spool.

    position: the seq of the newest event, or 0; received: its receipt in microseconds since 1970.
    cut: the seq up to which events were cut, or 0; lake: the lake that holds them.
    dead: the number of dead letters.
    """

    id: str
    version: int
    position: int
    received: int | None
    cut: int
    lake: str
    dead: int


def copy_spool(source: Path, target: Path, on_pages: OnPages) -> SpoolPosition:
    """Copy a spool as it is at one instant into a new file; return the position of that instant.

    Events that arrive meanwhile are not in the copy. Raises SpoolFullError and NewerVersionError.
    """
    try:
        target.touch(mode=0o600)
        with (
            closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as connection,
            closing(apsw.Connection(str(target))) as copy,
        ):
            connection.set_busy_timeout(_BUSY_MS)
            # One snapshot for all steps: without it each new event would restart the copy.
            connection.execute("BEGIN")
            position = _position(connection, source)
            with copy.backup("main", connection, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES_PER_STEP)
                    on_pages(backup.page_count - backup.remaining, backup.page_count)
            connection.execute("COMMIT")
            # A file without a log of its own: to read it changes nothing beside it.
            copy.pragma("journal_mode", "delete")
            remove_trigger(copy)
        return position
    except apsw.ReadOnlyError as error:
        raise unreadable_spool(source, error) from error
    except apsw.Error as error:
        raise _copy_error(f"the spool {source}", error) from error


def copy_database(source: Path, target: Path) -> None:
    """Copy a small SQLite file as it is at one instant. Raises SpoolFullError."""
    try:
        target.touch(mode=0o600)
        with (
            closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as connection,
            closing(apsw.Connection(str(target))) as copy,
        ):
            connection.set_busy_timeout(_BUSY_MS)
            with copy.backup("main", connection, "main") as backup:
                backup.step(-1)
    except apsw.Error as error:
        raise _copy_error(str(source), error) from error


def _copy_error(source: str, error: apsw.Error) -> SpoolFullError:
    """Return the error of a copy. SQLite has no text for a write of its backup that fails."""
    if isinstance(error, apsw.FullError):
        reason = "the disk is full"
    elif isinstance(error, apsw.IOError):
        code = getattr(error, "extendedresult", 0)
        reason = str(apsw.mapping_extended_result_codes.get(code, error))
    else:
        reason = str(error)
    return SpoolFullError(
        f"{source} cannot be copied: {reason}",
        hint="Check that the disk of the copy has room, or name a folder on another disk.",
    )


def read_position(path: Path) -> SpoolPosition:
    """Return the position of a spool. Raises SpoolFullError and NewerVersionError."""
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            return _position(connection, path)
    except apsw.Error as error:
        raise unreadable_spool(path, error) from error


def name_lake(path: Path, lake: str) -> None:
    """Record another place of the lake with the events that were cut. Raises SpoolFullError."""
    try:
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'lake'", (lake,))
    except apsw.Error as error:
        raise SpoolFullError(f"the spool {path} cannot be written: {error}") from error


def allow_events(path: Path) -> None:
    """Remove the trigger of a killed salvage, which refuses all events. Raises SpoolFullError."""
    try:
        with closing(apsw.Connection(str(path))) as connection:
            remove_trigger(connection)
    except apsw.Error as error:
        raise SpoolFullError(f"the spool {path} cannot be written: {error}") from error


def is_in_use(path: Path) -> bool:
    """Return True if another process has this spool open: only the last one may end its log.

    Raises SpoolFullError and NewerVersionError.
    """
    if not path.exists():
        return False
    try:
        with closing(apsw.Connection(str(path))) as connection:
            connection.set_busy_timeout(0)
            read_version(connection, path)
            connection.pragma("journal_mode", "delete")
            mode = str(connection.pragma("journal_mode"))
            connection.pragma("journal_mode", "wal")
    except apsw.BusyError:
        return True
    except apsw.Error as error:
        raise SpoolFullError(f"the spool {path} cannot be read: {error}") from error
    return mode != "delete"


def refuse_used(path: Path) -> None:
    """Raise HomeInUseError if another process has this spool open.

    Raises SpoolFullError and NewerVersionError too.
    """
    if is_in_use(path):
        raise in_use(path)


def _position(connection: apsw.Connection, path: Path) -> SpoolPosition:
    version = read_version(connection, path)
    meta = dict(connection.execute("SELECT name, value FROM meta WHERE name <> 'probe'"))
    position = last_seq(connection)
    newest = read_record(connection, position)
    return SpoolPosition(
        id=str(meta.get("id", "")),
        version=version,
        position=position,
        received=newest.received if newest is not None else None,
        cut=read_cut(connection),
        lake=str(meta.get("lake", "")),
        dead=int(connection.execute("SELECT count(*) FROM dead").get),
    )
