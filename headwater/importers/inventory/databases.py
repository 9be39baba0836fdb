"""Inventories of databases: the tables of PostgreSQL and SQLite, of a Hive metastore, and of an
Iceberg catalogue that keeps its tables in such a database.

| catalogue | where its list is |
|---|---|
| PostgreSQL | `pg_class`, with owners and comments |
| SQLite | `sqlite_master` |
| Hive metastore | `TBLS`, `DBS`, `SDS`, `TABLE_PARAMS` (schema of Hive 3 and 4, on PostgreSQL) |
| Iceberg | `iceberg_tables`, which its JDBC and SQL catalogues write |

https://iceberg.apache.org/docs/latest/jdbc/ describes the last. Nothing is written to the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from headwater.addresses import shown
from headwater.errors import QueryError
from headwater.importers.inventory.assets import TABLE, VIEW, Asset
from headwater.importers.marquez import connect, parse_database_url

Row = tuple[Any, ...]
Rows = Callable[[str], Iterator[Row]]
_SCHEMES = "postgresql://user@host:5432/database or sqlite:///path/of/file.db"
_POSTGRES_TABLES = """
SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), pg_get_userbyid(c.relowner),
  obj_description(c.oid, 'pg_class')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
ORDER BY 1, 2
"""
_SQLITE_TABLES = """
SELECT name, type = 'view' FROM sqlite_master
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
"""
_HIVE_TABLES = """
SELECT d."NAME", t."TBL_NAME", t."TBL_TYPE" = 'VIRTUAL_VIEW', t."OWNER", p."PARAM_VALUE",
  s."LOCATION"
FROM "TBLS" t JOIN "DBS" d ON d."DB_ID" = t."DB_ID"
  LEFT JOIN "SDS" s ON s."SD_ID" = t."SD_ID"
  LEFT JOIN "TABLE_PARAMS" p ON p."TBL_ID" = t."TBL_ID" AND p."PARAM_KEY" = 'comment'
ORDER BY 1, 2
"""
_ICEBERG_TABLES = """
SELECT table_namespace, table_name, metadata_location FROM iceberg_tables
WHERE metadata_location IS NOT NULL ORDER BY catalog_name, table_namespace, table_name
"""


@dataclass(frozen=True)
class Catalogue:
    """A database that lists tables: its namespace in OpenLineage, and how it is asked."""

    namespace: str
    database: str
    rows: Rows
    is_sqlite: bool


def open_catalogue(url: str, namespace: str = "") -> Catalogue:
    """Return the database that a URL names; a prefix `jdbc:` is allowed.

    `namespace` is that of its tables; without it, that of OpenLineage's naming rules. Raises
    QueryError.
    """
    url = url.removeprefix("jdbc:")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        # The error would have a part of a password.
        raise QueryError(
            "the address of the database is malformed", hint=f"Give {_SCHEMES}."
        ) from error
    scheme = parts.scheme
    if scheme in ("postgresql", "postgres"):
        database = parse_database_url(url)
        return Catalogue(
            namespace or f"postgres://{database.host}:{database.port}",
            database.database,
            partial(_postgres_rows, url),
            is_sqlite=False,
        )
    if scheme == "sqlite":
        path = Path(unquote(parts.path.removeprefix("/")))
        if not path.is_file():
            raise QueryError(f"{path}: no such file", hint=f"Give {_SCHEMES}.")
        return Catalogue(
            namespace or f"sqlite://{path.resolve()}",
            "",
            partial(_sqlite_rows, path),
            is_sqlite=True,
        )
    raise QueryError(
        f"{shown(url)[:40]!r} is no database that can be read", hint=f"Give {_SCHEMES}."
    )


def read_tables(catalogue: Catalogue) -> Iterator[Asset]:
    """Yield the tables and views of a database. Raises QueryError, UnavailableError."""
    if catalogue.is_sqlite:
        for name, is_view in catalogue.rows(_SQLITE_TABLES):
            yield Asset(catalogue.namespace, name, VIEW if is_view else TABLE)
        return
    for schema, name, is_view, owner, comment in catalogue.rows(_POSTGRES_TABLES):
        yield Asset(
            catalogue.namespace,
            f"{catalogue.database}.{schema}.{name}",
            VIEW if is_view else TABLE,
            (owner,) if owner else (),
            comment or "",
        )


def read_hive(catalogue: Catalogue) -> Iterator[Asset]:
    """Yield the tables of a Hive metastore. A table with a location is the dataset there.

    Raises QueryError, UnavailableError.
    """
    for database, name, is_view, owner, comment, location in catalogue.rows(_HIVE_TABLES):
        kind, owners = (VIEW if is_view else TABLE), ((owner,) if owner else ())
        known_as = (catalogue.namespace, f"{database}.{name}")
        if location:
            namespace, path = dataset_at(location)
            yield Asset(namespace, path, kind, owners, comment or "", known_as)
        else:
            yield Asset(*known_as, kind, owners, comment or "")


def read_iceberg(catalogue: Catalogue) -> Iterator[Asset]:
    """Yield the tables of an Iceberg catalogue; each is the dataset at its location.

    Raises QueryError, UnavailableError.
    """
    for table_namespace, name, metadata in catalogue.rows(_ICEBERG_TABLES):
        namespace, path = dataset_at(metadata.rpartition("/metadata/")[0] or metadata)
        known_as = (catalogue.namespace, f"{table_namespace}.{name}")
        yield Asset(namespace, path, TABLE, other_name=known_as)


def dataset_at(location: str) -> tuple[str, str]:
    """Return the namespace and the name of the dataset at a location, as OpenLineage names it."""
    parts = urlsplit(location)
    if parts.scheme in ("", "file"):
        return "file", unquote(parts.path)
    return f"{parts.scheme}://{parts.netloc}", unquote(parts.path).strip("/")


def _postgres_rows(url: str, statement: str) -> Iterator[Row]:
    database = parse_database_url(url)
    with closing(connect(database)) as connection:
        from pg8000.exceptions import DatabaseError

        try:
            yield from map(tuple, connection.run(statement))
        except DatabaseError as error:
            details = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
            raise QueryError(
                f"PostgreSQL at {database} refuses the list of tables: "
                f"{details.get('M', str(error))}",
                hint="Is this the database of the catalogue, and may this user read it?",
            ) from error


def _sqlite_rows(path: Path, statement: str) -> Iterator[Row]:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            yield from connection.execute(statement)
    except sqlite3.Error as error:
        raise QueryError(f"SQLite cannot list the tables of {path}: {error}") from error
