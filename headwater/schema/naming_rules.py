"""The rules of naming in files: our `naming.toml`, and a user's file on top of it.

Every table is flat, a key and a short value, so that a user's file can add or replace one line. An
error names the line as `table.key`, with its correction.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from headwater.errors import SettingsError
from headwater.schema.settings_files import read_settings_file

_KINDS = ("rooted", "keys", "tables")
SILENT_WRITES = ("append", "overwrite", "compare")
_KINDS_OF_VALUES: dict[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*")
_WORD = re.compile(r"\{(\w+)\}")
_PORT_MAX = 65_535
# Their values are validated together, so that 30 February is no day.
CALENDAR = ("year", "month", "day")
# No partition rule may match this folder: it would fold every folder.
_ANY_FOLDER = "anyfolder1"

# A partition rule, one pattern for each of its folders.
Folders = tuple[re.Pattern[str], ...]


class Rules(msgspec.Struct, frozen=True):
    """The tables of `naming.toml`, with the lines of a user. Errors name `file`."""

    file: str
    schemes: dict[str, str] = {}
    ports: dict[str, int] = {}
    portless: dict[str, bool] = {}
    buckets: dict[str, bool] = {}
    paths: dict[str, str] = {}
    aliases: dict[str, str] = {}
    words: dict[str, str] = {}
    partitions: dict[str, str] = {}
    silent_writes: dict[str, str] = {}

    def error(self, key: str, problem: str, hint: str) -> SettingsError:
        return _error(self.file, key, problem, hint)


_TABLES: dict[str, type] = {
    "schemes": str,
    "ports": int,
    "portless": bool,
    "buckets": bool,
    "paths": str,
    "aliases": str,
    "words": str,
    "partitions": str,
    "silent_writes": str,
}
# Their keys are written in quotes.
_QUOTED = ("aliases", "silent_writes")
_OF_SCHEMES = ("schemes", "ports", "portless", "buckets", "paths")


def read_rules(path: Path | None = None) -> Rules:
    """Read the default rules, overridden by a file. Raises SettingsError for a malformed file."""
    own = files("headwater.schema").joinpath("naming.toml").read_text(encoding="utf-8")
    tables = _tables("naming.toml", own)
    if path is None:
        return Rules("naming.toml", **tables)
    try:
        text = read_settings_file(path)
    except (OSError, ValueError) as error:
        hint = "Name a file of naming rules that can be read, UTF-8, or none."
        raise SettingsError(f"{path}: {error}", hint=hint) from error
    for table, lines in _tables(str(path), text).items():
        tables[table] |= lines
    return Rules(str(path), **tables)


def resolve_chains(steps: Mapping[str, str], rules: Rules, table: str) -> dict[str, str]:
    """Resolve every alias to its final name. Raises SettingsError for a circle."""
    led: dict[str, str] = {}
    for start in steps:
        end, seen = steps[start], {start}
        while end in steps:
            if end in seen:
                hint = "Remove one of them: an alias must end at a name that is no alias."
                raise rules.error(f'{table}."{start}"', f"leads to itself, through {end}", hint)
            seen.add(end)
            end = steps[end]
        led[start] = end
    return led


def partition_patterns(rules: Rules) -> list[Folders]:
    """Compile the partition rules, longest first. Raises SettingsError for a malformed rule."""
    for word, pattern in rules.words.items():
        _compiled(rules, f"words.{word}", pattern)
    compiled = [_folders(rules, name, rule) for name, rule in rules.partitions.items() if rule]
    return sorted(compiled, key=len, reverse=True)


def _folders(rules: Rules, name: str, rule: str) -> Folders:
    key = f"partitions.{name}"
    unknown = [word for word in _WORD.findall(rule) if word not in rules.words]
    if unknown:
        hint = f"Its words are {', '.join(rules.words)}; define more under [words]."
        raise rules.error(key, f"has the unknown word {{{unknown[0]}}}", hint)
    parts = rule.split("/")
    if not all(parts):
        raise rules.error(
            key, "has a folder without a name", "Write folders with one slash between them: a/b."
        )
    patterns = tuple(_compiled(rules, key, _pattern(rules, part)) for part in parts)
    if all(pattern.fullmatch(_ANY_FOLDER) for pattern in patterns):
        hint = 'Write the common part of its folders, for example "batch-{number}".'
        raise rules.error(key, "matches every folder", hint)
    return patterns


def _pattern(rules: Rules, folder: str) -> str:
    pieces = _WORD.split(folder)  # literal, word, literal, word, ...
    for index in range(0, len(pieces), 2):
        pieces[index] = re.escape(pieces[index])
    for index in range(1, len(pieces), 2):
        word = pieces[index]
        group = f"?P<{word}>" if word in CALENDAR else "?:"
        pieces[index] = f"({group}{rules.words[word]})"
    return "".join(pieces)


def _compiled(rules: Rules, key: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        hint = "Write a regular expression of Python; year, month and day at most once in a folder."
        raise rules.error(key, f"is no pattern: {error}", hint) from error


def _tables(file: str, text: str) -> dict[str, dict[str, Any]]:
    """Parse and validate the tables of one file."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(
            f"{file} is not TOML: {error}",
            hint="docs/reference/naming.md shows how rules are written.",
        ) from error
    tables: dict[str, dict[str, Any]] = {table: {} for table in _TABLES}
    for table, lines in content.items():
        if table not in _TABLES:
            raise _error(file, table, "is no table of naming rules", _suggestion(table, _TABLES))
        if not isinstance(lines, dict):
            raise _error(
                file,
                table,
                "is not a table",
                f"Write [{table}] on a line, and its rules below it.",
            )
        for key, value in lines.items():
            _validate(file, table, key, value)
        tables[table] = lines
    return tables


def _validate(file: str, table: str, key: str, value: object) -> None:
    """Validate one line of a file. Raises SettingsError."""
    line = f'{table}."{key}"' if table in _QUOTED else f"{table}.{key}"
    kind = _TABLES[table]
    if type(value) is not kind:
        raise _error(file, line, f"is {value!r}", f"Write {_KINDS_OF_VALUES[kind]}.")
    if table in _OF_SCHEMES and not _SCHEME.fullmatch(key):
        raise _error(
            file, line, "names no scheme", "Write what stands before '://', in lower case: s3."
        )
    if table == "schemes" and not _SCHEME.fullmatch(str(value)):
        raise _error(
            file,
            line,
            f"is {value!r}, which is no scheme",
            "Write it in lower case, without '://': s3.",
        )
    if table == "ports" and not (isinstance(value, int) and 0 < value <= _PORT_MAX):
        raise _error(
            file, line, f"is {value!r}, which is no port", f"Write a number from 1 to {_PORT_MAX}."
        )
    if table == "paths" and value not in _KINDS:
        raise _error(file, line, f"is {value!r}", f"Write one of {', '.join(_KINDS)}.")
    if table == "aliases" and not (key.strip() and str(value).strip()):
        raise _error(file, line, "has an empty side", "Write a namespace on either side.")
    if table == "silent_writes" and value not in SILENT_WRITES:
        raise _error(file, line, f"is {value!r}", f"Write one of {', '.join(SILENT_WRITES)}.")
    if table == "silent_writes" and not key.strip():
        raise _error(file, line, "names no producer", "Write a part of its URI, or * for the rest.")
    if table == "words" and not re.fullmatch(r"\w+", key):
        raise _error(file, line, "is no word", "Write it in letters, digits and underscores.")


def _suggestion(table: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(table, list(known), n=1)
    return f"Did you mean [{close[0]}]?" if close else f"The tables are {', '.join(known)}."


def _error(file: str, key: str, problem: str, hint: str) -> SettingsError:
    return SettingsError(f"{file}: {key} {problem}", hint=hint)
