"""The references of code that producers sent, read in a process of its own and cached.

An assessment has a bounded time for such code, and less of it for the code of hidden jobs: those
who cannot see a job need not wait for its code. Code for which no time is left is unknown, like
code that takes too much time or memory. Only the latter is remembered.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from headwater.bounded_process import OutOfBoundsError, OutOfTimeError, call_bounded
from headwater.code_analysis.files import reason_unread, references_in_source
from headwater.code_analysis.model import References, merge_references, unknown_references
from headwater.code_analysis.names import KnownColumns
from headwater.ingest.fold.canonical_facets import is_cut

# Code, and its language: one of `SOURCE_LANGUAGES`.
Source = tuple[str, str]

# A short text may have references of many megabytes, so the results are counted, not the texts.
CACHED_BYTES_MAX = 32 * 2**20
_RESULT_BYTES_MAX = 2**20
# For the code of one job. It is far less than an assessment has, so that slow code is remembered.
CPU_SECONDS_MAX = 4
# For all code of one assessment that is not cached, and for the part of hidden jobs.
SECONDS_MAX = 10.0
HIDDEN_SECONDS_MAX = 3.0
# The references in one assessment, pickled: they take about six times as much memory.
BYTES_MAX = 64 * 2**20
HIDDEN_BYTES_MAX = 16 * 2**20
_TOO_LARGE = "the code of all jobs together has too many references"


class ResultCache:
    """Packed results by the digest of their question. The one that was used longest ago goes."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._results: OrderedDict[bytes, bytes] = OrderedDict()
        self._bytes = 0
        self._turn = threading.Lock()

    def get(self, key: bytes) -> bytes | None:
        """Return a result, or None."""
        with self._turn:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def put(self, key: bytes, result: bytes) -> None:
        """Keep a result, unless it is a large one."""
        if len(result) > _RESULT_BYTES_MAX:
            return
        with self._turn:
            self._bytes += len(result) - len(self._results.pop(key, b""))
            self._results[key] = result
            while self._bytes > self._bytes_max:
                self._bytes -= len(self._results.popitem(last=False)[1])


# A gate assesses many changes with the same jobs downstream.
_cache = ResultCache(CACHED_BYTES_MAX)


@dataclass
class _Budget:
    """The time and the memory that are left."""

    seconds: float
    bytes: int


class SourceReader:
    """Reads the code that producers sent, for one assessment. Jobs with the same code share it.

    deadline: a reading of time.monotonic()."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._visible = _Budget(SECONDS_MAX, BYTES_MAX)
        self._hidden = _Budget(HIDDEN_SECONDS_MAX, HIDDEN_BYTES_MAX)
        self._found: dict[tuple[bool, bytes], References] = {}

    def read(
        self, sources: Sequence[Source], dialect: str, columns: KnownColumns, *, is_hidden: bool
    ) -> References:
        """Return the references of all code of a job; the code beyond a bound is unknown."""
        known = pickle.dumps((dialect, columns.tables))
        key = (is_hidden, _digest(sources, known))
        if key not in self._found:
            budget = self._hidden if is_hidden else self._visible
            pieces = [self._piece(source, dialect, columns, known, budget) for source in sources]
            self._found[key] = pieces[0] if len(pieces) == 1 else merge_references(pieces)
        return self._found[key]

    def _piece(
        self, source: Source, dialect: str, columns: KnownColumns, known: bytes, budget: _Budget
    ) -> References:
        """Return the references of one piece of code."""
        if is_cut(source[0]):
            return unknown_references("only the beginning of its code is stored")
        key = _digest([source], known)
        packed = _cache.get(key)
        if packed is None:
            try:
                packed = self._read_packed(source, dialect, columns, budget)
            except OutOfTimeError as error:
                return unknown_references(reason_unread(error))
            _cache.put(key, packed)
        unpacked = zlib.decompress(packed)
        if len(unpacked) > budget.bytes:
            return unknown_references(_TOO_LARGE)
        budget.bytes -= len(unpacked)
        references: References = pickle.loads(unpacked)
        return references

    def _read_packed(
        self, source: Source, dialect: str, columns: KnownColumns, budget: _Budget
    ) -> bytes:
        """Return packed references; unknown ones if the code takes too much time or memory.

        Raises OutOfTimeError if the time that is left is not enough."""
        start = time.monotonic()
        seconds = min(budget.seconds, self._deadline - start)
        try:
            return call_bounded(
                _packed_references,
                *(*source, dialect, columns),
                seconds=seconds,
                cpu_seconds=CPU_SECONDS_MAX,
            )
        except OutOfTimeError:
            raise
        except OutOfBoundsError as error:
            return _packed(unknown_references(reason_unread(error)))
        finally:
            budget.seconds -= time.monotonic() - start


def _digest(sources: Sequence[Source], known: bytes) -> bytes:
    return hashlib.sha256(pickle.dumps((list(sources), known))).digest()


def _packed_references(text: str, language: str, dialect: str, columns: KnownColumns) -> bytes:
    return _packed(references_in_source(text, language, dialect, columns))


def _packed(references: References) -> bytes:
    # They repeat names and lines: a tenth remains.
    return zlib.compress(pickle.dumps(references), level=1)
