"""The references of files: .sql, .py, .ipynb, dbt's manifest.json and catalog.json.

A file of another kind, or that cannot be read, is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from headwater.bounded_process import OutOfBoundsError, OutOfTimeError, map_bounded
from headwater.code_analysis.dbt import manifest
from headwater.code_analysis.dbt.jinja import has_jinja
from headwater.code_analysis.dbt.references import references_in_model
from headwater.code_analysis.model import (
    ColumnLookup,
    References,
    TableName,
    no_columns,
    unknown_references,
)
from headwater.code_analysis.names import name_parts
from headwater.code_analysis.repository_files import NOTEBOOK_LANGUAGE
from headwater.code_analysis.sql.references import references_in_sql
from headwater.code_analysis.suffix_index import SuffixIndex

TIMEOUT_SECONDS = 20.0
# The languages that are read of the code that a producer sent.
SOURCE_LANGUAGES = frozenset({"sql", "python", "py", "pyspark", NOTEBOOK_LANGUAGE})
NO_TIME = "there was no time to read it"


@dataclass(frozen=True)
class CodeFile:
    """A piece of code: its path, the tables it is known to make, and its references."""

    path: str
    makes: frozenset[TableName]
    references: References


def read_files(
    files: Mapping[str, str],
    *,
    dialect: str = "",
    columns: ColumnLookup = no_columns,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> list[CodeFile]:
    """Return the code in files, by path. Each is read in a process of its own.

    A catalog among the files adds columns to those of `columns`.

    Raises QueryError for a malformed manifest or catalog. Code that there is no time or memory to
    read is unknown."""
    pieces = list(_pieces(files))
    shared = (dialect, _with_catalogs(files, columns))
    codes: list[CodeFile] = []
    with closing(map_bounded(_read_piece, pieces, *shared, seconds=timeout_seconds)) as read:
        for piece, found in zip(pieces, read, strict=True):
            if isinstance(found, CodeFile):
                codes.append(found)
                continue
            makes = frozenset({piece.model.table} if piece.model else ())
            codes.append(CodeFile(piece.path, makes, unknown_references(reason_unread(found))))
    return codes


def reason_unread(error: OutOfBoundsError) -> str:
    """Return the reason for which code is unknown whose reading exceeded a bound."""
    return NO_TIME if isinstance(error, OutOfTimeError) else f"it {error}"


@dataclass(frozen=True)
class _Piece:
    """Code to read: a file, or a model of a manifest."""

    path: str
    text: str
    model: manifest.DbtModel | None = None


def _pieces(files: Mapping[str, str]) -> Iterator[_Piece]:
    for path, text in files.items():
        is_json = path.endswith(".json")
        if is_json and manifest.is_manifest(text):
            for model in manifest.read_manifest(text):
                yield _Piece(model.path, model.sql, model)
        elif not (is_json and manifest.is_catalog(text)):
            yield _Piece(path, text)


def _read_piece(piece: _Piece, dialect: str, columns: ColumnLookup) -> CodeFile:
    if piece.model is not None:
        return _read_model(piece.model, dialect, columns)
    return read_file(piece.path, piece.text, dialect=dialect, columns=columns)


def read_file(
    path: str, text: str, *, dialect: str = "", columns: ColumnLookup = no_columns
) -> CodeFile:
    """Return the code in one file.

    SQL that writes no table makes the table of its file name, as dbt models do."""
    suffix = PurePosixPath(path).suffix.casefold()
    if suffix == ".sql":
        references = references_in_model(text, dialect=dialect, columns=columns)
    elif suffix in (".py", ".ipynb"):
        references = references_in_script(text, suffix, dialect, columns)
    else:
        references = unknown_references(f"files like *{suffix} are not read")
    is_query = suffix == ".sql" and not references.targets
    makes = {(PurePosixPath(path).stem,)} if is_query else references.targets - {()}
    return CodeFile(path, frozenset(makes), references)


def references_in_source(
    text: str, language: str, dialect: str, columns: ColumnLookup
) -> References:
    """Return the references of the code that a producer sent, in one of `SOURCE_LANGUAGES`."""
    if language == "sql" and has_jinja(text):
        return references_in_model(text, dialect=dialect, columns=columns)
    if language == "sql":
        return references_in_sql(text, dialect=dialect, columns=columns)
    suffix = ".ipynb" if language == NOTEBOOK_LANGUAGE else ".py"
    return references_in_script(text, suffix, dialect, columns)


def references_in_script(text: str, suffix: str, dialect: str, columns: ColumnLookup) -> References:
    """Return the references of Python (.py) or of a notebook (.ipynb)."""
    # Imported here: most files are SQL.
    from headwater.code_analysis.notebooks import is_databricks, references_in_notebook
    from headwater.code_analysis.pyspark.references import references_in_python

    is_python = suffix == ".py"
    if not is_python or is_databricks(text):
        return references_in_notebook(text, is_python=is_python, dialect=dialect, columns=columns)
    return references_in_python(text, dialect=dialect, columns=columns)


def _read_model(model: manifest.DbtModel, dialect: str, columns: ColumnLookup) -> CodeFile:
    """Return the code of a dbt model; its dependencies count as tables that it reads."""
    makes = frozenset({model.table})
    if model.path.endswith(".py"):
        references = references_in_script(model.sql, ".py", dialect, columns)
    elif not model.sql.strip():
        references = unknown_references("the manifest has no code of it")
    else:
        references = references_in_model(model.sql, dialect=dialect, columns=columns)
    references = replace(references, tables=references.tables | set(model.upstream))
    return CodeFile(model.path, makes, references)


def _with_catalogs(files: Mapping[str, str], columns: ColumnLookup) -> ColumnLookup:
    """Return a lookup that completes `columns` with the catalogs among the files."""
    catalog: dict[TableName, list[str]] = {}
    for path, text in files.items():
        if path.endswith(".json") and manifest.is_catalog(text):
            catalog.update(manifest.read_catalog(text))
    return _WithCatalog(columns, catalog) if catalog else columns


@dataclass(frozen=True)
class _WithCatalog:
    """A ColumnLookup that asks a catalog of dbt for what another one does not know."""

    known: ColumnLookup
    catalog: Mapping[TableName, list[str]]

    def __call__(self, table: TableName) -> list[str] | None:
        known_columns = self.known(table)
        if known_columns is not None:
            return known_columns
        name = self._names.only(name_parts(".".join(table)))
        return None if name is None else self.catalog[name]

    @cached_property
    def _names(self) -> SuffixIndex[TableName]:
        names: SuffixIndex[TableName] = SuffixIndex()
        for name in self.catalog:
            names.add(name_parts(".".join(name)), name)
        return names
