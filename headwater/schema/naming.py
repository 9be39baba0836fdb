"""One name per dataset: different spellings of one location are normalised to one name.

`normalise("s3a://lake/", "/orders/dt=2026-01-31/")` is (`s3://lake`, `orders`). The rules are data,
in `naming.toml`; `load_naming` adds a user's rules. This module applies them, in this order:

1. The namespace: spelling of its scheme, case and port of its host, no trailing slash, then its
   alias.
2. A name that repeats its namespace (`s3a://lake/orders` in `s3://lake`) loses it. Folders in a
   namespace (`s3://lake/marts` and `orders`) move to the name: the specification reads both as one
   URI.
3. Names that are paths: repeated and trailing slashes, then partitions.

Normalising is idempotent and refuses nothing; an unknown form stays as sent.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cache, lru_cache
from pathlib import Path

from headwater.schema import naming_rules
from headwater.schema.facts import Name
from headwater.schema.naming_rules import CALENDAR, Folders, Rules

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):(?://([^/]*))?(/.*)?", re.DOTALL)
# user@, hosts, and suffixes of some drivers: ;database=sales
_AUTHORITY = re.compile(r"([^;?#]*@)?([^;?#]*+)(.*)", re.DOTALL)
_HOST = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]+)(?::([0-9]*))?")
_CACHED_NAMES_MAX = 65_536
_PRODUCERS_MAX = 4_096
# Longer names are rare, and would fill the cache.
_CACHED_CHARACTERS_MAX = 2_000


class Naming:
    """Compiled naming rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._schemes = naming_rules.resolve_chains(
            {scheme: kept for scheme, kept in rules.schemes.items() if scheme != kept},
            rules,
            "schemes",
        )
        # A rule holds for all spellings of its scheme.
        self._ports = {self._scheme(scheme): port for scheme, port in rules.ports.items()}
        self._portless = {self._scheme(scheme): yes for scheme, yes in rules.portless.items()}
        self._buckets = {self._scheme(scheme): yes for scheme, yes in rules.buckets.items()}
        kinds = {self._scheme(scheme): kind for scheme, kind in rules.paths.items()}
        self._paths = {scheme: kind for scheme, kind in kinds.items() if kind != "tables"}
        self._partitions = naming_rules.partition_patterns(rules)
        self._aliases = self._read_aliases()
        # The longest part of a producer's URI decides.
        by_length = sorted(rules.silent_writes.items(), key=lambda rule: -len(rule[0]))
        self._silent_writes = sorted(by_length, key=lambda rule: rule[0] == "*")
        self._silent_write_cached = lru_cache(maxsize=_PRODUCERS_MAX)(self._silent_write)
        self._normalise_cached = lru_cache(maxsize=_CACHED_NAMES_MAX)(self._normalised)

    def __reduce__(self) -> tuple[type[Naming], tuple[Rules]]:
        return Naming, (self._rules,)

    def normalise(self, namespace: str, name: str) -> Name:
        """Return the one name of a dataset with this spelling."""
        if len(namespace) + len(name) > _CACHED_CHARACTERS_MAX:
            return self._normalised(namespace, name)
        return self._normalise_cached(namespace, name)

    def silent_write(self, producer: str) -> str:
        """Return the meaning of a producer's silence about a write: append, overwrite, or compare
        (it is unknown).
        """
        return self._silent_write_cached(producer)

    def _silent_write(self, producer: str) -> str:
        for part, mode in self._silent_writes:
            if part == "*" or part in producer:
                return mode
        return "compare"

    def _normalised(self, namespace: str, name: str) -> Name:
        base, folder = self._datasource(namespace)
        base = self._aliases.get(base, base)
        scheme, _, host = base.partition("://")
        kind = self._paths.get(scheme)
        if kind is None:
            return Name(base, f"{folder.strip('/')}/{name}" if folder else name)
        inside = self._without_namespace(base, name)
        if inside is not None:
            base, name = inside
            host = base.partition("://")[2]
        elif "://" in name or (folder and kind == "rooted" and name.startswith("/")):
            # Another location, or the same one twice: the name does not show which.
            separator = "" if host or not folder else "://"
            return Name(f"{base}{separator}{folder}", name)
        elif folder:
            name = f"{folder}/{name}"
        rooted = kind == "rooted" and (bool(host) or name.startswith("/"))
        return Name(base, self._tidy(name, rooted))

    def _datasource(self, namespace: str) -> tuple[str, str]:
        """Return a normalised namespace, and the folders in it if its names are paths."""
        match = _URI.fullmatch(namespace)
        if match is None:
            return namespace, ""
        scheme = self._scheme(match[1])
        path = (match[3] or "").rstrip("/")
        is_path = scheme in self._paths
        if match[2] is None and not is_path:
            return namespace, ""  # arn:aws:glue:..., team:sales: a colon is not yet a URI
        authority = self._authority(scheme, match[2] or "")
        if is_path:
            return (f"{scheme}://{authority}" if authority else scheme), path
        return (f"{scheme}://{authority}{path}" if authority or path else scheme), ""

    def _scheme(self, scheme: str) -> str:
        scheme = scheme.lower()
        return self._schemes.get(scheme, scheme)

    def _authority(self, scheme: str, authority: str) -> str:
        user, hosts, rest = _AUTHORITY.fullmatch(authority).groups("")  # type: ignore[union-attr]
        return user + ",".join(self._host(scheme, host) for host in hosts.split(",")) + rest

    def _host(self, scheme: str, text: str) -> str:
        if not self._buckets.get(scheme):
            text = text.lower()
        match = _HOST.fullmatch(text)
        if match is None:
            return text
        default = str(self._ports.get(scheme, ""))
        port = match[2] or default
        shown = port and not (port == default and self._portless.get(scheme))
        return f"{match[1]}:{port}" if shown else match[1]

    def _without_namespace(self, base: str, name: str) -> tuple[str, str] | None:
        """Return namespace and path of a name that is a URI in this namespace; None for other
        names.
        """
        match = _URI.fullmatch(name)
        if match is None or (match[2] is None and match[3] is None):
            return None
        scheme = self._scheme(match[1])
        path = match[3] or "/"
        if "://" in path or (not match[2] and self._paths.get(scheme) != "rooted"):
            return None
        own, _ = self._datasource(f"{scheme}://{match[2] or ''}")
        own = self._aliases.get(own, own)
        if own == base or (not match[2] and base.startswith(f"{scheme}://")):
            return base, path
        # The namespace has only the scheme, and the name has the host.
        return (own, path) if base == scheme and own.startswith(f"{scheme}://") else None

    def _tidy(self, name: str, rooted: bool) -> str:
        folders = [folder for folder in name.split("/") if folder]
        left = len(folders)
        while cut := self._partition(folders, left):
            left -= cut
        path = "/".join(folders[:left])
        return f"/{path}" if rooted or not path else path

    def _partition(self, folders: list[str], left: int) -> int:
        """Return the number of trailing folders, of the first `left`, that are a partition; one
        always stays.
        """
        for patterns in self._partitions:
            if len(patterns) < left and _holds(patterns, folders[left - len(patterns) : left]):
                return len(patterns)
        return 0

    def _read_aliases(self) -> dict[str, str]:
        steps: dict[str, str] = {}
        for alias, target in self._rules.aliases.items():
            source, folder = self._datasource(alias)
            other, beneath = self._datasource(target)
            if folder or beneath:
                hint = "Name the whole namespace: an alias applies to all of it."
                raise self._rules.error(f'aliases."{alias}"', "names a folder", hint)
            # A namespace that is its own alias removes a default alias.
            steps.pop(source, None)
            if source != other:
                steps[source] = other
        return naming_rules.resolve_chains(steps, self._rules, "aliases")


def _holds(patterns: Folders, folders: list[str]) -> bool:
    calendar: dict[str, str] = {}
    for pattern, folder in zip(patterns, folders, strict=True):
        match = pattern.fullmatch(folder)
        if match is None:
            return False
        calendar |= match.groupdict()
    return not calendar.keys() >= set(CALENDAR) or _is_day(*(calendar[word] for word in CALENDAR))


def _is_day(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def load_naming(path: Path | None = None) -> Naming:
    """Load the default rules, overridden by a file. Raises SettingsError for a malformed file."""
    return _packaged() if path is None else Naming(naming_rules.read_rules(path))


@cache
def _packaged() -> Naming:
    return Naming(naming_rules.read_rules())


def normalise(namespace: str, name: str) -> Name:
    """Return the one name of a dataset with this spelling, by the default rules."""
    return _packaged().normalise(namespace, name)
