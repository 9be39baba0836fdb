"""The rules of naming as they stand in files: our own `naming.toml`, and a user's file on top of
it.

Every table is flat, a key and a short value, so that a user's file adds a line or says one
differently. What is wrong in it is named as `table.key`, with what to do about it.
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

_KINDS = ("rooted", "keys", "tables")
_KINDS_OF_VALUES: dict[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*")
_WORD = re.compile(r"\{(\w+)\}")
_PORT_MAX = 65_535
# Their values are compared, so that 30 February is no day.
CALENDAR = ("year", "month", "day")
# What no rule of folding may match: it would fold every folder there is.
_ANY_FOLDER = "anyfolder1"

# A partition rule, one pattern for each of its folders.
Folders = tuple[re.Pattern[str], ...]


class Rules(msgspec.Struct, frozen=True):
    """The tables of `naming.toml`, the user's own lines among them. `where` is the file that errors
    name.
    """

    where: str
    schemes: dict[str, str] = {}
    ports: dict[str, int] = {}
    portless: dict[str, bool] = {}
    buckets: dict[str, bool] = {}
    paths: dict[str, str] = {}
    aliases: dict[str, str] = {}
    words: dict[str, str] = {}
    partitions: dict[str, str] = {}

    def wrong(self, key: str, problem: str, hint: str) -> SettingsError:
        return _wrong(self.where, key, problem, hint)


_TABLES: dict[str, type] = {
    "schemes": str,
    "ports": int,
    "portless": bool,
    "buckets": bool,
    "paths": str,
    "aliases": str,
    "words": str,
    "partitions": str,
}
_OF_SCHEMES = ("schemes", "ports", "portless", "buckets", "paths")


def read_rules(path: Path | None = None) -> Rules:
    """Our own rules, with those of a user's file on top. Raises SettingsError when the file cannot
    be used.
    """
    own = files("headwater.schema").joinpath("naming.toml").read_text(encoding="utf-8")
    tables = _tables("naming.toml", own)
    if path is None:
        return Rules("naming.toml", **tables)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        hint = "Name a file of naming rules that can be read, UTF-8, or none."
        raise SettingsError(f"{path}: {error}", hint=hint) from error
    for table, lines in _tables(str(path), text).items():
        tables[table] |= lines
    return Rules(str(path), **tables)


def resolve_chains(steps: Mapping[str, str], rules: Rules, table: str) -> dict[str, str]:
    """Where every alias leads in the end. Raises SettingsError when one leads back to itself."""
    led: dict[str, str] = {}
    for start in steps:
        end, seen = steps[start], {start}
        while end in steps:
            if end in seen:
                hint = "Take one of them out: an alias must end at a name that is none."
                raise rules.wrong(
                    f'{table}."{start}"', f"leads round in a circle, through {end}", hint
                )
            seen.add(end)
            end = steps[end]
        led[start] = end
    return led


def partition_patterns(rules: Rules) -> list[Folders]:
    """The partition rules as patterns, those of many folders first. Raises SettingsError for one
    that is no rule.
    """
    for word, pattern in rules.words.items():
        _compiled(rules, f"words.{word}", pattern)
    compiled = [_folders(rules, name, rule) for name, rule in rules.partitions.items() if rule]
    return sorted(compiled, key=len, reverse=True)


def _folders(rules: Rules, name: str, rule: str) -> Folders:
    key = f"partitions.{name}"
    unknown = [word for word in _WORD.findall(rule) if word not in rules.words]
    if unknown:
        hint = f"Its words are {', '.join(rules.words)}; more can be said under [words]."
        raise rules.wrong(key, f"has the unknown word {{{unknown[0]}}}", hint)
    parts = rule.split("/")
    if not all(parts):
        raise rules.wrong(
            key, "has a folder without a name", "Write folders with one slash between them: a/b."
        )
    patterns = tuple(_compiled(rules, key, _pattern(rules, part)) for part in parts)
    if all(pattern.fullmatch(_ANY_FOLDER) for pattern in patterns):
        hint = 'Say what its folders have in common, for example "batch-{number}".'
        raise rules.wrong(key, "would fold every folder there is", hint)
    return patterns


def _pattern(rules: Rules, folder: str) -> str:
    pieces = _WORD.split(folder)  # literal, word, literal, word, ...
    for at in range(0, len(pieces), 2):
        pieces[at] = re.escape(pieces[at])
    for at in range(1, len(pieces), 2):
        word = pieces[at]
        group = f"?P<{word}>" if word in CALENDAR else "?:"
        pieces[at] = f"({group}{rules.words[word]})"
    return "".join(pieces)


def _compiled(rules: Rules, key: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        hint = "Write a regular expression as Python has them; year, month and day once in a folder at most."
        raise rules.wrong(key, f"is no pattern: {error}", hint) from error


def _tables(where: str, text: str) -> dict[str, dict[str, Any]]:
    """The tables of one file, every line of them judged by itself."""
    try:
        said = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(
            f"{where} is not TOML: {error}",
            hint="docs/reference/naming.md shows how rules are written.",
        ) from error
    tables: dict[str, dict[str, Any]] = {table: {} for table in _TABLES}
    for table, lines in said.items():
        if table not in _TABLES:
            raise _wrong(where, table, "is no table of naming rules", _meant(table, _TABLES))
        if not isinstance(lines, dict):
            raise _wrong(
                where,
                table,
                "is not a table",
                f"Write [{table}] on a line, and its rules below it.",
            )
        for key, value in lines.items():
            _judge(where, table, key, value)
        tables[table] = lines
    return tables


def _judge(where: str, table: str, key: str, value: object) -> None:
    """Raises SettingsError when one line of a file cannot be a rule."""
    line = f'{table}."{key}"' if table == "aliases" else f"{table}.{key}"
    wanted = _TABLES[table]
    if type(value) is not wanted:
        raise _wrong(where, line, f"is {value!r}", f"Write {_KINDS_OF_VALUES[wanted]}.")
    if table in _OF_SCHEMES and not _SCHEME.fullmatch(key):
        raise _wrong(
            where, line, "names no scheme", "Write what stands before '://', in lower case: s3."
        )
    if table == "schemes" and not _SCHEME.fullmatch(str(value)):
        raise _wrong(
            where,
            line,
            f"is {value!r}, which is no scheme",
            "Write it in lower case, without '://': s3.",
        )
    if table == "ports" and not (isinstance(value, int) and 0 < value <= _PORT_MAX):
        raise _wrong(
            where, line, f"is {value!r}, which is no port", f"Write a number from 1 to {_PORT_MAX}."
        )
    if table == "paths" and value not in _KINDS:
        raise _wrong(where, line, f"is {value!r}", f"Write one of {', '.join(_KINDS)}.")
    if table == "aliases" and not (key.strip() and str(value).strip()):
        raise _wrong(where, line, "has an empty side", "Write a namespace on either side.")
    if table == "words" and not re.fullmatch(r"\w+", key):
        raise _wrong(where, line, "is no word", "Write it in letters, digits and underscores.")


def _meant(table: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(table, list(known), n=1)
    return f"Did you mean [{close[0]}]?" if close else f"The tables are {', '.join(known)}."


def _wrong(where: str, key: str, problem: str, hint: str) -> SettingsError:
    return SettingsError(f"{where}: {key} {problem}", hint=hint)
