"""What may be set on a read or a write, and what the environment says where nothing is.

Options are read on the driver; what executors need goes to them with the work, so that they need no settings of their
own. Every complaint names the option.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from headwater import settings
from headwater.errors import SettingsError
from headwater.spark_source.tables import LINEAGE, LINEAGE_EDGES, TABLES, kind_named

# kind -> the columns that what is written may have; those with True must be there.
WRITTEN: dict[str, dict[str, bool]] = {
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
_OF_LINEAGE = ("urn", "direction", "depth")
_WRITE = ("kind", "url", "accessKey", "seconds")
_GRAPH_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True)
class Reading:
    """What is read, and from where. `partitions` 0: as many as the size of it asks for."""

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
class Writing:
    """What is written, and to which API."""

    kind: str
    url: str
    access_key: str | None = field(repr=False)
    seconds: float


def kind_read(options: Mapping[str, str]) -> str:
    """What `kind` says. Raises SettingsError."""
    kind = options.get("kind")
    if not kind:
        raise SettingsError(f"option 'kind' is missing: set it to one of {', '.join(TABLES)}")
    return kind_named(kind)


def reading(options: Mapping[str, str], environment: Mapping[str, str] | None = None) -> Reading:
    """The options of a read; what is not set is as the HEADWATER_NEO4J_ settings say. Raises SettingsError."""
    kind = kind_read(options)
    is_walk = kind in {LINEAGE, LINEAGE_EDGES}
    _refuse_unknown(options, _READ + (_OF_LINEAGE if is_walk else ()), f"read of {kind}")
    loaded = settings.load(os.environ if environment is None else environment)
    direction = options.get("direction", "BOTH").upper()
    if direction not in DIRECTIONS:
        raise SettingsError(f"option 'direction': {direction!r} is none of {', '.join(DIRECTIONS)}")
    if is_walk and not options.get("urn"):
        raise SettingsError("option 'urn' is missing: the lineage of which node?")
    return Reading(
        kind=kind,
        uri=_address(
            options.get("url", loaded.neo4j_uri),
            _GRAPH_SCHEMES,
            "Neo4j, for example bolt://127.0.0.1:7687",
        ),
        user=options.get("user", loaded.neo4j_user),
        password=options["password"] if "password" in options else loaded.password(),
        database=options.get("database", loaded.neo4j_database),
        partitions=_whole(options, "partitions", 0, PARTITIONS_MAX),
        seconds=_seconds(options, READ_SECONDS_DEFAULT),
        urn=options.get("urn", ""),
        direction=direction,
        depth=_whole(options, "depth", DEPTH_DEFAULT, DEPTH_MAX),
    )


def writing(options: Mapping[str, str], environment: Mapping[str, str] | None = None) -> Writing:
    """The options of a write. Raises SettingsError."""
    environment = os.environ if environment is None else environment
    kind = options.get("kind", "").strip().lower()
    if kind not in WRITTEN:
        raise SettingsError(
            f"option 'kind': {kind!r} cannot be written, only {' and '.join(WRITTEN)}"
        )
    _refuse_unknown(options, _WRITE, f"write of {kind}")
    return Writing(
        kind=kind,
        url=_address(
            options.get("url", API_URL),
            ("http", "https"),
            f"Headwater's API, for example {API_URL}",
        ),
        access_key=options.get("accessKey") or environment.get(API_KEY) or None,
        seconds=_seconds(options, SEND_SECONDS_DEFAULT),
    )


def _refuse_unknown(options: Mapping[str, str], known: tuple[str, ...], where: str) -> None:
    by_name = {name.lower(): name for name in known}
    for option in options:
        if option.lower() not in by_name:
            close = difflib.get_close_matches(option.lower(), by_name, n=1)
            meant = (
                f"Did you mean {by_name[close[0]]!r}?" if close else f"It knows {', '.join(known)}."
            )
            raise SettingsError(f"option {option!r} is none of a {where}. {meant}")


def _address(url: str, schemes: tuple[str, ...], what: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in schemes or not parts.hostname:
        raise SettingsError(f"option 'url': {url!r} is no address of {what}")
    return url


def _whole(options: Mapping[str, str], name: str, default: int, most: int) -> int:
    if name not in options:
        return default
    text = options[name]
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= most:
        raise SettingsError(f"option {name!r}: {text!r} is no number from 1 to {most}")
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
        raise SettingsError(f"option 'seconds': {text!r} is no number of seconds above 0")
    return seconds
