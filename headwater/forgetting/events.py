"""Rewrite the events of a spool and of its lake without a value."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import msgspec

from headwater.errors import EventError, QueryError, SpoolFullError
from headwater.forgetting.contents import UnsearchedError
from headwater.forgetting.files import rewrite_file
from headwater.forgetting.linked_walk import OnProblem, reason_of
from headwater.ingest.receive.forgotten import Forgotten
from headwater.ingest.spool.copy import SpoolPosition
from headwater.ingest.spool.reader import StoredEvent
from headwater.pipelines.lake_folders import empty_folders
from headwater.schema.events import parse
from headwater.write_transaction import write_transaction

_PART = re.compile(r"-(\d{16})-(\d{16})\.parquet(?:\.part)?$")
_BUSY_MS = 10_000
_UNNAMED = "it has the value; no manifest names it, and the spool lacks some of its events"

# Called with the name of a step, and how much of how much is done.
OnProgress = Callable[[str, int, int], object]


def rewrite_spool(
    path: Path, forgotten: Forgotten, on_progress: OnProgress, *, dry_run: bool
) -> Counter[str]:
    """Rewrite events and the reasons of dead letters in one transaction; return their numbers.

    Sequence numbers, receipts and the identity stay, and each changed event gets a new checksum.
    The old bytes are overwritten in the file. Raises SpoolFullError if the file cannot be read or
    written, and QueryError if an event would no longer be one.
    """
    found: Counter[str] = Counter()
    try:
        with closing(apsw.Connection(str(path))) as connection:
            connection.set_busy_timeout(_BUSY_MS)
            connection.pragma("secure_delete", True)
            with write_transaction(connection):
                events = list(_changed_events(connection, forgotten, on_progress))
                reasons = list(_changed_reasons(connection, forgotten))
                found.update({"events": len(events), "dead letters": len(reasons)})
                if not dry_run:
                    connection.executemany(
                        "UPDATE event SET body = ?, checksum = ? WHERE seq = ?", events
                    )
                    connection.executemany("UPDATE dead SET reason = ? WHERE seq = ?", reasons)
            if not dry_run:
                on_progress("compacting", 0, 0)
                connection.execute("VACUUM")
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error as error:
        raise SpoolFullError(
            f"the spool {path} cannot be rewritten: {error}",
            hint="Run `headwater spool check`.",
        ) from error
    return +found


def _changed_events(
    connection: apsw.Connection, forgotten: Forgotten, on_progress: OnProgress
) -> Iterator[tuple[bytes, int, int]]:
    """Yield the new body, its checksum and the seq of each event that has the value."""
    total = int(connection.execute("SELECT count(*) FROM event").get)
    rows = connection.execute("SELECT seq, received, body FROM event ORDER BY seq")
    for number, (seq, received, body) in enumerate(rows, start=1):
        on_progress("events", number, total)
        new = rewrite_event(forgotten, seq, received, bytes(body))
        if new is not None:
            yield new, zlib.crc32(new), seq


def _changed_reasons(
    connection: apsw.Connection, forgotten: Forgotten
) -> Iterator[tuple[str, int]]:
    for seq, reason in connection.execute("SELECT seq, reason FROM dead"):
        new = forgotten.rewrite_text(reason)
        if new is not reason:
            yield new, seq


def rewrite_event(forgotten: Forgotten, seq: int, received: int, body: bytes) -> bytes | None:
    """Return the event without the value, or None if it has none.

    Raises QueryError if it would no longer be an event: for example if the value is its time.
    """
    new = forgotten.rewrite(body)
    if new is body:
        return None
    if _is_event(body, received) and not _is_event(new, received):
        raise QueryError(
            f"event {seq} would no longer be an event without this value",
            hint="The value is a time or a type in it. Name a longer value.",
        )
    return new


def _is_event(body: bytes, received: int) -> bool:
    try:
        parse(body, received=received)
    except EventError:
        return False
    return True


class _RewrittenEvents:
    """The events of a part of a lake without the value, read as from a spool."""

    def __init__(self, rows: list[StoredEvent]) -> None:
        self._rows = rows

    def events(self, first: int, last: int) -> Iterator[StoredEvent]:
        return (row for row in self._rows if first <= row.seq <= last)


def rewrite_lake(
    root: Path,
    position: SpoolPosition,
    forgotten: Forgotten,
    on_progress: OnProgress,
    on_problem: OnProblem,
    *,
    dry_run: bool,
) -> Counter[str]:
    """Rewrite the files of a lake that have a value in an event; return the numbers of both.

    Files that cannot be read stay, and `on_problem` is called with each of their paths.
    A killed rewriting can be repeated: the manifest names the new files before the old ones go, and
    the next run begins with the removal of leftovers. The caller must hold the lock of archiving.
    """
    from headwater.pipelines.lake import Lake

    lake, spool = Lake(str(root)), position.id
    found = _remove_leftovers(lake, position, forgotten, on_problem, dry_run=dry_run)
    ranges = lake.ranges(spool)
    for number, one in enumerate(ranges, start=1):
        on_progress("lake", number, len(ranges))
        parts: dict[tuple[int, int], list[Any]] = {}
        for file in one.files:
            match = _PART.search(file.name)
            bounds = (int(match[1]), int(match[2])) if match else (one.first, one.last)
            parts.setdefault(bounds, []).append(file)
        kept, removed = [], []
        for bounds, files in sorted(parts.items()):
            rows = _read_part(lake, files, on_problem)
            new = files
            if rows is not None:
                new = _rewrite_part(
                    lake, spool, bounds, files, rows, forgotten, found, dry_run=dry_run
                )
            kept += new
            names = {file.name for file in new}
            removed += [file.name for file in files if file.name not in names]
        if sorted(kept) != sorted(one.files) and not dry_run:
            lake.add(spool, msgspec.structs.replace(one, files=sorted(kept)))
            for name in removed:
                _remove(lake, name, on_problem)
    _remove_empty_folders(root, forgotten, on_problem, found, dry_run=dry_run)
    return +found


def _remove_leftovers(
    lake: Any,
    position: SpoolPosition,
    forgotten: Forgotten,
    on_problem: OnProblem,
    *,
    dry_run: bool,
) -> Counter[str]:
    """Remove the files that a killed writer has left; return the number of those with the value.

    A file stays if neither the archived ranges nor the spool have its events. If it has the value,
    it is named.
    """
    found: Counter[str] = Counter()
    archived = lake.archived(position.id)
    for name in lake.leftovers(position.id):
        path = Path(lake.root) / name
        match = _PART.search(name)
        first, last = (int(match[1]), int(match[2])) if match else (0, 0)
        is_in_spool = max(first, archived + 1) > position.cut and last <= position.position
        if last > archived and not is_in_spool:
            if _has_value(path, name, forgotten, on_problem):
                on_problem(path, _UNNAMED)
            continue
        found["unfinished files of the lake"] += _has_value(path, name, forgotten)
        if not dry_run:
            _remove(lake, name, on_problem)
    return +found


def _remove(lake: Any, name: str, on_problem: OnProblem) -> None:
    try:
        lake.remove(name)
    except OSError as error:
        on_problem(Path(lake.root) / name, f"it cannot be removed: {reason_of(error)}")


def _has_value(
    path: Path, name: str, forgotten: Forgotten, on_problem: OnProblem = lambda *_: None
) -> bool:
    if forgotten.rewrite_text(name) is not name:
        return True
    try:
        return bool(rewrite_file(path, forgotten, dry_run=True))
    except UnsearchedError as error:
        on_problem(path, error.message)
        return False


def _remove_empty_folders(
    root: Path,
    forgotten: Forgotten,
    on_problem: OnProblem,
    found: Counter[str],
    *,
    dry_run: bool,
) -> None:
    """Remove the empty folders that a killed writer has left; count those with the value."""
    for path in empty_folders(root):
        has_value = forgotten.rewrite_text(path.name) is not path.name
        found["empty folders of the lake"] += has_value
        if dry_run:
            continue
        try:
            path.rmdir()
        except OSError as error:
            if has_value:
                on_problem(path, f"it cannot be removed: {reason_of(error)}")


def _read_part(lake: Any, files: list[Any], on_problem: OnProblem) -> list[StoredEvent] | None:
    """Return the events of a part in order; None if they cannot all be read.

    A killed rewriting may have left an event in two files: its old one and its new one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: dict[int, StoredEvent] = {}
    is_read = True
    for file in files:
        path = Path(lake.root) / file.name
        columns = ["seq", "received", "checksum", "body"]
        try:
            table = pq.read_table(path, columns=columns, partitioning=None)
            received = table.column("received").cast("int64").to_pylist()
        except (pa.ArrowException, OSError) as error:
            on_problem(path, f"the Parquet file cannot be read: {error}")
            is_read = False
            continue
        for row, at in zip(table.to_pylist(), received, strict=True):
            rows[row["seq"]] = StoredEvent(row["seq"], at, row["checksum"], row["body"])
    if is_read and len(rows) != sum(file.events for file in files):
        on_problem(Path(lake.root) / files[0].name, "it has other events than its manifest says")
        return None
    return sorted(rows.values(), key=lambda row: row.seq) if is_read else None


def _rewrite_part(
    lake: Any,
    spool: str,
    bounds: tuple[int, int],
    files: list[Any],
    old: list[StoredEvent],
    forgotten: Forgotten,
    found: Counter[str],
    *,
    dry_run: bool,
) -> list[Any]:
    """Write the files of a part again if an event in it has the value; return its files."""
    from headwater.pipelines.archive import write_part

    rows: list[StoredEvent] = []
    changed = 0
    for row in old:
        new = rewrite_event(forgotten, row.seq, row.received, row.body)
        changed += new is not None
        checksum = row.checksum if new is None else zlib.crc32(new)
        rows.append(StoredEvent(row.seq, row.received, checksum, new or row.body))
    sizes = [(Path(lake.root) / file.name).stat().st_size for file in files]
    # A killed rewriting may have replaced a file before its manifest.
    if not changed and sizes == [file.bytes for file in files]:
        return files
    if changed:
        found.update({"events of the lake": changed, "files of the lake": len(files)})
    if dry_run:
        return files
    return write_part(_RewrittenEvents(rows), lake, spool, *bounds)
