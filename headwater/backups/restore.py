"""Restore a backup into a home in which nothing runs; the command holds its locks.

The files are written beside their places and synced, and then renamed; the spool comes last. So a
killed restoration can be repeated with `replace`. The replaced files are kept in a folder. No file
is written over: one in the place of a restored file is refused, or moved there too.

The folder of the spool and the home may be on two file systems. A rename stays on one, so each has
its own folders of new and of replaced files.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import msgspec

from headwater.backups.backup import OnProgress
from headwater.backups.manifest import SPOOL, BackupError, Manifest
from headwater.backups.verify import verify
from headwater.errors import NewerVersionError, SpoolFullError
from headwater.file_sync import sync, sync_path_to
from headwater.ingest.spool.copy import allow_events, name_lake, refuse_used
from headwater.ingest.spool.folder_lock import alone_in_folder
from headwater.settings import Settings

_FOLDERS = ("policies", "lake")
# The folder of the files until they are all written.
_PARTIAL = ".restore"
_PROBLEMS_SHOWN_MAX = 3


class Restoration(msgspec.Struct, frozen=True):
    """A restored home: the manifest of its backup, and the folders of the replaced files.

    There is one for the folder of the spool and one for the home, if files were replaced there.
    """

    manifest: Manifest
    replaced: tuple[Path, ...]


def restore(
    settings: Settings,
    source: Path,
    *,
    replace: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> Restoration:
    """Verify a backup and write it into a home.

    Raises BackupError if the backup is damaged or the home is not empty, HomeInUseError if a
    process uses the home, NewerVersionError if a newer version wrote the backup.
    """
    manifest, problems = verify(source, on_progress)
    if problems:
        shown = "; ".join(problems[:_PROBLEMS_SHOWN_MAX])
        raise BackupError(f"the backup {source} is damaged: {shown}", hint="Use another backup.")
    places = settings.spool_path.parent
    places.mkdir(mode=0o700, parents=True, exist_ok=True)
    with alone_in_folder(settings.spool_path):
        return _restore(settings, source, manifest, replace=replace)


def _restore(settings: Settings, source: Path, manifest: Manifest, *, replace: bool) -> Restoration:
    """Write a verified backup into a home that no other process uses."""
    try:
        refuse_used(settings.spool_path)
    except (SpoolFullError, NewerVersionError):
        # A backup replaces a damaged or a newer spool, which is kept with the other files.
        if not replace:
            raise
    old = _replaced_files(manifest, settings)
    if old and not replace:
        raise BackupError(
            f"{old[0].parent} holds {old[0].name} already",
            hint="Name an empty folder with --home, or keep its files in a folder with --replace.",
        )
    mounted = next((path for path in old if os.path.ismount(path)), None)
    if mounted is not None:
        raise BackupError(
            f"{mounted} is a mount point, which cannot be replaced", hint="Unmount it first."
        )
    folders = {settings.spool_path.parent, settings.home_path}
    settings.home_path.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = _write_beside(source, manifest, settings)
    replaced = _move(old)
    # The spool is last: a home that has it has everything.
    for temporary, place in sorted(new, key=lambda pair: pair[1] == settings.spool_path):
        temporary.rename(place)
    # The folders may be new, too.
    for folder in {*folders, *replaced}:
        sync(folder)
        sync_path_to(folder)
    for folder in folders:
        shutil.rmtree(folder / _PARTIAL, ignore_errors=True)
    return Restoration(manifest, replaced)


def _replaced_files(manifest: Manifest, settings: Settings) -> list[Path]:
    """Return the state of a home, and every other file in the place of a restored one."""
    spool = settings.spool_path
    places = [_place(file.path, settings) for file in manifest.files if _is_restored(file.path)]
    found = [
        path
        for pattern in (f"{spool.name}*", "access.db*", "*.key", settings.forgotten_path.name)
        for path in sorted(spool.parent.glob(pattern))
    ]
    # The spool of a backup without a lake may need the one that is there.
    has_lake = any(file.path.startswith("lake/") for file in manifest.files)
    folders = [settings.home_path / name for name in _FOLDERS if name != "lake" or has_lake]
    # A broken link is in the way too.
    in_the_way = [path for path in [*places, *folders] if os.path.lexists(path)]
    return list(dict.fromkeys([*found, *in_the_way]))


def _is_restored(path: str) -> bool:
    """Return True if a file of a backup is restored by itself, not with its folder."""
    return "/" not in path and path != "settings.json"


def _place(path: str, settings: Settings) -> Path:
    """Return the place of a restored file."""
    spool = settings.spool_path
    return spool if path == SPOOL else spool.with_name(path)


def _write_beside(source: Path, manifest: Manifest, settings: Settings) -> list[tuple[Path, Path]]:
    """Write the files under temporary names and sync them; return each with its place."""
    beside_spool, in_home = settings.spool_path.parent / _PARTIAL, settings.home_path / _PARTIAL
    for temporary in {beside_spool, in_home}:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(mode=0o700)
    found = []
    for file in manifest.files:
        if not _is_restored(file.path):
            continue
        path = beside_spool / file.path
        path.touch(mode=0o600)
        shutil.copyfile(source / file.path, path)
        found.append((path, _place(file.path, settings)))
    allow_events(beside_spool / SPOOL)
    for name in _FOLDERS:
        if (source / name).is_dir():
            shutil.copytree(source / name, in_home / name)
            found.append((in_home / name, settings.home_path / name))
    if (source / "lake").is_dir():
        name_lake(beside_spool / SPOOL, str((settings.home_path / "lake").absolute()))
    for temporary in {beside_spool, in_home}:
        for path in temporary.rglob("*"):
            sync(path)
    return found


def _move(paths: list[Path]) -> tuple[Path, ...]:
    """Move files into a folder beside each of their places, and return these folders."""
    name = f"replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    # The folder of the spool may be the home by another name.
    targets = {path: path.parent.resolve() / name for path in paths}
    folders = tuple(dict.fromkeys(targets.values()))
    for folder in folders:
        folder.mkdir(mode=0o700)
    for path, folder in targets.items():
        path.rename(folder / path.name)
    return folders
