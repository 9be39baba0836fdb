"""The lake: all archived events as Parquet, in folders by day of receipt and namespace.

    date=2026-01-31/namespace=spark%3A%2F%2Fprod/SPOOL-FIRST-LAST.parquet      events, with zstd
    _archived/SPOOL/FIRST-LAST.json                                            manifest, written
    last

FIRST and LAST are seqs of the spool SPOOL. A file counts only if a manifest in `_archived` names
it. The next archive run removes the files of an interrupted one, so no event is there twice. On a
local disk every file is synced before it counts: after a cut of the spool it is the only copy. Only
its owner can read it there.

Since the day is that of receipt, a past day never changes. The namespace is that of the job, or of
the dataset in a dataset event; a body that is not an event has none. The columns are `SCHEMA`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from headwater.errors import QueryError
from headwater.file_sync import sync
from headwater.pipelines.lake_folders import MANIFEST, local_folder, validate_address

# Hive's name for the folder of rows without a value.
_NONE = "__HIVE_DEFAULT_PARTITION__"
_FOLDER_CHARACTERS_MAX = 150
_CUT_ESCAPE = re.compile("%.?$")
_DIGITS = 16
_GLOB = re.compile(r"[*?{\[]")
_NAME = re.compile(rf"/([^/]+)-\d{{{_DIGITS}}}-(\d{{{_DIGITS}}})\.parquet$")
_SEQS = rf"(\d{{{_DIGITS}}})-(\d{{{_DIGITS}}})"
_PART = ".part"
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
        # CRC-32 of the body, computed by the spool when the event was accepted.
        ("checksum", pa.int64()),
        ("body", pa.binary()),
    ]
)


class DataFile(msgspec.Struct, frozen=True, order=True):
    """A Parquet file of the lake: its name below the root, and its number of events and bytes."""

    name: str
    events: int
    bytes: int


class ArchivedRange(msgspec.Struct, frozen=True):
    """A range of seqs of one spool, both ends included, with the files of its events."""

    first: int
    last: int
    files: list[DataFile]


class Lake:
    """A lake at a path or URL: s3://, gs://, abfs:// or hdfs:// (by pyarrow); s3a:// is s3://.

    Raises QueryError for an empty path, and for a URL that may hold a secret, or of a store that
    pyarrow cannot open.
    """

    def __init__(self, root: str) -> None:
        if not root.strip():
            raise QueryError("the name of the lake is empty", hint="Name a folder or a URL.")
        validate_address(root)
        folder = local_folder(root)
        self._local = folder is not None
        if folder is not None:
            self.root = str(folder)
            self._fs, self._path = fs.LocalFileSystem(), self.root
        else:
            self.root = root.rstrip("/")
            self._fs, self._path = _open_store(self.root)

    def is_at(self, root: str) -> bool:
        """Return True if a path or URL names this lake, also by links."""
        other = local_folder(root)
        if not self._local or other is None:
            return self.root == root
        return os.path.realpath(self.root) == os.path.realpath(other)

    def put(self, name: str, data: bytes) -> None:
        """Write a file atomically; on a local disk, sync it, and write behind a link to it."""
        if self._local:
            _put_synced(Path(self._path, name).resolve(), data)
            return
        with self._fs.open_output_stream(f"{self._path}/{name}") as stream:
            stream.write(data)

    def archived(self, spool: str) -> int:
        """Return the last seq of a spool up to which all events are here; 0 if none are."""
        position = 0
        for name in self._manifests(spool):
            first, last = self._seqs(name)
            if first <= position + 1:
                position = max(position, last)
        return position

    def ranges(self, spool: str) -> list[ArchivedRange]:
        """Return the ranges of a spool that manifests commit, in order."""
        return [self._read_manifest(name) for name in self._manifests(spool)]

    def newest_receipts(self, spool: str) -> dict[int, int]:
        """Return the receipts of the newest archived events, in microseconds since 1970, by seq.

        They are those that one Spark task wrote. Raises QueryError if a file cannot be read.
        """
        position = self.archived(spool)
        for name in reversed(self._manifests(spool)):
            one = self._read_manifest(name)
            if one.last <= position and one.files:
                return self._receipts(one.files)
        return {}

    def read(self, name: str) -> bytes:
        """Return the content of a file below the root."""
        with self._fs.open_input_stream(f"{self._path}/{name}") as stream:
            return bytes(stream.read())

    def remove(self, name: str) -> None:
        """Remove a file below the root; on a local disk, its empty folders too.

        Their names have the namespace of its events. Of a link, the file behind it is removed too.
        """
        if self._local and (path := Path(self._path, name)).is_symlink():
            path.resolve().unlink(missing_ok=True)
        self._fs.delete_file(f"{self._path}/{name}")
        if self._local:
            _remove_empty(Path(self._path, name), Path(self._path))

    def spools(self) -> list[str]:
        """Return the ids of the spools with events in the lake."""
        names = self._sizes(MANIFEST)
        return sorted({name.split("/")[1] for name in names if name.endswith(".json")})

    def add(self, spool: str, added: ArchivedRange) -> None:
        """Write the manifest of a range, which commits its files."""
        name = f"{MANIFEST}/{spool}/{added.first:0{_DIGITS}}-{added.last:0{_DIGITS}}.json"
        self.put(name, msgspec.json.encode(added))

    def missing_files(self, spool: str, first: int, last: int) -> list[str]:
        """Return the files of archived events that are not here with the size in their manifest."""
        return _missing_files(self.ranges(spool), self._sizes(""), first, last)

    def leftovers(self, spool: str) -> list[str]:
        """Return the files of a spool that a killed writer has left: no manifest names them.

        If the lake lacks a file that a manifest names, then only files beyond the first gap are
        returned: another one may have its events. A manifest that is not complete is a leftover.
        """
        position, ranges, sizes = self.archived(spool), self.ranges(spool), self._sizes("")
        is_whole = not _missing_files(ranges, sizes, 1, position)
        pattern = re.compile(
            rf"date=[^/]+/namespace=[^/]+/\.?{re.escape(spool)}-\d+-(\d+)\.parquet(\{_PART})?"
            rf"|{MANIFEST}/{re.escape(spool)}/\.\d+-\d+\.json\{_PART}"
        )
        unnamed = [pattern.fullmatch(name) for name in sorted(sizes.keys() - _names(ranges))]
        return [
            match[0]
            for match in unnamed
            if match and (is_whole or not match[1] or int(match[1]) > position)
        ]

    def own_files(self, spool: str) -> set[str]:
        """Return the manifests of a spool, the files that they name, and its leftovers."""
        named = _names(self.ranges(spool))
        return {*named, *self._manifests(spool), *self.leftovers(spool)}

    def remove_uncommitted(self, spool: str) -> int:
        """Remove what is beyond the first gap, and the files that no manifest names.

        Return the number of files. The caller must hold the lock of the spool's archiving, and the
        spool must have the events beyond the gap.
        """
        position = self.archived(spool)
        for name in self._manifests(spool):
            if self._seqs(name)[1] > position:
                self.remove(name)
        leftovers = self.leftovers(spool)
        for name in leftovers:
            self.remove(name)
        return len(leftovers)

    def _read_manifest(self, name: str) -> ArchivedRange:
        seqs = self._seqs(name)
        try:
            one = msgspec.json.decode(self.read(name), type=ArchivedRange)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self._damaged(name, str(error)) from error
        if (one.first, one.last) != seqs:
            raise self._damaged(name, "it has other seqs than its name")
        # Another spelling of a name would hide that it is the name of a rewritten file.
        spool = re.escape(name.split("/")[1])
        pattern = re.compile(rf"date=[^/]+/namespace=[^/]+/{spool}-{_SEQS}\.parquet")
        for file in one.files:
            if not pattern.fullmatch(file.name):
                raise self._damaged(name, f"{file.name!r} is no name of a file of the spool")
        return one

    def _seqs(self, manifest: str) -> tuple[int, int]:
        """Return the first and the last seq in the name of a manifest."""
        match = re.fullmatch(rf"{MANIFEST}/[^/]+/{_SEQS}\.json", manifest)
        if match is None:
            raise self._damaged(manifest, "its name does not have the form FIRST-LAST.json")
        return int(match[1]), int(match[2])

    def _damaged(self, manifest: str, reason: str) -> QueryError:
        return QueryError(
            f"the manifest {manifest} of the lake {self.root} cannot be read: {reason}",
            hint="Restore the lake.",
        )

    def _receipts(self, files: Sequence[DataFile]) -> dict[int, int]:
        """Return the receipts in the files of the newest Spark task, by the seqs in their names."""
        newest = max(_last_seq(file) for file in files)
        receipts: dict[int, int] = {}
        for file in files:
            if _last_seq(file) == newest:
                receipts |= self._receipts_of(file)
        return receipts

    def _receipts_of(self, file: DataFile) -> dict[int, int]:
        try:
            table = pq.read_table(
                f"{self._path}/{file.name}",
                columns=["seq", "received"],
                filesystem=self._fs,
                partitioning=None,
            )
        except (pa.ArrowException, OSError) as error:
            raise QueryError(
                f"the file {file.name} of the lake {self.root} cannot be read: {error}",
                hint="Restore the lake.",
            ) from error
        received = table.column("received").cast("int64")
        return dict(zip(table.column("seq").to_pylist(), received.to_pylist(), strict=True))

    def _manifests(self, spool: str) -> list[str]:
        names = self._sizes(f"{MANIFEST}/{spool}")
        return sorted(name for name in names if name.endswith(".json"))

    def _sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes of the files below a folder, by name below the root."""
        below = f"{self._path}/{folder}" if folder else self._path
        selected = fs.FileSelector(below, recursive=True, allow_not_found=True)
        return {
            info.path[len(self._path) :].lstrip("/"): info.size
            for info in self._fs.get_file_info(selected)
            if info.type == fs.FileType.File
        }


def _names(ranges: list[ArchivedRange]) -> set[str]:
    """Return the names of all files of ranges."""
    files = chain.from_iterable(one.files for one in ranges)
    return {file.name for file in files}


def _missing_files(
    ranges: list[ArchivedRange], sizes: dict[str, int], first: int, last: int
) -> list[str]:
    """Return the files of the events first to last that do not have the size in their manifest."""
    found = (one for one in ranges if one.first <= last and one.last >= first)
    named = chain.from_iterable(one.files for one in found)
    return [file.name for file in named if sizes.get(file.name) != file.bytes]


def open_lake(root: str) -> Lake | None:
    """Open the lake at a path; return None for a glob, or a store that pyarrow cannot open."""
    try:
        return None if _GLOB.search(root) else Lake(root)
    except QueryError:
        return None


def _open_store(root: str) -> tuple[fs.FileSystem, str]:
    try:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(
            root.replace("s3a://", "s3://", 1)
        )
    except (pa.ArrowException, OSError) as error:
        raise QueryError(
            f"the lake {root} cannot be opened: {error}",
            hint="Name a folder, or an address that begins with s3://, gs://, abfs:// or hdfs://.",
        ) from error
    return found


def data_name(spool: str, date: str, namespace: str | None, first: int, last: int) -> str:
    """Return the name of the file of the events first to last, below the root."""
    folder = f"date={date}/namespace={_folder(namespace)}"
    return f"{folder}/{spool}-{first:0{_DIGITS}}-{last:0{_DIGITS}}.parquet"


def spool_of(name: str) -> str | None:
    """Return the spool of a file in a lake; None if the name is not of such a file."""
    match = _NAME.search(name)
    return match[1] if match else None


def _last_seq(file: DataFile) -> int:
    match = _NAME.search(file.name)
    return int(match[2]) if match else 0


def _folder(namespace: str | None) -> str:
    """Return a percent-encoded namespace as a folder name; a long one is cut, with a hash."""
    if not namespace:
        return _NONE
    name = quote(namespace, safe="")
    if name == _NONE:
        # Readers decode it to this namespace, and no file of rows without one has its place.
        return name.replace("_", "%5F", 1)
    if len(name) <= _FOLDER_CHARACTERS_MAX:
        return name
    digest = hashlib.sha256(namespace.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{_CUT_ESCAPE.sub('', name[:_FOLDER_CHARACTERS_MAX])}-{digest}"


def _remove_empty(path: Path, root: Path) -> None:
    """Remove the empty folders above a path and below the root."""
    with suppress(OSError):
        for folder in path.parents:
            if folder == root:
                return
            folder.rmdir()


def _put_synced(path: Path, data: bytes) -> None:
    new = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(new):
        folder.mkdir(mode=0o700, exist_ok=True)
    part = path.with_name(f".{path.name}{_PART}")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)
    for folder in (path.parent, *(folder.parent for folder in new)):
        sync(folder)
