"""Disks that fill up and disks that fail."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Mount a tmpfs of that size, which only root may do."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs takes root")
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], check=True
    )
    try:
        yield folder
    finally:
        # Lazily, because a killed process may still hold a file.
        subprocess.run(["umount", "-l", str(folder)], check=True)


class FailingDisk(apsw.VFS):
    """A VFS of SQLite over the real one. Its calls of the kinds in `failing` fail.

    With `nth`, only the nth of these calls fails. `calls` counts them.
    """

    def __init__(self, name: str) -> None:
        self.vfs_name = name
        self.failing: frozenset[str] = frozenset()
        self.nth = 0
        self.calls = 0
        super().__init__(name, "")

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> _File:
        self.may_fail("open", apsw.CantOpenError)
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.may_fail("delete", apsw.IOError)
        super().xDelete(filename, syncdir)

    def may_fail(self, kind: str, error: type[apsw.Error]) -> None:
        if kind in self.failing:
            self.calls += 1
            if self.nth in (0, self.calls):
                raise error(f"a test lets this {kind} fail")


class _File(apsw.VFSFile):
    def __init__(
        self, disk: FailingDisk, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.may_fail("sync", apsw.IOError)
        super().xSync(flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.may_fail("write", apsw.IOError)
        super().xWrite(data, offset)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.may_fail("read", apsw.IOError)
        return super().xRead(amount, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.may_fail("truncate", apsw.IOError)
        super().xTruncate(newsize)
