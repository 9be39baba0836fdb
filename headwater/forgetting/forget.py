"""Forget a value: rewrite every store of a home without it, and leave a record.

Nothing may run in the home, whose locks the command holds: the worker has what it folded in its
memory, and Neo4j has old values in its logs. The graph is erased if the value stands anywhere:
findings and deliveries of alerts hold texts of policies, which are in no event. The graph goes
first, since it is built again from the rewritten events; a killed run can then be repeated, because
the events still have the value.
"""

from __future__ import annotations

import getpass
import shutil
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from headwater.access.log import AccessLog
from headwater.access.redaction import redact_entries
from headwater.access.secret_file import load_secret
from headwater.access.store import AccessStore
from headwater.client.address import UP_LOCK
from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance.erase import erase
from headwater.errors import QueryError
from headwater.forgetting.contents import UnsearchedError
from headwater.forgetting.events import OnProgress, rewrite_spool
from headwater.forgetting.files import (
    Stores,
    graph_files,
    links_of_graph,
    neo4j_data,
    other_files,
    rename_entries,
    rewrite_access,
    rewrite_file,
)
from headwater.forgetting.lakes import Lakes, lakes_of, rewrite_lakes
from headwater.forgetting.linked_walk import files_below, is_of_system
from headwater.ingest.receive.forgotten import (
    Forgotten,
    ForgottenValue,
    hash_value,
    read_forgotten,
)
from headwater.ingest.spool.copy import SpoolPosition, read_position, refuse_used
from headwater.ingest.spool.folder_lock import alone_in_folder
from headwater.local.home import write_private
from headwater.pipelines.lake_folders import archive_lock, owner_of
from headwater.settings import FILE_SETTINGS, Settings

HOLDER = "forget"
ACTION = "forget"
BY = "the command line"
# The name of the count of files that stay in a lake, and the reason why they are named.
_OTHER_SPOOL = (
    "files of other spools",
    "it is of another spool, and has the value: forget it there, with --lake",
)
_OUTER = ("files outside of the home", "it is outside of the home, and has the value")
_UNNAMED = ("unknown files of the lake", "no manifest names it, and it has the value: remove it")


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


@dataclass
class Search:
    """The result of a search for a value.

    counts: the number of places with the value, by store.
    problems: a reason for each path that was not searched, or not rewritten.
    """

    counts: Counter[str] = field(default_factory=Counter)
    problems: dict[Path, str] = field(default_factory=dict)

    def add_problem(self, path: Path, reason: str) -> None:
        """Add a path that was not searched, or not rewritten."""
        self.problems[path] = reason


def count(settings: Settings, request: Request, on_progress: OnProgress) -> Search:
    """Return the number of places with the value, by store; change nothing.

    Raises QueryError for a value that cannot be forgotten, and HomeInUseError.
    """
    search = _rewrite(settings, request, on_progress, dry_run=True)
    found = graph_files(settings.home_path, request.value, search.add_problem)
    search.counts += Counter({"files of the graph": found})
    return search


def forget(
    settings: Settings,
    request: Request,
    counts: Counter[str],
    database: Database | None,
    on_progress: OnProgress = lambda *_: None,
) -> tuple[ForgottenValue, Search]:
    """Erase the graph if the value stands anywhere, and rewrite every store.

    Return the record, and the search with the paths that were not rewritten. `counts` are those of
    `count`; `database` is a graph outside of the home. Raises HomeInUseError, SpoolFullError and
    UnavailableError.
    """
    with alone_in_folder(settings.spool_path):
        refuse_used(settings.spool_path)
        _lakes(settings, request)
        return _forget(settings, request, counts, database, on_progress)


def _forget(
    settings: Settings,
    request: Request,
    counts: Counter[str],
    database: Database | None,
    on_progress: OnProgress,
) -> tuple[ForgottenValue, Search]:
    # The removal of the data leaves what links in it name.
    links = links_of_graph(settings.home_path) if counts else []
    linked = {path: path.resolve() for path in links}
    if counts:
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
    search = _rewrite(settings, request, on_progress, dry_run=False)
    for folder in neo4j_data(settings.home_path) if counts else ():
        search.add_problem(folder, "the data of Neo4j cannot be removed")
    for link, target in linked.items():
        search.add_problem(target, f"the data of Neo4j had it by the link {link}: remove it")
    with closing(AccessStore(settings.access_path)) as store:
        log = AccessLog(store)
        log.append(BY, ACTION, "done", hash=hash, user=record.by, counts=record.counts)
    return record, search


def _rewrite(
    settings: Settings, request: Request, on_progress: OnProgress, *, dry_run: bool
) -> Search:
    lakes, position = _lakes(settings, request)
    key = _key(settings)
    forgotten = Forgotten(key, [hash_value(key, request.value)])
    search = Search()
    spool = settings.spool_path
    # The lake comes before the spool, by which a repeated run sees that there is work.
    search.counts += rewrite_lakes(
        spool, lakes, position, forgotten, on_progress, search.add_problem, dry_run=dry_run
    )
    for path, name in lakes.other_files(position.id, search.add_problem):
        is_other = owner_of(name) not in (None, position.id)
        _search_only(path, name, forgotten, search, *(_OTHER_SPOOL if is_other else _UNNAMED))
    access = settings.access_path
    if access.is_file():
        with closing(AccessStore(access)) as store:
            entries = redact_entries(
                store,
                lambda text: forgotten.rewrite(text.encode()).decode(),
                by=BY,
                dry_run=dry_run,
            )
        search.counts += Counter({"entries of the access log": entries})
        search.counts += rewrite_access(access, forgotten, dry_run=dry_run)
    stores = _stores(settings, lakes)
    _rewrite_files(settings.home_path, stores, forgotten, search, on_progress, dry_run=dry_run)
    _search_outer_files(settings, forgotten, search)
    search.counts += rewrite_spool(spool, forgotten, on_progress, dry_run=dry_run)
    return search


def _lakes(settings: Settings, request: Request) -> tuple[Lakes, SpoolPosition]:
    """Return the lakes and the position of the spool.

    Raises QueryError if a lake is not there, or if the removal of the graph would remove a store.
    """
    position = read_position(settings.spool_path)
    home = settings.home_path
    lakes = lakes_of(home, position, request.lakes, without_lake=request.without_lake)
    stores = _stores(settings, lakes)
    for folder in neo4j_data(home):
        if stores.are_below(folder):
            raise QueryError(
                f"the folder {folder} of Neo4j's data holds the spool or a lake too",
                hint="Move them out of it.",
            )
    return lakes, position


def _stores(settings: Settings, lakes: Lakes) -> Stores:
    """Return the files and folders that are not rewritten as other files of the home."""
    databases: list[Path] = []
    for named in (settings.spool_path, settings.access_path):
        for path in (named, named.resolve()):
            databases += [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]
    # A renamed or replaced lock would let a second process take it.
    locks = [settings.home_path / UP_LOCK, archive_lock(settings.spool_path)]
    return Stores([*databases, *locks, settings.forgotten_path, *lakes.folders()])


def _rewrite_files(
    home: Path,
    stores: Stores,
    forgotten: Forgotten,
    search: Search,
    on_progress: OnProgress,
    *,
    dry_run: bool,
) -> None:
    # The names come first, so that a problem has the new name of its file.
    renamed = rename_entries(home, stores, forgotten, search.add_problem, dry_run=dry_run)
    search.counts += Counter({"files renamed": renamed})
    real_home = home.resolve()
    for number, path in enumerate(other_files(home, stores, search.add_problem), start=1):
        on_progress("files", number, 0)
        is_inner = path.resolve().is_relative_to(real_home)
        if not is_inner and is_of_system(path):
            _search_only(path, path.name, forgotten, search, *_OUTER)
        else:
            _rewrite_one(path, forgotten, search, dry_run=dry_run, may_remove=is_inner)


def _rewrite_one(
    path: Path, forgotten: Forgotten, search: Search, *, dry_run: bool, may_remove: bool = True
) -> str:
    """Rewrite a file and count it; return the name of its count, or nothing."""
    try:
        name = rewrite_file(path, forgotten, dry_run=dry_run, may_remove=may_remove)
    except UnsearchedError as error:
        search.add_problem(path, error.message)
        return ""
    if name:
        search.counts[name] += 1
    return name


def _search_outer_files(settings: Settings, forgotten: Forgotten, search: Search) -> None:
    """Search the files outside of the home that settings name; they stay as they are."""
    home = settings.home_path.resolve()
    named = (settings.policies, *(getattr(settings, name) for name in FILE_SETTINGS))
    for path in (Path(one).expanduser().resolve() for one in named if one):
        if path.is_relative_to(home):
            continue
        files = sorted(files_below(path, search.add_problem)) if path.is_dir() else [path]
        for file in filter(Path.is_file, files):
            _search_only(file, file.name, forgotten, search, *_OUTER)


def _search_only(
    path: Path, name: str, forgotten: Forgotten, search: Search, store: str, reason: str
) -> None:
    """Search a file that stays as it is; if it or its name has the value, count it and name it."""
    found = Search()
    has_value = _rewrite_one(path, forgotten, found, dry_run=True)
    if has_value or forgotten.rewrite_text(name) is not name:
        found.add_problem(path, reason)
        search.counts[store] += 1
    search.problems.update(found.problems)


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
