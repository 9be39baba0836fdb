"""What a piece of source code refers to: columns of tables, line by line, and what of it cannot be told.

Names of columns are folded, since most databases do not mind capitals and a reference too many is a question, one too
few a failure at night. Names of tables are as they are written, outermost part first. `ALL` stands for every column,
as in SELECT *, whatever their names. What cannot be read is in `unknown`, in words: then a column that is not among the
references may be referred to all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

ALL = "*"
LINE_CHARACTERS_MAX = 200
# More than people write; a source with more is unknown.
REFERENCES_MAX = 50_000

TableName = tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """One column of one table, at a line. Not `sure`: it may as well be a column of another table. `indirect`: rows are
    filtered, joined, grouped or sorted by it. `by_position`: with others, as many and in the order they have."""

    table: TableName
    column: str
    line: int
    text: str
    sure: bool = True
    indirect: bool = False
    by_position: bool = False


@dataclass(frozen=True)
class ColumnFlow:
    """What a column written comes from. `target` is () where the code does not say into what it is written; a `column`
    ALL comes from a `source_column` ALL: all pass under the names they have, but for `without`."""

    target: TableName
    column: str
    source: TableName
    source_column: str
    sure: bool = True
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Insert:
    """Rows put into a table that is there already; `columns` are () where it names none."""

    table: TableName
    columns: tuple[str, ...]
    line: int
    text: str


@dataclass(frozen=True)
class References:
    """All that one source says. `words` are those in which a column's name may hide, where the code is not SQL."""

    read: tuple[Reference, ...] = ()
    written: tuple[Reference, ...] = ()
    flows: tuple[ColumnFlow, ...] = ()
    inserts: tuple[Insert, ...] = ()
    tables: frozenset[TableName] = frozenset()
    targets: frozenset[TableName] = frozenset()
    unknown: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


@dataclass
class ReferenceCollector:
    """References as they are gathered."""

    read: dict[Reference, None] = field(default_factory=dict)
    written: dict[Reference, None] = field(default_factory=dict)
    flows: dict[ColumnFlow, None] = field(default_factory=dict)
    inserts: list[Insert] = field(default_factory=list)
    tables: set[TableName] = field(default_factory=set)
    targets: set[TableName] = field(default_factory=set)
    unknown: dict[str, None] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)

    def done(self) -> References:
        return References(
            tuple(self.read),
            tuple(self.written),
            tuple(self.flows),
            tuple(self.inserts),
            frozenset(self.tables),
            frozenset(self.targets),
            tuple(self.unknown),
            frozenset(self.words),
        )

    def take(self, other: References) -> None:
        """Everything of another piece of the same source."""
        self.read.update(dict.fromkeys(other.read))
        self.written.update(dict.fromkeys(other.written))
        self.flows.update(dict.fromkeys(other.flows))
        self.inserts.extend(insert for insert in other.inserts if insert not in self.inserts)
        self.tables |= other.tables
        self.targets |= other.targets
        self.unknown.update(dict.fromkeys(other.unknown))
        self.words |= other.words


def together(pieces: Iterable[References]) -> References:
    """The references of a source from those of its pieces."""
    found = ReferenceCollector()
    for piece in pieces:
        found.take(piece)
    return found.done()


def nothing_known(reason: str) -> References:
    return References(unknown=(reason,))


def fold_case(name: str) -> str:
    """The form in which names of columns are compared."""
    return name.strip().casefold()


def line_of(lines: list[str], number: int) -> str:
    """A line as evidence shows it."""
    return lines[number - 1].strip()[:LINE_CHARACTERS_MAX] if 0 < number <= len(lines) else ""


def same_table(written: TableName, name: str) -> bool:
    """Whether a table as code writes it may be the dataset of this name: the shorter of the two is the end of the
    other, part for part. `orders` is `shop.raw.orders`; `staging.orders` is not."""
    ours, theirs = name_parts(".".join(written)), name_parts(name)
    shorter = min(len(ours), len(theirs))
    return shorter > 0 and ours[-shorter:] == theirs[-shorter:]


def name_parts(name: str) -> list[str]:
    """The parts of a name, folded: of a path its folders, of a table what the dots part."""
    path = name.split("://", 1)[-1]
    return [part for part in path.replace("/", ".").casefold().split(".") if part]
