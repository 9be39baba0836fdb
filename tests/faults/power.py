"""A disk that loses power: writes that were not synced may be lost, each or in part.

Each file has a durable content, which changes only when the file is synced. After the power cut
`write_disk` writes that content, and a random part of the later writes, into a folder.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import apsw

SECTOR_BYTES = 512


@dataclass
class DiskFile:
    """The durable bytes of a file, and the changes after its last sync.

    A change is an offset with data, or a new size without data.
    """

    durable: bytearray = field(default_factory=bytearray)
    changes: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        for offset, data in self.changes:
            apply(self.durable, offset, data)
        self.changes.clear()


def apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class PowerCutDisk(apsw.VFS):
    """A VFS of SQLite over the real one. At call `cut_at` the power ends: it and later ones fail.

    `calls` counts the writes, syncs, truncations and deletions.
    """

    def __init__(self, name: str, cut_at: int) -> None:
        self.vfs_name = name
        self.cut_at = cut_at
        self.calls = 0
        self.files: dict[str, DiskFile] = {}
        super().__init__(name, "")

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> _File:
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        return _File(self, name, flags, self.files.setdefault(Path(path).name, DiskFile()))

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.count()
        self.files.pop(Path(filename).name, None)
        super().xDelete(filename, syncdir)

    def count(self) -> None:
        self.calls += 1
        if self.calls >= self.cut_at:
            raise apsw.IOError("a test has cut the power")

    def write_disk(self, folder: Path, chance: random.Random) -> None:
        """Write the files as the disk has them after the cut; parts of writes may be missing."""
        folder.mkdir()
        for name, file in self.files.items():
            content = bytearray(file.durable)
            for offset, data in file.changes:
                if data is None or chance.random() < 0.5:
                    continue
                first = chance.randrange(0, len(data), SECTOR_BYTES)
                last = chance.randrange(first, len(data)) + 1
                apply(content, offset + first, data[first:last])
            (folder / name).write_bytes(content)


class _File(apsw.VFSFile):
    def __init__(
        self,
        disk: PowerCutDisk,
        name: str | apsw.URIFilename | None,
        flags: list[int],
        file: DiskFile,
    ) -> None:
        self._disk = disk
        self._file = file
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        del flags
        self._disk.count()
        self._file.sync()

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.count()
        self._file.changes.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.count()
        self._file.changes.append((newsize, None))
        super().xTruncate(newsize)
