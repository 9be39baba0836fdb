"""Comparing the names of columns and tables that code writes with names in the graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from headwater.code_analysis.model import TableName
from headwater.code_analysis.suffix_index import SuffixIndex


def fold_case(name: str) -> str:
    """Return the form in which column names are compared.

    Most databases ignore case. A reference too many is a question; a missing one is a failure at
    night."""
    folded = name.strip().casefold()
    # A thousand references to one long name hold it once.
    return name if folded == name else folded


def name_parts(name: str) -> list[str]:
    """Return the case-folded parts of a name: the folders of a path, or the parts between dots."""
    path = name.split("://", 1)[-1]
    return [part for part in path.replace("/", ".").casefold().split(".") if part]


def may_be_table(written: TableName, name: str) -> bool:
    """Return True if a table as code writes it may be the dataset of this name.

    The shorter name must equal the end of the longer one, part by part: `orders` may be
    `shop.raw.orders`, `staging.orders` may not."""
    ours, theirs = name_parts(".".join(written)), name_parts(name)
    shorter = min(len(ours), len(theirs))
    return shorter > 0 and ours[-shorter:] == theirs[-shorter:]


@dataclass(frozen=True)
class KnownColumns:
    """A ColumnLookup of tables that are known; a name that may mean several has no columns.

    tables: for each the names that code may use, and its columns, which may be unknown.
    """

    tables: tuple[tuple[tuple[str, ...], tuple[str, ...] | None], ...]

    def __call__(self, written: TableName) -> list[str] | None:
        """Return the columns of a table as code writes its name, or None."""
        number = self._numbers.only(name_parts(".".join(written)))
        columns = None if number is None else self.tables[number][1]
        return list(columns) if columns else None

    @cached_property
    def _numbers(self) -> SuffixIndex[int]:
        """Return the numbers of the tables by their names."""
        numbers: SuffixIndex[int] = SuffixIndex()
        for number, (names, _) in enumerate(self.tables):
            for name in names:
                numbers.add(name_parts(name), number)
        return numbers
