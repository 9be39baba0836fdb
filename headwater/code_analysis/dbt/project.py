"""dbt's files: models as SQL that sqlglot can read, and what schema files and the manifest say.

A model is a template. What it refers to becomes a table name, what configures it is read, what only an incremental run
adds is left out. A model that is built by loops or conditions of its own has columns nobody can tell without running
dbt: it is unreadable, and the gate blocks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from headwater.code_analysis.dbt import jinja
from headwater.code_analysis.dbt import manifest as dbt
from headwater.code_analysis.dbt.manifest import FILE_BYTES_MAX
from headwater.code_analysis.tables import (
    MODEL,
    SEED,
    SOURCE,
    Column,
    TableDefinition,
    UnreadableError,
)
from headwater.errors import QueryError

_EXPRESSION = re.compile(r"\{\{-?(.*?)-?\}\}", re.DOTALL)
_KNOWN = re.compile(r"\s*(?:ref|source|config)\s*\(")
_CONFIG = re.compile(r"config\s*\((.*)\)", re.DOTALL)
_NOT_RUN = re.compile(r"a (loop|call) of Jinja|the braces")


@dataclass(frozen=True)
class Template:
    """A model as SQL: one text for each way through its conditions, and what else decides what it makes."""

    texts: list[str]
    config: dict[str, Any]
    # Its expressions that are no names of tables: when they change, so may what they make.
    rest: str


def render(template: str) -> Template:
    """Raises UnreadableError where only dbt knows what the template makes."""
    rendered = jinja.render(template)
    not_run = [reason for reason in rendered.unknown if _NOT_RUN.match(reason)]
    if not_run:
        raise UnreadableError(f"{not_run[0]}, and only dbt knows what that makes")
    expressions = [found.strip() for found in _EXPRESSION.findall(template)]
    config: dict[str, Any] = {}
    for found in filter(None, map(_CONFIG.fullmatch, expressions)):
        config.update(_arguments(found[1]))
    return Template(
        rendered.texts, config, "\n".join(one for one in expressions if not _KNOWN.match(one))
    )


def _arguments(text: str) -> dict[str, Any]:
    """The named arguments of a call that are plain values."""
    try:
        call = ast.parse(f"f({text.strip()})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    if not isinstance(call, ast.Call):
        return {}
    return {
        one.arg: one.value.value
        for one in call.keywords
        if one.arg and isinstance(one.value, ast.Constant)
    }


def model_name(path: str, config: Mapping[str, Any]) -> str:
    """What a model's table is called: its alias, else its file."""
    alias = config.get("alias")
    return alias if isinstance(alias, str) and alias else PurePosixPath(path).stem


def documented(text: str, path: str) -> dict[str, TableDefinition]:
    """The columns that a schema file promises or describes, by table. Raises UnreadableError."""
    try:
        import yaml
    except ImportError as error:
        raise UnreadableError(
            "PyYAML is not installed, and it reads schema files: pip install pyyaml"
        ) from error
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UnreadableError(f"it is not YAML: {str(error)[:200]}") from error
    found = {}
    for name, made_by, table in _tables(content):
        line = _line_of(name, text)
        columns = {}
        for one in _dicts(table.get("columns")):
            if isinstance(one.get("name"), str):
                type = one.get("data_type")
                columns[one["name"].lower()] = Column(
                    one["name"], type=str(type) if type else None, line=line
                )
        promised = made_by != MODEL or _is_enforced(table)
        relation = TableDefinition(name, made_by, columns, file=path, line=line, promised=promised)
        found[relation.key] = relation
    return found


def _line_of(name: str, text: str) -> int:
    named = re.compile(rf"name:\s*.?{re.escape(name.rpartition('.')[2])}\b")
    return next((number for number, row in enumerate(text.splitlines(), 1) if named.search(row)), 1)


def _tables(content: Any) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    if not isinstance(content, dict):
        return
    for section, made_by in (("models", MODEL), ("seeds", SEED), ("snapshots", MODEL)):
        for table in _dicts(content.get(section)):
            if isinstance(table.get("name"), str):
                yield table["name"], made_by, table
    for source in _dicts(content.get("sources")):
        schema = source.get("schema") or source.get("name")
        for table in _dicts(source.get("tables")):
            name = table.get("identifier") or table.get("name")
            if isinstance(name, str):
                yield f"{schema}.{name}", SOURCE, table


def _dicts(content: Any) -> list[dict[str, Any]]:
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _is_enforced(table: Mapping[str, Any]) -> bool:
    config = table.get("config")
    contract = table.get("contract") or (
        config.get("contract") if isinstance(config, dict) else None
    )
    return isinstance(contract, dict) and contract.get("enforced") is True


def read_manifest(path: Path) -> dict[str, str]:
    """Where models lie in the warehouse: full table names by the path of their file in the dbt project, and by name.

    Raises QueryError when the manifest cannot be read."""
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise QueryError(f"{path} is larger than {FILE_BYTES_MAX:,} bytes")
        models = dbt.read_manifest(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise QueryError(message, hint="`dbt parse` writes target/manifest.json.") from error
    by_name = {
        name.lower(): ".".join(model.makes)
        for model in models
        for name in (model.makes[-1], model.name)
    }
    return by_name | {model.path: ".".join(model.makes) for model in models}
