"""The references of code that producers sent, read in a process of its own and cached."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict

from headwater.bounded_process import OutOfBoundsError, call_bounded
from headwater.code_analysis.files import references_in_source
from headwater.code_analysis.model import References, unknown_references
from headwater.code_analysis.names import KnownColumns

# A short text may have references of many megabytes, so the results are counted, not the texts.
CACHED_BYTES_MAX = 32 * 2**20
_RESULT_BYTES_MAX = 2**20


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


def read_source(source: str, language: str, dialect: str, columns: KnownColumns) -> References:
    """Return the references of code in one of `SOURCE_LANGUAGES`; unknown if it takes too much."""
    key = hashlib.sha256(pickle.dumps((source, language, dialect, columns))).digest()
    found = _cache.get(key)
    if found is not None:
        references: References = pickle.loads(found)
        return references
    try:
        references = call_bounded(references_in_source, source, language, dialect, columns)
    except OutOfBoundsError as error:
        return unknown_references(f"it {error}")
    _cache.put(key, pickle.dumps(references))
    return references
