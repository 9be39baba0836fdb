"""Keeps the map in memory in step with Neo4j, which stays the only truth.

It is loaded from Neo4j in the background, a page at a time, and from then on followed: every committed transaction
makes a revision of the graph, and whatever it changed on the map bears that revision (`lineageRevision`), so two short
statements tell what to read again. Until it is loaded, while the graph is erased, and whenever it could not be told
for a second to be in step, questions go to Neo4j as if there were no memory.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from sys import intern

from headwater.cypher.driver.database import READ_SECONDS_MAX, Database, Row
from headwater.errors import HeadwaterError
from headwater.lineage.cache.lineage_cache import (
    DatasetPart,
    JobPart,
    LineageCache,
    OtherName,
    Output,
    Part,
)
from headwater.lineage.node_names import NodeName, node_names_of

POLL_SECONDS = 0.2
# A map that was not known to be in step for so long is not asked.
STALE_SECONDS_MAX = 1.0
_POLL_SECONDS_MAX = 1.0
# One that is late is waited for so long: where it is, Neo4j is busy, and would take longer for a walk.
_LATE_SECONDS_MAX = 1.0
# Neo4j shows a commit piece by piece: its revision may be found before all that bears it. After so long all of it is
# shown, under whatever load; and, where nobody can wait for so long, most probably after so little.
_SETTLED_SECONDS = 1.0
_WHOLE_SECONDS = 0.03
_URNS_PER_QUERY = 1_000
# Of the columns of so many datasets each page is read soon, also where Neo4j is busy: until it is, the map is not known
# to be in step.
_WITH_COLUMNS_PER_QUERY = 200

log = logging.getLogger("headwater.map")


class CacheRefresher:
    """One process's map in memory. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._memory: LineageCache | None = None
        self._revision = 0
        self._graph = ""
        # When it was asked last what is new, and everything that was new was read: by time.monotonic().
        self._in_step = float("-inf")
        self._turn = threading.Lock()
        # Whether somebody follows, and the last step did not fail; who waits for the next is told of it.
        self._is_followed = False
        self._stepped = threading.Condition()
        # When each revision was found: the first of them is settled.
        self._found: deque[tuple[float, int]] = deque()
        # The datasets whose columns have not been read yet.
        self._without: list[str] = []

    @property
    def revision(self) -> int:
        """Of the graph, up to which every change is in memory; 0 before it is loaded."""
        return self._revision

    @property
    def staleness(self) -> float:
        """For how many seconds it has not been known to be in step; infinite before it is loaded."""
        return time.monotonic() - self._in_step if self._memory is not None else float("inf")

    @property
    def unread(self) -> int:
        """Of how many datasets the columns are not in memory yet."""
        return len(self._without)

    def current(self) -> LineageCache | None:
        """The map, as it was at most a second ago; None while that cannot be told."""
        memory = self._memory
        return memory if self.staleness <= STALE_SECONDS_MAX else None

    def awaited(self) -> LineageCache | None:
        """The map, as it was at most a second ago, waited for where it is late; None where that is of no use."""
        with self._stepped:
            late = self._memory is not None and self._is_followed
            if late and self.current() is None:
                self._stepped.wait_for(
                    lambda: self.current() or not self._is_followed, _LATE_SECONDS_MAX
                )
        return self.current()

    def catch_up(self) -> bool:
        """Have it hold all that was committed before this was called. Whether it does; where it is not loaded yet it
        is not waited for."""
        if self._memory is None or not self._turn.acquire(timeout=_POLL_SECONDS_MAX):
            return False
        try:
            before = self._revision
            self._step()
            if self._revision != before:
                time.sleep(_WHOLE_SECONDS)
                self._step()
        except HeadwaterError:
            return False
        finally:
            self._turn.release()
        return self.current() is not None

    def run(self, ended: threading.Event) -> None:
        """Load and follow until told to end."""
        failed = False
        while not ended.is_set():
            try:
                with self._turn:
                    self._step()
                failed = False
            except HeadwaterError as error:
                if not failed:
                    log.warning(
                        "the map in memory cannot be followed, Neo4j is asked instead: %s",
                        error.message,
                    )
                failed = True
            with self._stepped:
                self._is_followed = not failed
                self._stepped.notify_all()
            # What took long to read is out of step already.
            if failed or self._memory is None or (self.current() is not None and not self._without):
                ended.wait(POLL_SECONDS)
        self._is_followed = False

    def load(self) -> None:
        """Read the whole map afresh. Raises UnavailableError or QueryError."""
        with self._turn:
            self._memory = None
            self._step()
            while self._without and self._memory is not None:
                self._step()

    def _step(self) -> None:
        began = time.monotonic()
        # A server that has just started takes its time to plan; once there is a map, later is too late.
        seconds = READ_SECONDS_MAX if self._memory is None else _POLL_SECONDS_MAX
        rows = self._database.read("read/cache/revision", seconds=seconds)
        now: Row = rows[0] if rows else {"revision": 0, "graph": "", "erasing": False}
        if now["erasing"] or now["graph"] != self._graph or now["revision"] < self._revision:
            self._memory = None
        if now["erasing"]:
            return
        if self._memory is None:
            memory = LineageCache()
            for page in self._all():
                self._put(memory, page, columns=False)
            self._memory = memory
            self._without = [
                urn for urn, part in memory.parts.items() if isinstance(part, DatasetPart)
            ]
            self._found = deque([(began, now["revision"] - 1), (began, now["revision"])])
        elif now["revision"] > self._revision or len(self._found) > 1:
            if now["revision"] > self._revision:
                self._found.append((began, now["revision"]))
            self._read_again(self._memory, self._changed())
        self._revision, self._graph, self._in_step = now["revision"], now["graph"], began
        self._read_columns(self._memory)

    def _all(self) -> Iterator[list[str]]:
        after = ""
        while page := [
            row["urn"]
            for row in self._database.read("read/cache/urns", after=after, limit=_URNS_PER_QUERY)
        ]:
            yield page
            after = page[-1]

    def _changed(self) -> list[str]:
        """What changed after the newest revision that is settled."""
        settled = time.monotonic() - _SETTLED_SECONDS
        while len(self._found) > 1 and self._found[1][0] <= settled:
            self._found.popleft()
        return sorted(
            {
                row["urn"]
                for row in self._database.read("read/cache/changed_nodes", after=self._found[0][1])
            }
        )

    def _read_columns(self, memory: LineageCache) -> None:
        """A page of columns, so that in between it can be seen what is new."""
        if not memory.has_columns:
            self._put(memory, self._without[:_WITH_COLUMNS_PER_QUERY])
            del self._without[:_WITH_COLUMNS_PER_QUERY]
            memory.has_columns = not self._without
            if memory.has_columns:
                # Hundreds of thousands of tuples that stay: whatever looks for garbage need not look through them.
                gc.freeze()

    def _read_again(self, memory: LineageCache, urns: list[str]) -> None:
        """Put what Neo4j has at these urns, and at the jobs that make them: what an output comes from is written at the
        output, and is part of the job."""
        makers: set[str] = set()
        for start in range(0, len(urns), _URNS_PER_QUERY):
            makers |= self._put(memory, urns[start : start + _URNS_PER_QUERY])
        wanted = sorted(makers.difference(urns))
        for start in range(0, len(wanted), _URNS_PER_QUERY):
            self._put(memory, wanted[start : start + _URNS_PER_QUERY])

    def _put(self, memory: LineageCache, urns: list[str], *, columns: bool = True) -> set[str]:
        """Put what Neo4j has at these urns; returns the jobs that make those of them that are datasets."""
        parts: dict[str, Part | None] = dict.fromkeys(map(intern, urns))
        jobs = [urn for urn in urns if urn.startswith("job:")]
        datasets = [urn for urn in urns if not urn.startswith("job:")]
        makers: set[str] = set()
        for row in self._database.read("read/cache/jobs", urns=jobs) if jobs else ():
            parts[intern(row["urn"])] = _job_part(row)
        for row in (
            self._database.read("read/cache/datasets", urns=datasets, columns=columns)
            if datasets
            else ()
        ):
            parts[intern(row["urn"])] = _dataset_part(row)
            makers.update(row["makers"])
        others = [urn for urn in datasets if parts[urn] is None]
        for row in (
            self._database.read("read/nodes/canonical_datasets", urns=others) if others else ()
        ):
            parts[intern(row["urn"])] = OtherName(intern(row["canonical"]))
        memory.put(parts)
        return makers


def _job_part(row: Row) -> JobPart:
    outputs = (
        Output(intern(place), _in_order(derived), told) for place, told, derived in row["outputs"]
    )
    return JobPart(
        _name(row), _in_order(row["inputs"]), tuple(sorted(outputs)), _in_order(row["feeds"])
    )


def _dataset_part(row: Row) -> DatasetPart:
    columns = ((intern(column), _in_order(targets)) for column, targets in row["columns"])
    return DatasetPart(_name(row), _in_order(row["feeds"]), tuple(sorted(columns)))


def _in_order(urns: list[str]) -> tuple[str, ...]:
    """Every urn is one string wherever it stands, which saves room."""
    return tuple(sorted(map(intern, urns)))


def _name(row: Row) -> NodeName:
    (name,) = node_names_of([intern(row["urn"])], {row["urn"]: row})
    return name
