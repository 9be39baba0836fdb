"""Verify a backup: the sizes and checksums of its files, and each event of its spool."""

from __future__ import annotations

from pathlib import Path

from headwater.backups.backup import OnProgress
from headwater.backups.manifest import Manifest, describe, read_manifest
from headwater.errors import HeadwaterError
from headwater.ingest.spool.copy import read_position
from headwater.ingest.spool.salvage import check

_RANGES_SHOWN_MAX = 5


def verify(folder: Path, on_progress: OnProgress = lambda *_: None) -> tuple[Manifest, list[str]]:
    """Return the manifest of a backup, and its problems in words.

    Raises BackupError if the folder is no backup, NewerVersionError if it is newer.
    """
    manifest = read_manifest(folder)
    problems = []
    for number, file in enumerate(manifest.files, start=1):
        on_progress("files", number, len(manifest.files))
        path = folder / file.path
        if not path.is_file():
            problems.append(f"{file.path} is missing")
        elif (found := describe(folder, path)) != file:
            problems.append(
                f"{file.path} has changed: {found.bytes} bytes with SHA-256 {found.sha256}, "
                f"not {file.bytes} with {file.sha256}"
            )
    spool = folder / "spool.db"
    if spool.is_file():
        problems += _spool_problems(spool, manifest, on_progress)
    return manifest, problems


def _spool_problems(path: Path, manifest: Manifest, on_progress: OnProgress) -> list[str]:
    try:
        report = check(path, lambda done, total: on_progress("events", done, total))
        position = read_position(path)
    except HeadwaterError as error:
        return [error.message]
    problems = list(report.problems)
    for first, last in report.damaged[:_RANGES_SHOWN_MAX]:
        problems.append(f"the spool's events {first} to {last} are damaged")
    if position != manifest.spool:
        problems.append(
            f"spool.db ends at event {position.position} of the spool {position.id}; the manifest "
            f"has event {manifest.spool.position} of {manifest.spool.id}"
        )
    return problems
