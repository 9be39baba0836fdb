"""Paths of lakes on a local disk, which are recognised by their manifests, without pyarrow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from headwater.addresses import validate_store

MANIFEST = "_archived"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")  # RFC 3986, 3.1
_FILE = re.compile(r"^file:(?://(?:localhost(?=/))?)?", re.IGNORECASE)
_QUERY = re.compile(r"\?[A-Za-z_.]+=")
_OWNED = re.compile(
    rf"{MANIFEST}/([^/]+)/[^/]+|date=[^/]+/namespace=[^/]+/\.?([^/]+)-\d{{16}}-\d{{16}}\.parquet"
    r"(?:\.part)?"
)
_DATA_FILE = re.compile(r"\.?.+-\d{16}-\d{16}\.parquet(\.part)?")


def validate_address(root: str) -> None:
    """Raise QueryError for the address of a lake that may hold a secret; a path is none."""
    if _SCHEME.match(root):
        validate_store(root)


def validate_glob(path: str) -> None:
    """Raise QueryError for files whose address may hold a secret; `?` may be any character."""
    validate_address(path if _QUERY.search(path) else path.replace("?", "*"))


def local_folder(root: str) -> Path | None:
    """Return the folder of a lake on this machine; None for another store."""
    scheme = _SCHEME.match(root)
    if scheme and scheme[0].lower() != "file:":
        return None
    path = _FILE.sub("", root)
    return Path(os.path.abspath(os.path.expanduser(path)))


def archive_lock(spool: Path) -> Path:
    """Return the path of the lock of a spool's archiving; the same one for each link to it."""
    spool = spool.resolve()
    return spool.with_name(f"{spool.name}.archive")


def find_lakes(home: Path, folders: Iterable[tuple[Path, list[str], list[str]]]) -> Iterator[Path]:
    """Yield the lakes at a folder and below it, also those that a link there names.

    `folders` is a walk of the folder; the names of a lake's own folders are removed from it.
    """
    if _is_lake(home):
        yield home
    for here, names, _ in folders:
        yield from (here / name for name in sorted(names) if _is_lake(here / name))
        own = set(lake_folders(here)) if _is_lake(here) else set()
        names[:] = [name for name in names if here / name not in own]


def lake_folders(root: Path) -> list[Path]:
    """Return the folders in a lake that hold its manifests and its events."""
    return [path for path in (root / MANIFEST, *sorted(root.glob("date=*"))) if path.is_dir()]


def owner_of(name: str) -> str | None:
    """Return the spool of a file below a lake; None if its name is of no file of an archive."""
    match = _OWNED.fullmatch(name)
    return (match[1] or match[2]) if match else None


def empty_folders(root: Path) -> list[Path]:
    """Return the folders of a lake that have no file at any depth, the inner ones first."""
    found: dict[Path, None] = {}
    for top in lake_folders(root):
        for name, folders, files in os.walk(top, topdown=False):
            here = Path(name)
            if not files and all(here / folder in found for folder in folders):
                found[here] = None
    return list(found)


def _is_lake(folder: Path) -> bool:
    """Return True for a folder with manifests, or with files of an archive that has none yet."""
    if (folder / MANIFEST).is_dir():
        return True
    files = folder.glob("date=*/namespace=*/*")
    return any(_DATA_FILE.fullmatch(file.name) for file in files)
