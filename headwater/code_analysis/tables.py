"""What a file says of the tables it makes: the words that reading and comparing share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# What makes a relation: a dbt model, a seed, a statement that defines it, one that fills it, or code.
MODEL, SEED, TABLE, VIEW, FILLED, CODE, SOURCE = (
    "model",
    "seed",
    "table",
    "view",
    "filled",
    "code",
    "source",
)


class UnreadableError(Exception):
    """A file whose meaning cannot be made out; the message says why."""


@dataclass(frozen=True)
class Column:
    """A column: what it is made from, where that is known; its type, where that is declared or cast.

    `cast` is what is cast and to which type, when the whole expression is a cast.
    """

    name: str
    expression: str | None = None
    type: str | None = None
    nullable: bool = True
    cast: tuple[str, str] | None = None
    line: int = 1


@dataclass(frozen=True)
class TableDefinition:
    """A table, view or model as one file makes it. `columns` by their names in small letters, in order.

    `open` when there may be more columns than that (a star that nothing here resolves). `rest` is everything else that
    decides what is in it: sources, joins, conditions.
    """

    name: str
    made_by: str
    columns: Mapping[str, Column] = field(default_factory=dict)
    open: bool = False
    rest: str = ""
    file: str = ""
    line: int = 1
    # Told by a statement that replaces what is there, so that what was there before is what the graph knows.
    replaces: bool = False
    # Whether its columns are promised (a dbt contract) and not only described.
    promised: bool = True
    # Columns that are taken away where not all are known, each with what it is called since, if it was renamed.
    gone: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class TableChange:
    """One change to a relation, as the API takes it but for the urn, and where it stands.

    `columns`: beside the change, all columns that the relation has from now on; what was there before is looked up.
    `is_new`: the same branch creates it, so that nobody need know it yet.
    """

    relation: str
    made_by: str
    change: Mapping[str, Any]
    file: str
    line: int = 1
    columns: tuple[str, ...] = ()
    is_new: bool = False


@dataclass
class FileContents:
    """What one file says: the relations it makes, and what it changes of others (ALTER and DROP)."""

    relations: dict[str, TableDefinition] = field(default_factory=dict)
    deltas: list[TableChange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
