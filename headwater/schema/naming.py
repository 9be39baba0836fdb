"""One name per dataset: what producers write differently and mean alike is made one, by rules that
are data.

`normalise("s3a://lake/", "/orders/dt=2026-01-31/")` is (`s3://lake`, `orders`). The rules stand in
`naming.toml`, and `load` puts a user's own on top; here is only how they are applied, in this
order:

1. the namespace: spelling of its scheme, case and port of its host, no trailing slash, then its
   alias;
2. a name that repeats its namespace (`s3a://lake/orders` in `s3://lake`) loses it, and folders that
   stand in a namespace (`s3://lake/marts` and `orders`) go to the name: the specification reads
   both as one URI;
3. names that are paths: slashes in a row and at the end, then partitions.

Normalising twice is normalising once, nothing is ever refused, and what is not recognised comes
through as sent.
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
# user@, hosts, and what some drivers write behind them: ;database=sales
_AUTHORITY = re.compile(r"([^;?#]*@)?([^;?#]*)(.*)", re.DOTALL)
_HOST = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]+)(?::([0-9]*))?")
_REMEMBERED = 65_536
# Longer names are rare, and would fill the memory that is meant for the others.
_REMEMBERED_CHARACTERS_MAX = 2_000


class Naming:
    """Naming rules, ready to be applied."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._schemes = naming_rules.resolve_chains(
            {scheme: kept for scheme, kept in rules.schemes.items() if scheme != kept},
            rules,
            "schemes",
        )
        # Whatever spelling of a scheme a line of the rules has, it is for all of them.
        self._ports = {self._scheme(scheme): port for scheme, port in rules.ports.items()}
        self._portless = {self._scheme(scheme): yes for scheme, yes in rules.portless.items()}
        self._buckets = {self._scheme(scheme): yes for scheme, yes in rules.buckets.items()}
        kinds = {self._scheme(scheme): kind for scheme, kind in rules.paths.items()}
        self._paths = {scheme: kind for scheme, kind in kinds.items() if kind != "tables"}
        self._partitions = naming_rules.partition_patterns(rules)
        self._aliases = self._read_aliases()
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._normalised)

    def __reduce__(self) -> tuple[type[Naming], tuple[Rules]]:
        return Naming, (self._rules,)  # what is remembered stays here

    def normalise(self, namespace: str, name: str) -> Name:
        """The one name of a dataset that goes by this one."""
        if len(namespace) + len(name) > _REMEMBERED_CHARACTERS_MAX:
            return self._normalised(namespace, name)
        return self._remembered(namespace, name)

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
            # A place of its own, or one told twice: which, nobody can say.
            return Name(base + (f"{'' if host else '://'}{folder}" if folder else ""), name)
        elif folder:
            name = f"{folder}/{name}"
        rooted = kind == "rooted" and (bool(host) or name.startswith("/"))
        return Name(base, self._tidy(name, rooted))

    def _datasource(self, namespace: str) -> tuple[str, str]:
        """A namespace in its kept form, and the folders that stood in it where names are paths."""
        found = _URI.fullmatch(namespace)
        if found is None:
            return namespace, ""
        scheme = self._scheme(found[1])
        path = (found[3] or "").rstrip("/")
        is_path = scheme in self._paths
        if found[2] is None and not is_path:
            return namespace, ""  # arn:aws:glue:..., team:sales: a colon is not yet a URI
        authority = self._authority(scheme, found[2] or "")
        if is_path:
            return (f"{scheme}://{authority}" if authority else scheme), path
        return (f"{scheme}://{authority}{path}" if authority or path else scheme), ""

    def _scheme(self, scheme: str) -> str:
        scheme = scheme.lower()
        return self._schemes.get(scheme, scheme)

    def _authority(self, scheme: str, authority: str) -> str:
        user, hosts, rest = _AUTHORITY.fullmatch(authority).groups("")  # type: ignore[union-attr]  # matches anything
        return user + ",".join(self._host(scheme, host) for host in hosts.split(",")) + rest

    def _host(self, scheme: str, text: str) -> str:
        if not self._buckets.get(scheme):
            text = text.lower()
        found = _HOST.fullmatch(text)
        if found is None:
            return text
        default = str(self._ports.get(scheme, ""))
        port = found[2] or default
        shown = port and not (port == default and self._portless.get(scheme))
        return f"{found[1]}:{port}" if shown else found[1]

    def _without_namespace(self, base: str, name: str) -> tuple[str, str] | None:
        """Namespace and path of a name that is a whole URI in this namespace; None for any other
        name.
        """
        found = _URI.fullmatch(name)
        if found is None or (found[2] is None and found[3] is None):
            return None
        scheme = self._scheme(found[1])
        path = found[3] or "/"
        if "://" in path or (not found[2] and self._paths.get(scheme) != "rooted"):
            return None
        said, _ = self._datasource(f"{scheme}://{found[2] or ''}")
        said = self._aliases.get(said, said)
        if said == base or (not found[2] and base.startswith(f"{scheme}://")):
            return base, path
        # The namespace says only the scheme, and the name says where.
        return (said, path) if base == scheme and said.startswith(f"{scheme}://") else None

    def _tidy(self, name: str, rooted: bool) -> str:
        folders = [folder for folder in name.split("/") if folder]
        left = len(folders)
        while cut := self._partition(folders, left):
            left -= cut
        path = "/".join(folders[:left])
        return f"/{path}" if rooted or not path else path

    def _partition(self, folders: list[str], left: int) -> int:
        """How many of the first `left` folders are, at their end, a partition; one folder always
        stays.
        """
        for patterns in self._partitions:
            if len(patterns) < left and _holds(patterns, folders[left - len(patterns) : left]):
                return len(patterns)
        return 0

    def _read_aliases(self) -> dict[str, str]:
        steps: dict[str, str] = {}
        for alias, target in self._rules.aliases.items():
            one, folder = self._datasource(alias)
            other, beneath = self._datasource(target)
            if folder or beneath:
                hint = "Name the whole namespace: an alias holds for all that is in it."
                raise self._rules.wrong(f'aliases."{alias}"', "names a folder", hint)
            # A namespace that stands for itself is how a user's file takes an alias of ours away.
            steps.pop(one, None)
            if one != other:
                steps[one] = other
        return naming_rules.resolve_chains(steps, self._rules, "aliases")


def _holds(patterns: Folders, folders: list[str]) -> bool:
    calendar: dict[str, str] = {}
    for pattern, folder in zip(patterns, folders, strict=True):
        found = pattern.fullmatch(folder)
        if found is None:
            return False
        calendar |= found.groupdict()
    return not calendar.keys() >= set(CALENDAR) or _is_day(*(calendar[word] for word in CALENDAR))


def _is_day(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def load_naming(path: Path | None = None) -> Naming:
    """Our own rules, with those of a user's file on top. Raises SettingsError that names what is
    wrong in the file.
    """
    return _packaged() if path is None else Naming(naming_rules.read_rules(path))


@cache
def _packaged() -> Naming:
    return Naming(naming_rules.read_rules())


def normalise(namespace: str, name: str) -> Name:
    """The one name of a dataset that goes by this one, by our own rules."""
    return _packaged().normalise(namespace, name)
