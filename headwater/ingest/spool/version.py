"""The version of a spool: the number of its tables, in the `user_version` of the file's header.

A higher version than this program's is refused by every reader and writer. The versions are counted
up from 1. So a number that no release will reach is no version but damage, which a salvage repairs.
A damaged number below that bound cannot be told from a newer version, and is refused too.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from headwater.errors import NewerVersionError, SpoolFullError

VERSION = 1
# The highest number that a newer Headwater may write.
VERSION_MAX = 999


def read_version(connection: apsw.Connection, path: Path) -> int:
    """Return the version of a spool that this program can read.

    Raises NewerVersionError, SpoolFullError if the number is damaged, and apsw.Error.
    """
    version = read_damaged_version(connection, path)
    if not is_possible(version):
        raise SpoolFullError(
            f"the spool {path} is damaged: {impossible_version(version)}",
            hint="Run `headwater spool salvage`.",
        )
    return version


def read_damaged_version(connection: apsw.Connection, path: Path) -> int:
    """Return the version of a spool, or a damaged number. Raises NewerVersionError and apsw.Error.

    The error of a newer version names it.
    """
    version = int(connection.pragma("user_version"))
    if VERSION < version <= VERSION_MAX:
        raise NewerVersionError.of_file(f"spool {path}", version, VERSION)
    return version


def is_possible(version: int) -> bool:
    """Return True if a number is a version."""
    return 0 <= version <= VERSION_MAX


def impossible_version(version: int) -> str:
    """Return the text about a number that is no version."""
    return f"its header has the version {version}, and there is none above {VERSION_MAX}"
