"""Forget a value: rewrite every store of a home without it, and leave a record.

Nothing may run in the home: the worker has what it folded in its memory, and Neo4j has old values
in its logs. The graph goes first, since it is built again from the rewritten events; a killed run
can then be repeated, because the events still have the value.
"""

from __future__ import annotations

import getpass
import shutil
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from headwater.access.log import AccessLog
from headwater.access.redaction import redact_entries
from headwater.access.secret_file import load_secret
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance.erase import erase
from headwater.forgetting.events import OnProgress, rewrite_lake, rewrite_spool
from headwater.forgetting.files import neo4j_data, other_files, rewrite_access, rewrite_file
from headwater.ingest.receive.forgotten import (
    Forgotten,
    ForgottenValue,
    hash_value,
    read_forgotten,
)
from headwater.ingest.spool.copy import read_position, refuse_used
from headwater.local.home import write_private
from headwater.settings import Settings

HOLDER = "forget"
ACTION = "forget"
BY = "the command line"


@dataclass(frozen=True)
class Request:
    """A value to forget.

    lakes: further lakes of this spool; without_lake: leave out the lake of cut events.
    later: search the events that arrive later for it too.
    """

    value: str
    lakes: tuple[str, ...] = ()
    without_lake: bool = False
    later: bool = True


def count(settings: Settings, request: Request, on_progress: OnProgress) -> Counter[str]:
    """Return the number of places with the value, by store; change nothing.

    Raises QueryError for a value that cannot be forgotten, and HomeInUseError.
    """
    return _rewrite(settings, request, on_progress, dry_run=True)


def forget(
    settings: Settings,
    request: Request,
    counts: Counter[str],
    database: Database | None,
    on_progress: OnProgress = lambda *_: None,
) -> ForgottenValue:
    """Erase the graph, rewrite every store, and return the record.

    `counts` are those of `count`; `database` is a graph outside of the home. Raises HomeInUseError,
    SpoolFullError and UnavailableError.
    """
    refuse_used(settings.spool_path)
    if holds_events(counts):
        on_progress("erasing the graph", 0, 0)
        for folder in neo4j_data(settings.home_path):
            shutil.rmtree(folder, ignore_errors=True)
        if database is not None:
            erase(database, holder=HOLDER, derived=True)
    hash, words = hash_value(_key(settings), request.value)
    record = ForgottenValue(
        hash=hash,
        words=words,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        by=_user(),
        later=request.later,
        counts=dict(counts),
    )
    # Before the stores: events that arrive after a kill must not bring the value back.
    _add_record(settings.forgotten_path, record)
    _rewrite(settings, request, on_progress, dry_run=False)
    with closing(AccessStore(settings.access_path)) as store:
        log = AccessLog(store)
        log.append(BY, ACTION, "done", hash=hash, user=record.by, counts=record.counts)
    return record


def holds_events(counts: Counter[str]) -> bool:
    """Return True if the value is in an event, so that the graph has it too."""
    return any("event" in name or name == "dead letters" for name in counts)


def _rewrite(
    settings: Settings, request: Request, on_progress: OnProgress, *, dry_run: bool
) -> Counter[str]:
    key = _key(settings)
    forgotten = Forgotten(key, [hash_value(key, request.value)])
    found: Counter[str] = Counter()
    position = read_position(settings.spool_path)
    lakes = set(request.lakes)
    if position.cut and not request.without_lake:
        lakes.add(position.lake)
    # The lake comes before the spool, by which a repeated run sees that there is work.
    for lake in sorted(lakes):
        found += rewrite_lake(lake, position.id, forgotten, on_progress, dry_run=dry_run)
    access = settings.access_path
    if access.is_file():
        with closing(AccessStore(access)) as store:
            entries = redact_entries(
                store,
                lambda text: forgotten.rewrite(text.encode()).decode(),
                by=BY,
                dry_run=dry_run,
            )
        found += Counter({"entries of the access log": entries})
        found += rewrite_access(access, forgotten, dry_run=dry_run)
    found += _rewrite_files(settings, lakes, forgotten, on_progress, dry_run)
    found += rewrite_spool(settings.spool_path, forgotten, on_progress, dry_run=dry_run)
    return found


def _rewrite_files(
    settings: Settings,
    lakes: set[str],
    forgotten: Forgotten,
    on_progress: OnProgress,
    dry_run: bool,
) -> Counter[str]:
    spool = settings.spool_path
    own = {spool.with_name(spool.name + suffix) for suffix in ("", "-wal", "-shm")}
    excluded = own | {settings.access_path, settings.forgotten_path} | {Path(one) for one in lakes}
    found: Counter[str] = Counter()
    for number, path in enumerate(other_files(settings.home_path, excluded), start=1):
        on_progress("files", number, 0)
        name = rewrite_file(path, forgotten, dry_run=dry_run)
        found[name] += 1
    del found[""]
    return +found


def _key(settings: Settings) -> bytes:
    return settings.redaction_key.encode() or load_secret(settings.redaction_key_path)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _add_record(path: Path, record: ForgottenValue) -> None:
    records = [one for one in read_forgotten(path) if one.hash != record.hash]
    data = msgspec.json.format(msgspec.json.encode([*records, record]), indent=1)
    write_private(path, data.decode())
