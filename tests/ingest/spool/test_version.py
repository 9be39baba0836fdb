"""Spools of a newer version, and spools whose version is damaged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from headwater.errors import NewerVersionError, SpoolFullError
from headwater.ingest.spool.copy import copy_spool, is_in_use, read_position
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.salvage import check, salvage
from headwater.ingest.spool.spool import Spool
from headwater.ingest.spool.version import VERSION, VERSION_MAX
from tests.ingest.spool.test_damage import EVENTS, change, path  # noqa: F401

READERS: dict[str, Callable[[Path], object]] = {
    "spool": Spool,
    "reader": lambda file: SpoolReader(file).count(),
    "position": read_position,
    "copy": lambda file: copy_spool(file, file.with_name("copy.db"), lambda *_: None),
    "use": is_in_use,
}


@pytest.mark.parametrize("version", [VERSION + 1, VERSION_MAX])
@pytest.mark.parametrize(
    "open_spool",
    [*READERS.values(), check, salvage],
    ids=[*READERS, "check", "salvage"],
)
def test_a_newer_spool_is_refused_and_stays_as_it_is(
    path: Path,  # noqa: F811
    open_spool: Callable[[Path], object],
    version: int,
) -> None:
    change(path, "CREATE TABLE later(seq INTEGER PRIMARY KEY)")
    change(path, "UPDATE event SET checksum = 7 WHERE seq IN (2, 3)")
    change(path, f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(NewerVersionError, match=rf"\(version {version}, this one reads up to"):
        open_spool(path)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.damaged-*"))
    assert not list(path.parent.glob("*.new*"))


@pytest.mark.parametrize("version", [VERSION_MAX + 1, -1])
def test_a_damaged_version_is_salvaged(path: Path, version: int) -> None:  # noqa: F811
    change(path, f"PRAGMA user_version = {version}")
    for open_spool in READERS.values():
        with pytest.raises(SpoolFullError, match=f"its header has the version {version}") as caught:
            open_spool(path)
        assert caught.value.hint == "Run `headwater spool salvage`."
    report = check(path)
    assert (report.is_whole, report.intact) == (False, EVENTS)
    assert report.problems == [
        f"its header has the version {version}, and there is none above {VERSION_MAX}"
    ]
    salvage(path)
    after = check(path)
    assert (after.version, after.intact, after.is_whole) == (VERSION, EVENTS, True)
    with closing(Spool(path)) as spool:
        assert spool.last() == EVENTS
