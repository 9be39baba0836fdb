"""The options of reads and writes, with defaults from the environment.

The driver reads the options and sends them to the executors, which need no settings of their own.
Every error names the option.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from headwater import settings
from headwater.addresses import is_plain, shown
from headwater.errors import SettingsError
from headwater.spark_source.tables import LINEAGE, LINEAGE_EDGES, TABLES, resolve_kind

# By kind: the columns that a written frame may have; those with True are required.
WRITABLE_COLUMNS: dict[str, dict[str, bool]] = {
    "answers": {
        "answerId": True,
        "cites": True,
        "type": False,
        "content": False,
        "generatedAt": False,
        "generatedBy": False,
    },
    "tags": {"urn": True, "tags": True},
}
READ_SECONDS_DEFAULT = 600.0
SEND_SECONDS_DEFAULT = 30.0
PARTITIONS_MAX = 10_000
API_URL = "http://127.0.0.1:8000"
API_KEY = "HEADWATER_API_KEY"
DEPTH_DEFAULT, DEPTH_MAX = 10, 50
DIRECTIONS = ("UPSTREAM", "DOWNSTREAM", "BOTH")

_READ = ("kind", "url", "user", "password", "database", "partitions", "seconds")
_LINEAGE = ("urn", "direction", "depth")
_WRITE = ("kind", "url", "accessKey", "seconds")
_GRAPH_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True)
class ReadOptions:
    """The options of a read. `partitions` 0 chooses the number by the size of the table."""

    kind: str
    uri: str
    user: str
    password: str = field(repr=False)
    database: str
    partitions: int
    seconds: float
    urn: str = ""
    direction: str = "BOTH"
    depth: int = DEPTH_DEFAULT


@dataclass(frozen=True)
class WriteOptions:
    """The options of a write."""

    kind: str
    url: str
    access_key: str | None = field(repr=False)
    seconds: float


def required_kind(options: Mapping[str, str]) -> str:
    """Return the value of the option `kind`.

    Args:
        options: The options of a read.

    Raises:
        SettingsError: The option is missing, or not a kind.
    """
    kind = options.get("kind")
    if not kind:
        raise SettingsError(f"option 'kind' is missing: set it to one of {', '.join(TABLES)}")
    return resolve_kind(kind)


def read_options(
    options: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> ReadOptions:
    """Parse the options of a read.

    Args:
        options: The options; missing ones come from the HEADWATER_NEO4J_ settings.
        environment: The environment of the settings; None is that of this process.

    Raises:
        SettingsError: An option is unknown, missing or not valid.
    """
    kind = required_kind(options)
    is_lineage = kind in {LINEAGE, LINEAGE_EDGES}
    _refuse_unknown(options, _READ + (_LINEAGE if is_lineage else ()), f"read of {kind}")
    loaded = settings.load(os.environ if environment is None else environment)
    direction = options.get("direction", "BOTH").upper()
    if direction not in DIRECTIONS:
        raise SettingsError(
            f"option 'direction': {direction!r} is not one of {', '.join(DIRECTIONS)}"
        )
    if is_lineage and not options.get("urn"):
        raise SettingsError("option 'urn' is missing: set it to the first node of the lineage")
    return ReadOptions(
        kind=kind,
        uri=_address(
            options.get("url", loaded.neo4j_uri),
            _GRAPH_SCHEMES,
            "Neo4j, for example bolt://127.0.0.1:7687",
        ),
        user=options.get("user", loaded.neo4j_user),
        password=options["password"] if "password" in options else loaded.password(),
        database=options.get("database", loaded.neo4j_database),
        partitions=_integer(options, "partitions", 0, PARTITIONS_MAX),
        seconds=_seconds(options, READ_SECONDS_DEFAULT),
        urn=options.get("urn", ""),
        direction=direction,
        depth=_integer(options, "depth", DEPTH_DEFAULT, DEPTH_MAX),
    )


def write_options(
    options: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> WriteOptions:
    """Parse the options of a write.

    Args:
        options: The options.
        environment: The environment with HEADWATER_API_KEY; None is that of this process.

    Raises:
        SettingsError: An option is unknown, missing or not valid.
    """
    environment = os.environ if environment is None else environment
    kind = options.get("kind", "").strip().lower()
    if kind not in WRITABLE_COLUMNS:
        raise SettingsError(
            f"option 'kind': {kind!r} cannot be written, only {' and '.join(WRITABLE_COLUMNS)}"
        )
    _refuse_unknown(options, _WRITE, f"write of {kind}")
    return WriteOptions(
        kind=kind,
        url=_address(
            options.get("url", API_URL),
            ("http", "https"),
            f"Headwater's API, for example {API_URL}",
        ),
        access_key=options.get("accessKey") or environment.get(API_KEY) or None,
        seconds=_seconds(options, SEND_SECONDS_DEFAULT),
    )


def _refuse_unknown(options: Mapping[str, str], allowed: tuple[str, ...], operation: str) -> None:
    by_name = {name.lower(): name for name in allowed}
    for option in options:
        if option.lower() not in by_name:
            close = difflib.get_close_matches(option.lower(), by_name, n=1)
            meant = (
                f"Did you mean {by_name[close[0]]!r}?"
                if close
                else f"The options are {', '.join(allowed)}."
            )
            raise SettingsError(f"option {option!r} is not an option of a {operation}. {meant}")


def _address(url: str, schemes: tuple[str, ...], target: str) -> str:
    if "@" in url:
        raise SettingsError("option 'url' must not hold a user or a password")
    parts = urlsplit(url) if is_plain(url.partition("?")[0]) else None
    if parts is None or parts.scheme not in schemes or not parts.hostname:
        raise SettingsError(f"option 'url': {shown(url)!r} is not an address of {target}")
    return url


def _integer(options: Mapping[str, str], name: str, default: int, maximum: int) -> int:
    if name not in options:
        return default
    text = options[name]
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= maximum:
        raise SettingsError(f"option {name!r}: {text!r} is not a number from 1 to {maximum}")
    return number


def _seconds(options: Mapping[str, str], default: float) -> float:
    text = options.get("seconds")
    if text is None:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise SettingsError(f"option 'seconds': {text!r} is not a number of seconds above 0")
    return seconds
