"""The statements of a script or a query log, each parsed on its own.

A statement that cannot be parsed stops no other. A quote that is not closed takes in the statements
after it, up to the next quote. So a part that cannot be parsed ends at its first semicolon at the
end of a line, and reading continues from there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from headwater.code_analysis.model import (
    ColumnLookup,
    References,
    TableName,
    UnreadableError,
    unknown_references,
)
from headwater.code_analysis.names import fold_case
from headwater.code_analysis.sql.parse import parse_sql
from headwater.code_analysis.sql.sqlglot_helpers import as_list, name_of_table
from headwater.code_analysis.sql.statement_ends import ROUTINE, StatementEnds
from headwater.code_analysis.sql.statements import references_in_statement
from headwater.code_analysis.steps import Steps
from headwater.errors import QueryError

_FINGERPRINT_CHARACTERS = 8
# How often, on average, a character is read again after a part that cannot be parsed.
_READINGS_MAX = 5
_NOT_READ_AGAIN = "no statement is looked for in it, since too much was read again"
# The opening of a block of statements: BEGIN, not followed by a semicolon.
_BLOCK_OPENING = re.compile(
    r"begin\s+(?=(?:insert|update|delete|merge|create|select|with|truncate|drop)\b)", re.IGNORECASE
)
_BLOCK_END = re.compile(r"end(?:\s+(?:transaction|tran|work))?", re.IGNORECASE)
_ROW_STATEMENTS = (exp.Insert, exp.Merge, exp.Update, exp.Delete)
_SEARCH_PATH = re.compile(
    r"set\s+(?:session\s+|local\s+)?(?:search_path|schema|current_schema)\s*(?:=|to)?\s*"
    r"[\"'`]?([\w$]+)",
    re.IGNORECASE,
)
_WITHOUT_LINEAGE = re.compile(
    r"(?:alter|analyze|checkpoint|cluster|comment|declare|delimiter|describe|end|explain|fetch|go"
    r"|grant|list|lock|msck|optimize|pragma|print|put|reindex|refresh|remove|reset|return|revoke"
    r"|set|show|uncache|unlock|unset|use|vacuum)\b",
    re.IGNORECASE,
)


# The parser counts lines from the statement, and shows tokens as Python does.
_PARSER_POSITION = re.compile(r"( but got <Token.*)? at line \d+$", re.DOTALL)


class Kind(Enum):
    """What a statement does.

    QUERY reads only. WRITE fills or changes a table from a query, or by expressions. DEFINE
    creates a table without rows. EMPTY removes all rows. OTHER has no part in lineage."""

    QUERY = "query"
    WRITE = "write"
    DEFINE = "define"
    EMPTY = "empty"
    DROP = "drop"
    RENAME = "rename"
    USE = "use"
    BEGIN = "begin"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    OTHER = "other"
    UNREADABLE = "unreadable"


# Kinds that change a table.
_CHANGES = (Kind.WRITE, Kind.DEFINE, Kind.EMPTY, Kind.DROP, Kind.RENAME)


@dataclass(frozen=True)
class Statement:
    """One statement of a script.

    line: its first line in the script.
    target: the table that it changes, or the database and schema of a USE.
    is_temporary: the target lives as long as the session.
    is_conditional: IF EXISTS or IF NOT EXISTS.
    replaces: the target has only the rows of this statement.
    verb: its first word, for names.
    columns: of a DEFINE, names and types in order.
    renamed_to: the new name of a RENAME.
    spellings: names of columns as the database spells them, by folded name.
    reason: why it cannot be read."""

    text: str
    line: int
    kind: Kind
    target: TableName = ()
    is_temporary: bool = False
    is_conditional: bool = False
    replaces: bool = False
    verb: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    renamed_to: TableName = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    tree: Any = field(default=None, repr=False, compare=False)

    def references(self, columns: ColumnLookup) -> References:
        """Return the references of the statement."""
        try:
            return references_in_statement(self.tree, [], columns, Steps())
        except RecursionError:
            return unknown_references("the SQL is nested too deeply")
        except UnreadableError as error:
            return unknown_references(str(error))

    @property
    def fingerprint(self) -> str:
        """Return the hash of the statement without its literals."""
        return _fingerprint(self.tree)


def require_dialect(name: str) -> None:
    """Raise QueryError if sqlglot has no dialect of this name; "" is none in particular."""
    if name and name not in Dialect.classes:
        known = ", ".join(sorted(filter(None, Dialect.classes)))
        raise QueryError(f"--dialect {name!r} is unknown", hint=f"Use one of {known}.")


def read_script(text: str, dialect: str) -> Iterator[Statement]:
    """Yield the statements of a script in order. One that cannot be read has a reason.

    Past the bound on text that is read again, a part that cannot be parsed is one statement."""
    ends = StatementEnds(text, dialect)
    start, line = 0, 1
    again_max = _READINGS_MAX * len(text)
    while start < len(text):
        end, following = ends.next_end(start)
        first = ends.skip_comments(start, end)
        if first < end:
            first_line = line + text.count("\n", start, first)
            statements = list(_parse_part(text[first:end], first_line, dialect))
            is_unreadable = any(one.kind is Kind.UNREADABLE for one in statements)
            inner = ends.inner_end(first, end) if is_unreadable else None
            if inner is not None and end - inner[1] > again_max:
                reason = f"{statements[0].reason}; {_NOT_READ_AGAIN}"
                statements = [replace(statements[0], reason=reason)]
            elif inner is not None:
                again_max -= end - inner[1]
                following = inner[1]
                statements = [replace(statements[0], text=text[first : inner[0]])]
            yield from statements
        line += text.count("\n", start, following)
        start = following


def _parse_part(text: str, line: int, dialect: str) -> Iterator[Statement]:
    """Yield the statements of a part between semicolons: one, or more if none was needed."""
    opening = _BLOCK_OPENING.match(text)
    if opening is not None:
        text = text[opening.end() :]
    text = text.strip()
    if _BLOCK_END.fullmatch(text):
        return
    if ROUTINE.match(text):
        yield Statement(text, line, Kind.OTHER, verb="create")
        return
    try:
        trees = parse_sql(text, dialect)
    except UnreadableError as error:
        reason = _PARSER_POSITION.sub("", str(error))
        yield Statement(text, line, Kind.UNREADABLE, reason=reason)
        return
    for tree in trees:
        yield _statement(tree, text, line, dialect)


def _statement(tree: exp.Expr, text: str, line: int, dialect: str) -> Statement:
    try:
        tree = _normalised(tree, dialect)
    except (SqlglotError, RecursionError) as error:
        return Statement(text, line, Kind.UNREADABLE, reason=f"the SQL cannot be read: {error}")
    read = _READERS.get(type(tree))
    if read is not None:
        found: Statement = read(tree)
    elif isinstance(tree, _ROW_STATEMENTS):
        found = _change(tree)
    elif isinstance(tree, exp.Query):
        found = _query(tree)
    else:
        found = _other(text)
    if found.kind in _CHANGES and not all(part.strip() for part in found.target or ("",)):
        found = _new(Kind.UNREADABLE, reason="the changed table has no name")
    spellings: dict[str, str] = {}
    for node in tree.find_all(exp.Identifier):
        spellings.setdefault(fold_case(node.name), node.name)
    return replace(found, text=text, line=line, spellings=spellings, tree=found.tree or tree)


def _normalised(tree: exp.Expr, dialect: str) -> exp.Expr:
    """Return a tree whose names have the case that the database gives them."""
    tree = normalize_identifiers(tree, dialect=dialect or None)
    for node in tree.find_all(exp.Identifier):
        # `#x` of SQL Server is a temporary table, whatever else is called `x`.
        if node.args.get("temporary") and not node.name.startswith("#"):
            node.set("this", f"#{node.name}")
    return tree


def _new(kind: Kind, **fields: Any) -> Statement:
    return Statement("", 0, kind, **fields)


def _is_temporary(node: exp.Expr, target: TableName) -> bool:
    properties = node.args.get("properties")
    has_property = properties is not None and properties.find(exp.TemporaryProperty) is not None
    return has_property or (bool(target) and target[-1].startswith("#"))


def _query(tree: exp.Expr) -> Statement:
    """Return a query, or the write of SELECT ... INTO."""
    into = tree.args.get("into") if isinstance(tree, exp.Select) else None
    if into is None:
        return _new(Kind.QUERY, verb="select")
    target = into.this
    tree.set("into", None)
    created = exp.Create(this=target, kind="TABLE", expression=tree)
    name = name_of_table(target)
    is_temporary = bool(into.args.get("temporary")) or _is_temporary(created, name)
    return _new(
        Kind.WRITE,
        target=name,
        is_temporary=is_temporary,
        replaces=True,
        verb="create",
        tree=created,
    )


def _create(tree: exp.Create) -> Statement:
    kind = str(tree.args.get("kind") or "").upper()
    if kind not in ("TABLE", "VIEW"):
        return _new(Kind.OTHER, verb="create")
    target = name_of_table(tree.this)
    is_temporary = _is_temporary(tree, target)
    clone = tree.args.get("clone")
    if clone is not None:
        star = exp.select("*").from_(clone.this.copy())
        tree.set("expression", star)
        tree.set("clone", None)
    is_filled = isinstance(tree.expression, exp.Query)
    nodes = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    columns = tuple(
        (node.name, node.args["kind"].sql().lower() if node.args.get("kind") else "")
        for node in nodes
        if isinstance(node, exp.ColumnDef)
    )
    return _new(
        Kind.WRITE if is_filled else Kind.DEFINE,
        target=target,
        is_temporary=is_temporary,
        is_conditional=bool(tree.args.get("exists")),
        replaces=is_filled,
        verb="create",
        columns=columns,
    )


def _change(tree: exp.Expr) -> Statement:
    """Return an INSERT, MERGE, UPDATE or DELETE."""
    target = _changed_table(tree)
    if isinstance(tree, exp.Delete) and not any(
        tree.args.get(part) for part in ("where", "using", "limit")
    ):
        return _new(Kind.EMPTY, target=target, verb="delete")
    is_overwrite = bool(tree.args.get("overwrite")) and not tree.args.get("partition")
    return _new(Kind.WRITE, target=target, replaces=is_overwrite, verb=tree.key)


def _changed_table(tree: exp.Expr) -> TableName:
    """Return the table that a statement changes. A target that is an alias in FROM is replaced."""
    named = as_list(tree.args.get("tables")) or as_list(tree.this)
    target = name_of_table(named[0]) if named else ()
    if len(target) == 1 and isinstance(tree, exp.Update | exp.Delete):
        for table in tree.find_all(exp.Table):
            if table.alias and fold_case(table.alias) == fold_case(target[0]):
                copy = table.copy()
                copy.set("joins", None)
                tree.set("this", copy)
                return name_of_table(table)
    return target


def _drop(tree: exp.Drop) -> Statement:
    tables = as_list(tree.args.get("tables")) or as_list(tree.this)
    if str(tree.args.get("kind") or "").upper() not in ("TABLE", "VIEW") or not tables:
        return _new(Kind.OTHER, verb="drop")
    is_conditional = bool(tree.args.get("exists"))
    return _new(
        Kind.DROP, target=name_of_table(tables[0]), is_conditional=is_conditional, verb="drop"
    )


def _truncate(tree: exp.TruncateTable) -> Statement:
    return _new(Kind.EMPTY, target=name_of_table(tree.expressions[0]), verb="truncate")


def _alter(tree: exp.Alter) -> Statement:
    renames = [one for one in as_list(tree.args.get("actions")) if isinstance(one, exp.AlterRename)]
    target = name_of_table(tree.this)
    if any(isinstance(one, exp.SwapTable) for one in as_list(tree.args.get("actions"))):
        return _new(Kind.UNREADABLE, reason="the effect of SWAP is not known")
    if not renames or not target:
        return _new(Kind.OTHER, verb="alter")
    new = name_of_table(renames[0].this)
    if not new:
        return _new(Kind.UNREADABLE, reason="the new name of the table is missing")
    # A new name without a schema stays in the schema of the old one.
    return _new(Kind.RENAME, target=target, renamed_to=(*target[: -len(new)], *new), verb="alter")


def _use(tree: exp.Use) -> Statement:
    kind = str(tree.args.get("kind") or "").upper()
    names = name_of_table(tree.this)
    if not names:
        return _new(Kind.OTHER, verb="use")
    if kind == "SCHEMA":
        return _new(Kind.USE, target=("", *names)[-2:], verb="use")
    # A warehouse or a role is no part of a name.
    is_database = kind in ("", "DATABASE", "CATALOG")
    return _new(Kind.USE if is_database else Kind.OTHER, target=(*names, "")[:2], verb="use")


def _copy(_tree: exp.Copy) -> Statement:
    return _new(Kind.UNREADABLE, reason="COPY names files, whose dataset is not known", verb="copy")


def _other(text: str) -> Statement:
    words = " ".join(text.split())
    found = _SEARCH_PATH.match(words)
    if found is not None:
        return _new(Kind.USE, target=("", found[1]), verb="set")
    verb = words.partition(" ")[0].lower()
    if _WITHOUT_LINEAGE.match(words):
        return _new(Kind.OTHER, verb=verb)
    return _new(Kind.UNREADABLE, reason=f"the effect of {verb.upper()[:40]} is not known")


def _transaction(tree: exp.Expr) -> Statement:
    if isinstance(tree, exp.Transaction):
        return _new(Kind.BEGIN)
    return _new(Kind.COMMIT if isinstance(tree, exp.Commit) else Kind.ROLLBACK)


_READERS: dict[type, Any] = {
    exp.Create: _create,
    exp.Drop: _drop,
    exp.TruncateTable: _truncate,
    exp.Alter: _alter,
    exp.Use: _use,
    exp.Copy: _copy,
    exp.Transaction: _transaction,
    exp.Commit: _transaction,
    exp.Rollback: _transaction,
}


def _fingerprint(tree: exp.Expr) -> str:
    """Return the hash of a tree in which every literal is a placeholder."""
    copy = tree.copy()
    for one in list(copy.find_all(exp.In)):
        # Lists of different lengths are the same statement.
        if one.expressions and all(isinstance(item, exp.Literal) for item in one.expressions):
            one.set("expressions", [exp.Placeholder()])
    for literal in list(copy.find_all(exp.Literal)):
        literal.replace(exp.Placeholder())
    text = copy.sql(comments=False, normalize=True)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_FINGERPRINT_CHARACTERS]
