"""The manifest of a backup: what is in it, with sizes and SHA-256, and at which position.

A backup is a folder, readable by its owner only:

    manifest.json      written last; a folder without it is no backup
    spool.db           the events up to one position, the dead letters, and the spool's identity
    access.db          API keys and the access log
    *.key              the secrets beside the spool: of redaction, of sessions, of tiles
    forgotten.json     the keyed hashes of forgotten values
    settings.json      the settings that differ from the defaults, without secrets
    policies/ files/   the policies, and the files that settings name
    lake/              the events that were cut from the spool, if it was cut

The graph is not in it: it is built again from the events.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from pathlib import Path

import msgspec

from headwater import __version__
from headwater.cypher.migrate import migrations
from headwater.errors import HeadwaterError, NewerVersionError
from headwater.ingest.spool.copy import SpoolPosition
from headwater.schema.events import is_utf8

NAME, SPOOL = "manifest.json", "spool.db"
# The version of the layout above. A program refuses a higher one.
FORMAT = 1
_CHUNK_BYTES = 2**20
_NAME_MAX = 255
_PATH = re.compile(
    r"(?:spool\.db|access\.db|settings\.json|forgotten\.json|[^/]+\.key|(?:policies|files|lake)/.+)",
    re.DOTALL,
)


class BackupError(HeadwaterError):
    """A backup that is damaged, incomplete or in the way."""


class BackupFile(msgspec.Struct, frozen=True, order=True):
    """A file of a backup: its path below the folder, its size in bytes, and its SHA-256."""

    path: str
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """The content of a backup.

    at: the time of the backup in ISO 8601.
    migration: the newest migration of the graph that this version of Headwater has.
    graph: how the graph is had again, in words.
    missing: what the backup lacks, in words; empty if everything can be restored.
    """

    format: int
    headwater: str
    migration: str
    at: str
    host: str
    spool: SpoolPosition
    graph: str
    files: list[BackupFile]
    missing: list[str] = []


def write_manifest(
    folder: Path, spool: SpoolPosition, at: str, missing: list[str], paths: list[Path]
) -> Manifest:
    """Write the manifest of the files in a folder, synced, and return it."""
    manifest = Manifest(
        format=FORMAT,
        headwater=__version__,
        migration=migrations()[-1].name.removeprefix("migrations/"),
        at=at,
        host=platform.node(),
        spool=spool,
        graph="rebuilt from the events, by `headwater rebuild`",
        files=sorted(describe(folder, path) for path in paths),
        missing=missing,
    )
    data = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    write_synced(folder / NAME, data)
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup.

    Raises BackupError if the folder is no backup, NewerVersionError if a newer version wrote it.
    """
    try:
        data = (folder / NAME).read_bytes()
        format = msgspec.json.decode(data, type=_Format).format
    except FileNotFoundError as error:
        if not folder.exists() and (replaced := replaced_path(folder)).is_dir():
            raise BackupError(
                f"there is no {folder}, because a backup that was about to replace it was killed",
                hint=f"Rename {replaced} to {folder}, or repeat the backup.",
            ) from error
        raise BackupError(
            f"{folder} is no backup: it has no {NAME}",
            hint="A backup that was interrupted has none. Name another folder.",
        ) from error
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise BackupError(f"the manifest {folder / NAME} cannot be read: {error}") from error
    if format > FORMAT:
        raise NewerVersionError(
            f"a newer Headwater wrote the backup {folder} (format {format}, this one reads up to "
            f"{FORMAT})",
            hint="Restore it with that version, or a newer one.",
        )
    if format < 1:
        raise BackupError(f"the backup {folder} has the unknown format {format}")
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.ValidationError, UnicodeDecodeError) as error:
        raise BackupError(f"the manifest {folder / NAME} is malformed: {error}") from error
    newest = migrations()[-1].name.removeprefix("migrations/")
    if manifest.migration[:4] > newest[:4]:
        raise NewerVersionError(
            f"Headwater {manifest.headwater} wrote the backup {folder}, with the migration "
            f"{manifest.migration}; the newest of this version is {newest}",
            hint="Restore it with that version, or a newer one.",
        )
    return manifest


def require_utf8(folder: Path) -> None:
    """Raise BackupError if SQLite cannot open a file in a folder of this name."""
    if not is_utf8(str(folder)):
        raise BackupError(
            f"the name of the folder {str(folder)!r} is not UTF-8", hint="Name another folder."
        )


def replaced_path(folder: Path) -> Path:
    """Return the path of a backup while another one takes its name."""
    return folder.with_name(f".{folder.name}.old")


def is_backup_path(path: str) -> bool:
    """Return True if a backup may have a file with this path below its folder."""
    parts = path.split("/")
    return (
        "\0" not in path
        and all(0 < len(part) <= _NAME_MAX for part in parts)
        and not {".", ".."}.intersection(parts)
        and _PATH.fullmatch(path) is not None
    )


def describe(folder: Path, path: Path) -> BackupFile:
    """Return size and SHA-256 of a file below a folder."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return BackupFile(path.relative_to(folder).as_posix(), size, digest.hexdigest())


def write_synced(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, and sync it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


class _Format(msgspec.Struct):
    """The part of a manifest that every version writes."""

    format: int
