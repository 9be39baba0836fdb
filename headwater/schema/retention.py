"""Retention of run detail: rules by namespace, and the horizon that they give at one moment.

A horizon is a pure function of rules and a moment, and of the id and namespaces of a run. It
depends on nothing in the graph, so a late event of a run gets the same decision as the whole run. A
run with jobs of several namespaces is retained as long as the longest rule states.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from headwater.errors import SettingsError
from headwater.schema.durations import DAYS_MAX
from headwater.schema.settings_files import read_settings_file
from headwater.schema.visibility import Visibility

MICROSECONDS_A_DAY = 86_400_000_000
_YEAR_10000 = 253_402_300_800 * 1_000_000
_TABLES = ("days", "sample", "sampled_days")
_HINT = 'It has the tables [days], [sample] and [sampled_days], of lines like "team-a*" = 30.'


class Rules(msgspec.Struct, frozen=True):
    """The three tables, by namespace pattern.

    `days` has days; `sample` the share of runs (0 to 1) whose detail is retained longer;
    `sampled_days` the days of those (0: forever). Each table has the pattern `*`. Raises
    SettingsError without it, and for a number out of range.
    """

    days: dict[str, float]
    sample: dict[str, float]
    sampled_days: dict[str, float]

    def __post_init__(self) -> None:
        for table in _TABLES:
            lines = getattr(self, table)
            if "*" not in lines:
                raise SettingsError(f"{table} has no number for `*`", hint=_HINT)
            for pattern, value in lines.items():
                _check_number(f'{table}."{pattern}"', table, value)

    def of(self, namespace: str) -> tuple[float, float, float]:
        """Return days, share and days of the share for a namespace."""
        return (
            _fitting(self.days, namespace),
            _fitting(self.sample, namespace),
            _fitting(self.sampled_days, namespace),
        )


class Horizon(msgspec.Struct, frozen=True):
    """Rules applied at a moment (microseconds since 1970).

    Raises SettingsError for a moment before 1970 or after the year 9999.
    """

    rules: Rules
    at: int

    def __post_init__(self) -> None:
        if not 0 <= self.at < _YEAR_10000:
            raise SettingsError(f"the horizon {self.at} is no moment from 1970 to the year 9999")

    def of(self, run_id: str, namespaces: Iterable[str]) -> int | None:
        """Return the oldest last event at which a run is retained; None if it is retained
        forever.
        """
        oldest: int | None = None
        for namespace in namespaces:
            days, share, longer = self.rules.of(namespace)
            if sample_position(run_id) < share:
                if not longer:
                    return None
                days = max(days, longer)
            until = self.at - int(days * MICROSECONDS_A_DAY)
            oldest = until if oldest is None else min(oldest, until)
        return oldest

    def until(self, now: int) -> Horizon:
        """Return the horizon at its moment, or at `now` if that is earlier."""
        return Horizon(self.rules, min(self.at, now))

    @property
    def latest(self) -> int:
        """Return the latest expiry: a run with a later event is not expired."""
        return self.at - int(min(self.rules.days.values()) * MICROSECONDS_A_DAY)


def sample_position(run_id: str) -> float:
    """Return the position of a run between 0 and 1: stable, evenly spread, not chosen by its
    sender.
    """
    digest = hashlib.blake2b(run_id.encode(), digest_size=7, person=b"hw-sample").digest()
    return int.from_bytes(digest, "big") / 2.0**56


def read_rules(path: Path | None = None) -> Rules:
    """Read the default rules, overridden by a file. Raises SettingsError for a malformed file."""
    tables = _tables(
        "retention.toml",
        files("headwater.schema").joinpath("retention.toml").read_text(encoding="utf-8"),
    )
    if path is not None:
        try:
            text = read_settings_file(path)
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"{path}: {error}", hint="Name a file of retention rules, UTF-8."
            ) from error
        for table, lines in _tables(str(path), text).items():
            tables[table] |= lines
    return Rules(**tables)


def override(rules: Rules, *, days: float | None = None, sample: float | None = None) -> Rules:
    """Return the rules with one number of days, or one share, for every namespace.

    Raises SettingsError for a number out of range.
    """
    if days is not None:
        _check_number("--days", "days", days)
    if sample is not None:
        _check_number("--sample", "sample", sample)
    return Rules(
        rules.days if days is None else {"*": days},
        rules.sample if sample is None else {"*": sample},
        rules.sampled_days,
    )


def _tables(file: str, text: str) -> dict[str, dict[str, float]]:
    try:
        tables: Mapping[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{file}: {error}", hint="Write it as TOML.") from error
    if unknown := sorted(tables.keys() - set(_TABLES)):
        raise SettingsError(f"{file}: unknown table {unknown[0]!r}", hint=_HINT)
    return {table: _lines(file, table, tables.get(table, {})) for table in _TABLES}


def _lines(file: str, table: str, lines: object) -> dict[str, float]:
    if not isinstance(lines, dict):
        raise SettingsError(f"{file}: {table} is no table", hint=_HINT)
    for pattern, value in lines.items():
        _check_number(f'{file}: {table}."{pattern}"', table, value)
    return {pattern: float(value) for pattern, value in lines.items()}


def _check_number(name: str, table: str, value: Any) -> None:
    """Raise SettingsError, which names the number, if it is out of the range of its table."""
    maximum = 1 if table == "sample" else DAYS_MAX
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= maximum or (table == "days" and value == 0):
        hint = f"Write a number from {'above 0' if table == 'days' else '0'} to {maximum}."
        raise SettingsError(f"{name} is {value!r}", hint=hint)


def _fitting(table: Mapping[str, float], namespace: str) -> float:
    """Return the value of the longest matching pattern; of equal lengths the first by name."""
    fits = [pattern for pattern in table if _pattern(pattern).includes(namespace)]
    return table[min(fits, key=lambda pattern: (-len(pattern), pattern))]


@cache
def _pattern(pattern: str) -> Visibility:
    return Visibility((pattern,))


def is_expired(
    horizons: Iterable[Horizon], run_id: str, namespaces: Iterable[str], last: int
) -> bool:
    """Return True if any horizon expires a run whose last event was at `last`.

    A run without a namespace never expires.
    """
    namespaces = list(namespaces)
    expiries = (horizon.of(run_id, namespaces) for horizon in horizons)
    return any(until is not None and last < until for until in expiries)


def decode_horizons(text: str) -> tuple[list[Horizon], int]:
    """Return the horizons of a text that the graph stores, and the number of unreadable ones.

    An unreadable horizon expires no run.
    """
    horizons, unreadable = [], 0
    try:
        parts = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return [], 1
    for part in parts:
        try:
            horizons.append(msgspec.json.decode(part, type=Horizon))
        except (msgspec.DecodeError, SettingsError, RecursionError):
            unreadable += 1
    return horizons, unreadable


def add_horizon(horizons: Iterable[Horizon], horizon: Horizon) -> list[Horizon]:
    """Return the horizons with one more; equal rules keep only the later moment."""
    others = [other for other in horizons if other.rules != horizon.rules]
    latest = max([horizon.at, *(other.at for other in horizons if other.rules == horizon.rules)])
    return [*others, Horizon(horizon.rules, latest)]
