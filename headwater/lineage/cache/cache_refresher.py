"""Keeps the lineage cache up to date with Neo4j, which stays the only authority.

The cache is loaded from Neo4j in the background, a page at a time. Every committed transaction has
a revision, and each node of the lineage graph that it changed bears that revision. So two short
statements find the entries to read again. Neo4j answers questions until the cache is loaded, while
the graph is being erased, and whenever the cache was last confirmed over a second ago.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from sys import intern

from headwater.backoff import Backoff
from headwater.chunks import chunks
from headwater.cypher.driver.database import READ_SECONDS_MAX, Database, Row
from headwater.errors import HeadwaterError, UnavailableError
from headwater.lineage.cache.lineage_cache import (
    CachedAlias,
    CachedDataset,
    CachedJob,
    CachedOutput,
    CacheEntry,
    LineageCache,
)
from headwater.lineage.node_names import NodeName, node_name

POLL_SECONDS = 0.2
# A cache that was last confirmed as up to date longer ago than this is not used.
STALE_SECONDS_MAX = 1.0
_POLL_SECONDS_MAX = 1.0
# A Neo4j that starts or is overloaded must not be asked five times a second.
_BACKOFF = Backoff(first_seconds=POLL_SECONDS, max_seconds=2.0)
# A question waits this long for a late cache: Neo4j is busy then, and a traversal there would take
# longer.
_LATE_SECONDS_MAX = 1.0
# Neo4j shows a commit piece by piece: its revision may be visible before all nodes that bear it.
# After this long all of them are visible, under any load.
_COMMIT_VISIBLE_SECONDS_MAX = 1.0
# All of a commit is visible after this long in most cases; for callers that cannot wait longer.
_COMMIT_VISIBLE_SECONDS = 0.03
_URNS_PER_QUERY = 1_000
# Reading the columns of this many datasets is quick, even while Neo4j is busy. The cache is not
# confirmed as up to date meanwhile.
_DATASETS_WITH_COLUMNS_PER_QUERY = 200

log = logging.getLogger("headwater.lineage.cache")


class CacheRefresher:
    """The lineage cache of one process, and the thread that refreshes it. Safe to share between
    threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache: LineageCache | None = None
        self._revision = 0
        self._graph = ""
        # The start of the last step after which the cache had all changes: a reading of
        # time.monotonic().
        self._up_to_date_at = float("-inf")
        self._refresh_lock = threading.Lock()
        # True while `run` runs and its last step succeeded; `_step_ended` wakes those who wait for
        # the next one.
        self._is_running = False
        self._step_ended = threading.Condition()
        # When each revision was found; the cache has all nodes of the first one.
        self._observed_revisions: deque[tuple[float, int]] = deque()
        self._datasets_without_columns: list[str] = []

    @property
    def revision(self) -> int:
        """Return the revision up to which the cache has every change; 0 before it is loaded."""
        return self._revision

    @property
    def staleness_seconds(self) -> float:
        """Return the seconds since the cache was last up to date; infinite before it is loaded."""
        return time.monotonic() - self._up_to_date_at if self._cache is not None else float("inf")

    @property
    def pending_datasets(self) -> int:
        """Return the number of datasets whose columns are not loaded yet."""
        return len(self._datasets_without_columns)

    def current(self) -> LineageCache | None:
        """Return the cache if it was up to date within the last second, else None."""
        cache = self._cache
        return cache if self.staleness_seconds <= STALE_SECONDS_MAX else None

    def wait_for_current(self) -> LineageCache | None:
        """Return the cache as `current` does; wait for a late one if the refresher is running."""
        with self._step_ended:
            is_late = self._cache is not None and self._is_running
            if is_late and self.current() is None:
                self._step_ended.wait_for(
                    lambda: self.current() or not self._is_running, _LATE_SECONDS_MAX
                )
        return self.current()

    def catch_up(self) -> bool:
        """Refresh the cache and return True if it has everything committed before this call.

        Returns False at once if the cache is not loaded yet.
        """
        if self._cache is None or not self._refresh_lock.acquire(timeout=_POLL_SECONDS_MAX):
            return False
        try:
            before = self._revision
            self._refresh()
            if self._revision != before:
                time.sleep(_COMMIT_VISIBLE_SECONDS)
                self._refresh()
        except HeadwaterError:
            return False
        finally:
            self._refresh_lock.release()
        return self.current() is not None

    def run(self, stop: threading.Event) -> None:
        """Load and refresh the cache until `stop` is set."""
        failures = 0
        while not stop.is_set():
            try:
                with self._refresh_lock:
                    self._refresh()
                failures = 0
            except HeadwaterError as error:
                if not failures:
                    log.warning("lineage_cache_refresh_failed error=%s", error.message)
                failures += 1
            with self._step_ended:
                self._is_running = not failures
                self._step_ended.notify_all()
            # A step that took long leaves the cache out of date: the next one follows at once.
            is_current = self.current() is not None
            is_idle = self._cache is None or (is_current and not self._datasets_without_columns)
            if failures or is_idle:
                stop.wait(_BACKOFF.pause_seconds(failures))
        self._is_running = False

    def load(self) -> None:
        """Load the whole cache again. Raises UnavailableError or QueryError."""
        with self._refresh_lock:
            self._cache = None
            self._refresh()
            while self._datasets_without_columns and self._cache is not None:
                self._refresh()

    def _refresh(self) -> None:
        try:
            self._read_changes()
        except TypeError as error:
            # Neo4j shows a node that is deleted while it reads it, but without properties.
            raise UnavailableError("a node was deleted while it was read") from error

    def _read_changes(self) -> None:
        began = time.monotonic()
        # A server that has just started needs time to plan; a loaded cache has no use for a late
        # answer.
        timeout = READ_SECONDS_MAX if self._cache is None else _POLL_SECONDS_MAX
        rows = self._database.read("read/cache/revision", seconds=timeout)
        now: Row = rows[0] if rows else {"revision": 0, "graph": "", "erasing": False}
        if now["erasing"] or now["graph"] != self._graph or now["revision"] < self._revision:
            self._cache = None
        if now["erasing"]:
            return
        if self._cache is None:
            self._cache = self._load_without_columns()
            self._observed_revisions = deque(
                [(began, now["revision"] - 1), (began, now["revision"])]
            )
        elif now["revision"] > self._revision or len(self._observed_revisions) > 1:
            if now["revision"] > self._revision:
                self._observed_revisions.append((began, now["revision"]))
            self._reload_entries(self._cache, self._changed_urns())
            self._drop_visible_revisions(began)
        self._revision, self._graph = now["revision"], now["graph"]
        self._up_to_date_at = began
        self._load_some_columns(self._cache)

    def _load_without_columns(self) -> LineageCache:
        cache = LineageCache()
        for page in self._pages_of_urns():
            self._read_entries(cache, page, with_columns=False)
        self._datasets_without_columns = [
            urn for urn, entry in cache.entries.items() if isinstance(entry, CachedDataset)
        ]
        return cache

    def _pages_of_urns(self) -> Iterator[list[str]]:
        after = ""
        while True:
            rows = self._database.read("read/cache/urns", after=after, limit=_URNS_PER_QUERY)
            if not rows:
                return
            yield [row["urn"] for row in rows]
            after = rows[-1]["urn"]

    def _changed_urns(self) -> list[str]:
        """Return the urns of nodes that changed after the newest revision that was read whole."""
        rows = self._database.read("read/cache/changed_nodes", after=self._observed_revisions[0][1])
        return sorted({row["urn"] for row in rows})

    def _drop_visible_revisions(self, read_at: float) -> None:
        """Drop the revisions whose nodes were all visible when the changes were read.

        A read that failed drops none, so the next one has its changes too.
        """
        visible_by = read_at - _COMMIT_VISIBLE_SECONDS_MAX
        while len(self._observed_revisions) > 1 and self._observed_revisions[1][0] <= visible_by:
            self._observed_revisions.popleft()

    def _load_some_columns(self, cache: LineageCache) -> None:
        """Load the columns of a page of datasets. Between two pages the refresher looks for
        changes."""
        if cache.has_columns:
            return
        waiting = self._datasets_without_columns
        self._read_entries(cache, waiting[:_DATASETS_WITH_COLUMNS_PER_QUERY])
        del waiting[:_DATASETS_WITH_COLUMNS_PER_QUERY]
        cache.has_columns = not waiting
        if cache.has_columns:
            # The cache keeps hundreds of thousands of tuples; the garbage collector need not visit
            # them.
            gc.freeze()

    def _reload_entries(self, cache: LineageCache, urns: list[str]) -> None:
        """Read these entries again, and the jobs that write them.

        Neo4j stores the sources of an output at the output; the cache keeps them in the entry of
        the job.
        """
        producers: set[str] = set()
        for some in chunks(urns, _URNS_PER_QUERY):
            producers |= self._read_entries(cache, some)
        for some in chunks(sorted(producers.difference(urns)), _URNS_PER_QUERY):
            self._read_entries(cache, some)

    def _read_entries(
        self, cache: LineageCache, urns: list[str], *, with_columns: bool = True
    ) -> set[str]:
        """Replace these entries by those of Neo4j; return the jobs that write the datasets among
        them."""
        entries: dict[str, CacheEntry | None] = dict.fromkeys(map(intern, urns))
        jobs = [urn for urn in urns if urn.startswith("job:")]
        datasets = [urn for urn in urns if not urn.startswith("job:")]
        producers: set[str] = set()
        if jobs:
            for row in self._database.read("read/cache/jobs", urns=jobs):
                entries[intern(row["urn"])] = _job_entry(row)
        if datasets:
            rows = self._database.read("read/cache/datasets", urns=datasets, columns=with_columns)
            for row in rows:
                entries[intern(row["urn"])] = _dataset_entry(row)
                producers.update(row["makers"])
        others = [urn for urn in datasets if entries[urn] is None]
        if others:
            for row in self._database.read("read/nodes/canonical_datasets", urns=others):
                entries[intern(row["urn"])] = CachedAlias(intern(row["canonical"]))
        cache.replace_entries(entries)
        return producers


def _job_entry(row: Row) -> CachedJob:
    outputs = [
        CachedOutput(intern(dataset), _interned(sources), is_explicit)
        for dataset, is_explicit, sources in row["outputs"]
    ]
    inputs, feeds = _interned(row["inputs"]), _interned(row["feeds"])
    return CachedJob(_name(row), inputs, tuple(sorted(outputs)), feeds)


def _dataset_entry(row: Row) -> CachedDataset:
    columns = [(intern(column), _interned(targets)) for column, targets in row["columns"]]
    return CachedDataset(_name(row), _interned(row["feeds"]), tuple(sorted(columns)))


def _interned(urns: list[str]) -> tuple[str, ...]:
    """Return the urns in order; an urn is one string object throughout the cache, which saves
    memory."""
    return tuple(sorted(map(intern, urns)))


def _name(row: Row) -> NodeName:
    return node_name(intern(row["urn"]), row)
