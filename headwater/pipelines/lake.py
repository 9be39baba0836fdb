"""The lake: every event the spool ever kept, as Parquet, in folders by the day it was received and by namespace.

    date=2026-01-31/namespace=spark%3A%2F%2Fprod/SPOOL-FIRST-LAST.parquet      the events, with zstd
    _archived/SPOOL/FIRST-LAST.json                                            what is whole, written last

FIRST and LAST are seqs of the spool SPOOL. A file counts only when a range in `_archived` covers its events; what was
being written when somebody pulled the plug is removed by whoever archives next, so that no event is there twice. On a
disk of this machine every file is synced before it counts: after a cut of the spool it is the only copy.

The day is that of receipt, so that a day that is over does not change any more. The namespace is that of the job, or of
the dataset of a dataset event; what is no event has none. The columns are `SCHEMA`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec
import pyarrow as pa
from pyarrow import fs

MANIFEST = "_archived"
# As Hive names the folder of what has no value, and so do all who read its folders.
_NONE = "__HIVE_DEFAULT_PARTITION__"
_FOLDER_CHARACTERS_MAX = 150
_CUT_ESCAPE = re.compile("%.?$")
_DIGITS = 16
_GLOB = re.compile(r"[*?{\[]")
_NAME = re.compile(rf"/([^/]+)-\d{{{_DIGITS}}}-(\d{{{_DIGITS}}})\.parquet$")
SCHEMA = pa.schema(
    [
        ("spool", pa.string()),
        ("seq", pa.int64()),
        ("received", pa.timestamp("us", "UTC")),
        ("event_time", pa.timestamp("us", "UTC")),
        ("event_type", pa.string()),
        ("run_id", pa.string()),
        ("job_namespace", pa.string()),
        ("job_name", pa.string()),
        ("producer", pa.string()),
        # CRC-32 of the body, as the spool made it when the event was accepted.
        ("checksum", pa.int64()),
        ("body", pa.binary()),
    ]
)


class DataFile(msgspec.Struct, frozen=True, order=True):
    """A Parquet file of the lake: its name below the lake's, and how many events and bytes it has."""

    name: str
    events: int
    bytes: int


class ArchivedRange(msgspec.Struct, frozen=True):
    """Events of one spool that are in the lake, both ends included, and the files they are in."""

    first: int
    last: int
    files: list[DataFile]


class Lake:
    """A lake by its path or address: s3://, gs://, abfs://, hdfs:// as pyarrow reads them, s3a:// as s3://."""

    def __init__(self, root: str) -> None:
        self._local = urlsplit(root).scheme in ("", "file")
        if self._local:
            self.root = os.path.abspath(os.path.expanduser(root.removeprefix("file://")))
            self._fs, self._path = fs.LocalFileSystem(), self.root
        else:
            self.root = root.rstrip("/")
            self._fs, self._path = fs.FileSystem.from_uri(self.root.replace("s3a://", "s3://", 1))

    def put(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all, and durably where that is for us to see to."""
        if self._local:
            _put_synced(Path(self._path, name), data)
            return
        with self._fs.open_output_stream(f"{self._path}/{name}") as stream:
            stream.write(data)

    def archived(self, spool: str) -> int:
        """Up to which seq a spool's events are all here; 0 when none are."""
        position = 0
        for name in sorted(self._names(f"{MANIFEST}/{spool}")):
            first, last = map(int, name.rpartition("/")[2].removesuffix(".json").split("-"))
            if first <= position + 1:
                position = max(position, last)
        return position

    def spools(self) -> list[str]:
        """The ids of the spools of which events are here."""
        return sorted({name.split("/")[1] for name in self._names(MANIFEST)})

    def add(self, spool: str, added: ArchivedRange) -> None:
        """These events are in the lake: from now on they count."""
        name = f"{MANIFEST}/{spool}/{added.first:0{_DIGITS}}-{added.last:0{_DIGITS}}.json"
        self.put(name, msgspec.json.encode(added))

    def remove_uncommitted(self, spool: str) -> int:
        """Remove files of a spool that do not count; returns how many. Nobody else may be archiving it."""
        position = self.archived(spool)
        strays = []
        for name in self._names(""):
            found = _NAME.search(name)
            if found and found[1] == spool and int(found[2]) > position:
                strays.append(name)
        for name in strays:
            self._fs.delete_file(f"{self._path}/{name}")
        return len(strays)

    def _names(self, folder: str) -> Iterable[str]:
        below = f"{self._path}/{folder}" if folder else self._path
        selected = fs.FileSelector(below, recursive=True, allow_not_found=True)
        for info in self._fs.get_file_info(selected):
            if info.type == fs.FileType.File and info.extension in ("json", "parquet"):
                yield info.path[len(self._path) :].lstrip("/")


def open_lake(root: str) -> Lake | None:
    """The lake at a path, which may as well be a glob or in a store that only Spark knows: then None."""
    try:
        return None if _GLOB.search(root) else Lake(root)
    except (pa.ArrowException, OSError):
        return None


def data_name(spool: str, date: str, namespace: str | None, first: int, last: int) -> str:
    """The name below the lake's of a file of events first to last."""
    folder = f"date={date}/namespace={_folder(namespace)}"
    return f"{folder}/{spool}-{first:0{_DIGITS}}-{last:0{_DIGITS}}.parquet"


def spool_of(name: str) -> str | None:
    """The spool that a file of a lake comes from; None when it is no such file."""
    found = _NAME.search(name)
    return found[1] if found else None


def _folder(namespace: str | None) -> str:
    """A namespace as the name of a folder: percent-encoded, and what is too long for one cut, with a hash."""
    if not namespace:
        return _NONE
    name = quote(namespace, safe="")
    if len(name) <= _FOLDER_CHARACTERS_MAX:
        return name
    digest = hashlib.sha256(namespace.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{_CUT_ESCAPE.sub('', name[:_FOLDER_CHARACTERS_MAX])}-{digest}"


def _put_synced(path: Path, data: bytes) -> None:
    new = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)
    for folder in (path.parent, *(folder.parent for folder in new)):
        _sync(folder)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
