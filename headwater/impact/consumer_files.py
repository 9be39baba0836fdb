"""The files that are the code of jobs and datasets. Consumers with the same files share the result.

Many files may have the same end of their path, or make the same table, and many jobs may name it.
So the files of a consumer are merged when its code is first needed, and once for all consumers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

from headwater.code_analysis.files import NO_TIME, CodeFile
from headwater.code_analysis.model import References, merge_references, unknown_references
from headwater.code_analysis.names import name_parts
from headwater.code_analysis.suffix_index import SuffixIndex
from headwater.impact.model import Consumer

# The files and all that they refer to, summed over everything that is merged in an assessment.
MERGED_MAX = 4_000_000
_TOO_MANY = "too many files have its path or make its outputs"


class ConsumerFiles:
    """The files by their paths and by the tables that they make.

    deadline: a reading of time.monotonic(); files that are needed later are unknown."""

    def __init__(self, codes: Sequence[CodeFile], deadline: float) -> None:
        self._codes = codes
        self._deadline = deadline
        self._merged_count = 0
        # The numbers of the files.
        self._makers: SuffixIndex[int] = SuffixIndex()
        self._paths: SuffixIndex[int] = SuffixIndex()
        for number, code in enumerate(codes):
            self._paths.add(_path_parts(code.path), number)
            for make in code.makes:
                self._makers.add(name_parts(".".join(make)), number)
        self._found: dict[frozenset[int], FileGroup] = {}

    def find(self, path: str, tables: Iterable[str]) -> FileGroup | None:
        """Return the files with a path, or that make one of the tables; None without any."""
        matching = self._paths.matching(_path_parts(path))
        for table in tables:
            matching += self._makers.matching(name_parts(table))
        if not matching:
            return None
        key = frozenset(id(numbers) for numbers in matching)
        if key not in self._found:
            self._found[key] = FileGroup(self, matching)
        return self._found[key]

    def first(self, matching: Iterable[Mapping[int, int]]) -> CodeFile:
        """Return the first of the files with these numbers."""
        return self._codes[min(next(iter(numbers.values())) for numbers in matching)]

    def merge(self, matching: Iterable[Mapping[int, int]]) -> References:
        """Return the references of the files with these numbers; unknown beyond a bound."""
        if time.monotonic() > self._deadline:
            return unknown_references(NO_TIME)
        numbers = set(chain.from_iterable(numbers.values() for numbers in matching))
        pieces = [self._codes[number].references for number in sorted(numbers)]
        if len(pieces) == 1:
            return pieces[0]
        count = self._merged_count + sum(map(_size, pieces))
        if count > MERGED_MAX:
            return unknown_references(_TOO_MANY)
        self._merged_count = count
        return merge_references(pieces)


class FileGroup:
    """Files that together are the code of consumers."""

    def __init__(self, files: ConsumerFiles, matching: Sequence[Mapping[int, int]]) -> None:
        self._files = files
        self._matching = matching
        self._path = files.first(matching).path

    def as_code_of(self, consumer: Consumer) -> Consumer:
        """Return a consumer with these files as its code; its path is that of the first."""
        return replace(consumer, load_code=lambda: self._references, path=self._path)

    @cached_property
    def _references(self) -> References:
        return self._files.merge(self._matching)


def _size(references: References) -> int:
    parts = (
        references.read,
        references.written,
        references.flows,
        references.inserts,
        references.tables,
        references.words,
    )
    return 1 + sum(map(len, parts))


def _path_parts(path: str) -> list[str]:
    """Return the folders and the file of a path; two paths with equal ends may be the same."""
    return [part for part in path.replace("\\", "/").strip("/").split("/") if part]
