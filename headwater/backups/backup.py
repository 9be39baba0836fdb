"""Write a backup while Headwater runs.

The spool is copied as it is at one instant, and that instant is the position of the backup. The
files are written into a folder beside the named one, which gets its name when all is synced. So a
killed backup leaves nothing that looks whole, and the next one removes what it left. A replaced
backup has another name for the moment between two renames. If the run is killed then, the next one
begins by giving the name back.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import msgspec

from headwater.backups.manifest import (
    NAME,
    SPOOL,
    BackupError,
    Manifest,
    replaced_path,
    require_utf8,
    write_manifest,
    write_synced,
)
from headwater.errors import NotFoundError
from headwater.file_sync import sync
from headwater.ingest.spool.copy import SpoolPosition, copy_database, copy_spool
from headwater.settings import FILE_SETTINGS, Settings, changed_settings

# Called with the name of a step, and how much of how much is done.
OnProgress = Callable[[str, int, int], object]


def back_up(
    settings: Settings,
    target: Path,
    *,
    overwrite: bool = False,
    without_lake: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> Manifest:
    """Write a backup of a home into a folder; return its manifest.

    Raises BackupError if the folder is in the way, or if the backup could not rebuild the graph;
    SpoolFullError and NewerVersionError if the spool cannot be read.
    """
    if not settings.spool_path.is_file():
        raise NotFoundError(f"there is no spool {settings.spool_path}", hint="Check --home.")
    require_utf8(target)
    if os.path.ismount(target):
        raise BackupError(
            f"{target} is a mount point, which cannot be renamed",
            hint=f"Name a folder in it, for example {target / 'headwater'}.",
        )
    with _partial_folder(target) as folder:
        _put_back(target)
        _check_target(target, overwrite)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        position = copy_spool(
            settings.spool_path,
            folder / SPOOL,
            lambda done, total: on_progress("events", done, total),
        )
        missing = _copy_lake(position, folder, without_lake, on_progress)
        _copy_secrets(settings, folder, missing)
        _copy_settings(settings, folder)
        on_progress("checksums", 0, 0)
        paths = [path for path in folder.rglob("*") if path.is_file()]
        for path in folder.rglob("*"):
            path.chmod(0o600 if path.is_file() else 0o700)
            sync(path)
        manifest = write_manifest(folder, position, at, missing, paths)
        _publish(folder, target)
    return manifest


def _put_back(target: Path) -> None:
    """Give a backup its name again that a killed run was about to replace."""
    old = replaced_path(target)
    if old.is_dir() and not target.exists():
        old.rename(target)
        sync(target.parent)


def _check_target(target: Path, overwrite: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise BackupError(f"{target} is a file", hint="Name a folder that does not exist yet.")
    if (target / NAME).is_file():
        if not overwrite:
            raise BackupError(
                f"{target} is a backup already",
                hint="Name another folder, for example with the date, or add --overwrite.",
            )
    elif any(target.iterdir()):
        raise BackupError(
            f"{target} is not empty, and is no backup",
            hint="Name a folder that does not exist yet.",
        )


@contextmanager
def _partial_folder(target: Path) -> Iterator[Path]:
    """Create an empty folder beside the target; remove it unless it was published.

    Raises BackupError if another process writes there.
    """
    folder = target.with_name(f".{target.name}.partial")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupError(
                f"another process writes the backup {target}", hint="Wait until it has ended."
            ) from error
        _empty(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def _empty(folder: Path) -> None:
    """Remove what a killed backup has left."""
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _publish(folder: Path, target: Path) -> None:
    """Give the complete folder its name. A replaced backup is removed after that moment."""
    sync(folder)
    old = replaced_path(target)
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    folder.rename(target)
    sync(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def _copy_lake(
    position: SpoolPosition, folder: Path, without_lake: bool, on_progress: OnProgress
) -> list[str]:
    """Copy the events that were cut from the spool; return what the backup lacks.

    Raises BackupError if they cannot be copied and `without_lake` is False.
    """
    if not position.cut:
        return []
    what = f"events 1 to {position.cut}, which are in the lake {position.lake} only"
    if without_lake:
        return [what]
    hint = "Back up the lake by other means, and add --without-lake."
    if find_spec("pyarrow") is None:
        raise BackupError(f"{what}, cannot be read", hint="pip install 'headwater[pipelines]'")
    from headwater.pipelines.lake import Lake
    from headwater.pipelines.lake_folders import local_folder

    root = local_folder(position.lake)
    if root is None:
        raise BackupError(f"{what}, are in another store", hint=hint)
    lake = Lake(position.lake)
    # The spool has what was archived since. The lake may hold other events in its place, if the
    # spool was restored.
    ranges = [one for one in lake.ranges(position.id) if one.first <= position.cut]
    missing = lake.missing_files(position.id, 1, position.cut)
    if lake.archived(position.id) < position.cut or missing:
        raise BackupError(f"{what}, are not all there", hint="Restore the lake, or " + hint)
    copy = Lake(str(folder / "lake"))
    total, done = sum(len(one.files) for one in ranges), 0
    for one in ranges:
        for file in one.files:
            path = folder / "lake" / file.name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copyfile(root / file.name, path)
            done += 1
            on_progress("lake", done, total)
        copy.add(position.id, one)
    return []


def _copy_secrets(settings: Settings, folder: Path, missing: list[str]) -> None:
    if settings.access_path.is_file():
        copy_database(settings.access_path, folder / "access.db")
    for path in sorted(settings.spool_path.parent.glob("*.key")):
        write_synced(folder / path.name, path.read_bytes())
    if settings.redaction_key:
        missing.append("the key of redaction, which is in HEADWATER_REDACTION_KEY only")


def _copy_settings(settings: Settings, folder: Path) -> None:
    """Write the settings, and copy the policies and the files that settings name."""
    data = msgspec.json.format(msgspec.json.encode(changed_settings(settings)), indent=1)
    write_synced(folder / "settings.json", data)
    if settings.forgotten_path.is_file():
        write_synced(folder / settings.forgotten_path.name, settings.forgotten_path.read_bytes())
    policies = Path(settings.policies).expanduser() if settings.policies else None
    policies = policies or settings.home_path / "policies"
    if policies.is_dir():
        shutil.copytree(policies, folder / "policies")
    for name in FILE_SETTINGS:
        path = Path(getattr(settings, name)).expanduser() if getattr(settings, name) else None
        if path is not None and path.is_file():
            (folder / "files").mkdir(mode=0o700, exist_ok=True)
            write_synced(folder / "files" / f"{name}{path.suffix}", path.read_bytes())
