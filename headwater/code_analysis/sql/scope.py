"""The blocks of a statement of SQL, and what a name in one of them stands for.

A block is a SELECT, or the statement itself where it changes a table. Its sources are tables, or queries of which the
outputs are known; a name without the name of a source belongs to the source whose columns are known to have it, or to
the only one there is, or else to any of those whose columns are not known, and then it is not sure.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from headwater.code_analysis.model import ALL, TableName, fold_case

Leaf = tuple[TableName, str]


@dataclass(frozen=True)
class Output:
    """A column that a query puts out; with ALL as its name, all of a table whose columns are not known."""

    name: str
    leaves: frozenset[Leaf]
    sure: bool = True
    without: frozenset[str] = frozenset()


@dataclass
class Source:
    """What stands in FROM: a table, or outputs. `open`: it may have other columns too."""

    table: TableName | None = None
    outputs: list[Output] = field(default_factory=list)
    open: bool = False

    @cached_property
    def by_name(self) -> dict[str, list[Output]]:
        found: dict[str, list[Output]] = defaultdict(list)
        for output in self.outputs:
            found[output.name].append(output)
        return found


Queries = dict[str, list[Output]]


@dataclass
class Block:
    above: Block | None
    queries: Queries
    sources: dict[str, Source] = field(default_factory=dict)
    aliases: dict[str, Output] = field(default_factory=dict)


def renamed(outputs: list[Output], node: exp.Expr) -> list[Output]:
    """Outputs by the names that an alias gives them: `AS t (a, b)`."""
    alias = node.args.get("alias")
    names = (
        [fold_case(one.name) for one in alias.args.get("columns") or ()]
        if isinstance(alias, exp.TableAlias)
        else []
    )
    if not names or any(output.name == ALL for output in outputs):
        return outputs
    return [
        replace(output, name=names[number]) if number < len(names) else output
        for number, output in enumerate(outputs)
    ]


def united(left: list[Output], right: list[Output]) -> list[Output]:
    if len(left) == len(right):
        return [
            replace(one, leaves=one.leaves | other.leaves, sure=one.sure and other.sure)
            for one, other in zip(left, right, strict=True)
        ]
    return left + right


def in_source(source: Source, name: str) -> tuple[set[Leaf], bool]:
    """What a column of a source comes from."""
    named = source.by_name.get(name)
    if named:
        return {leaf for output in named for leaf in output.leaves}, all(
            output.sure for output in named
        )
    whole = [output for output in source.by_name.get(ALL, ()) if name not in output.without]
    if whole:
        return {(table, name) for output in whole for table, _ in output.leaves}, len(whole) == 1
    return ({(source.table, name)} if source.table is not None else set()), True


def anywhere(block: Block, name: str) -> tuple[set[Leaf], bool]:
    """What a column without the name of a source comes from."""
    at: Block | None = block
    leaves: set[Leaf] = set()
    sure = True
    while at is not None:
        sources = list(at.sources.values())
        knowing = [source for source in sources if name in source.by_name]
        candidates = knowing or [
            source for source in sources if source.open or ALL in source.by_name
        ]
        sure = sure and len(candidates) <= 1 and not (leaves and candidates)
        for source in candidates:
            found, is_sure = in_source(source, name)
            leaves |= found
            sure = sure and is_sure
        if knowing:
            break
        at = at.above
    tables = [source.table for source in block.sources.values() if source.table is not None]
    # No columns that are known have it: then what is known of them is old, or it is an alias.
    return (
        (leaves, sure)
        if leaves or not tables
        else ({(table, name) for table in tables}, len(tables) == 1)
    )


def beside(block: Block, table: TableName) -> Block:
    """The sources of a block but for the table it changes."""
    others = {name: source for name, source in block.sources.items() if source.table != table}
    return replace(block, sources=others)
