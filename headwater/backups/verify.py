"""Verify a backup: the sizes and checksums of its files, and each event of its spool.

A restoration copies folders as a whole. So a file that is not in the manifest is a problem, and so
is a link. A path in the manifest that no backup has is a problem too: a restoration would write it.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from headwater.backups.backup import OnProgress
from headwater.backups.manifest import (
    NAME,
    SPOOL,
    Manifest,
    describe,
    is_backup_path,
    read_manifest,
    require_utf8,
)
from headwater.errors import HeadwaterError
from headwater.ingest.spool.copy import read_position
from headwater.ingest.spool.salvage import check

_RANGES_SHOWN_MAX = 5


def verify(folder: Path, on_progress: OnProgress = lambda *_: None) -> tuple[Manifest, list[str]]:
    """Return the manifest of a backup, and its problems in words.

    Raises BackupError if the folder is no backup, NewerVersionError if it is newer.
    """
    require_utf8(folder)
    manifest = read_manifest(folder)
    problems = _stray_files(folder, manifest)
    for number, file in enumerate(manifest.files, start=1):
        on_progress("files", number, len(manifest.files))
        path = folder / file.path
        if not is_backup_path(file.path):
            problems.append(f"{file.path[:100]!r} in the manifest is no path of a backup")
        elif path.is_symlink() or not path.is_file():
            problems.append(f"{file.path} is missing")
        elif (found := describe(folder, path)) != file:
            problems.append(
                f"{file.path} has changed: {found.bytes} bytes with SHA-256 {found.sha256}, "
                f"not {file.bytes} with {file.sha256}"
            )
    spool = folder / SPOOL
    if spool.is_file():
        problems += _spool_problems(spool, manifest, on_progress)
    return manifest, problems


def _stray_files(folder: Path, manifest: Manifest) -> list[str]:
    """Return files that are missing in the manifest or in it twice, and links, in words."""
    listed = Counter(file.path for file in manifest.files)
    problems = [] if SPOOL in listed else [f"the manifest has no {SPOOL}"]
    for inside, number in listed.items():
        if number > 1:
            problems.append(f"{inside[:100]} is in the manifest more than once")
    for here, folders, files in os.walk(folder):
        for name in sorted([*folders, *files]):
            path = Path(here) / name
            inside = path.relative_to(folder).as_posix()
            if path.is_symlink():
                problems.append(f"{inside} is a link")
            elif name in files and inside not in listed and inside != NAME:
                problems.append(f"{inside} is not in the manifest")
    return problems


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
