"""Roles, and which claims of a token give them: a TOML file of the operator.

    [[grant]]
    group = "data-stewards"       # a value of the claim of groups; * matches any characters
    role = "steward"
    namespaces = ["warehouse*"]   # default: all

    [[grant]]
    claim = "department"          # or any other claim, and a pattern of its value
    value = "analytics"
    role = "viewer"

| role | scopes |
|---|---|
| viewer | read |
| ingester | ingest |
| steward | read, steward |
| auditor | read, cypher; for all namespaces only |
| admin | admin; for all namespaces only |

A caller with several grants sees the namespaces of all that include read, and describes those of
the grants that include ingest or steward. With both, in different namespaces, it describes the
namespaces of both: no combination gives more than the grants themselves.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from headwater.access.principal import Principal, Scope
from headwater.errors import SettingsError
from headwater.schema.settings_files import read_settings_file
from headwater.schema.visibility import ALL, UNRESTRICTED, Visibility

GRANTS_MAX = 10_000
GROUP_PREFIX = "headwater-"
_NAME_CLAIMS = ("name", "preferred_username", "email")
_NAME_CHARACTERS_MAX = 100


class Role(StrEnum):
    """A set of scopes that a grant gives."""

    VIEWER = "viewer"
    INGESTER = "ingester"
    STEWARD = "steward"
    AUDITOR = "auditor"
    ADMIN = "admin"


SCOPES: Mapping[Role, frozenset[Scope]] = {
    Role.VIEWER: frozenset({Scope.READ}),
    Role.INGESTER: frozenset({Scope.INGEST}),
    Role.STEWARD: frozenset({Scope.READ, Scope.STEWARD}),
    Role.AUDITOR: frozenset({Scope.READ, Scope.CYPHER}),
    Role.ADMIN: frozenset({Scope.ADMIN}),
}
_WIDE = frozenset({Role.AUDITOR, Role.ADMIN})


class Grant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A role for the callers with a group or with a value of another claim."""

    role: Role
    group: str = ""
    claim: str = ""
    value: str = ""
    namespaces: tuple[str, ...] = (ALL,)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    grant: list[Grant] = []


class Roles:
    """The grants of an installation."""

    def __init__(self, grants: Iterable[Grant], groups_claim: str) -> None:
        self._grants = tuple(grants)
        self._groups_claim = groups_claim

    @property
    def claims(self) -> frozenset[str]:
        """Return the names of the claims that grants read."""
        named = {grant.claim for grant in self._grants if grant.claim}
        return frozenset({self._groups_claim, *named})

    def grants_of(self, claims: Mapping[str, Any]) -> list[Grant]:
        """Return the grants that verified claims give."""
        return [grant for grant in self._grants if self._matches(grant, claims)]

    def principal_of(self, claims: Mapping[str, Any]) -> Principal:
        """Return the principal of verified claims, without a scope if no grant matches."""
        grants = self.grants_of(claims)
        roles = {grant.role for grant in grants}
        scopes: frozenset[Scope] = frozenset().union(*(SCOPES[role] for role in roles))
        seen = _patterns(grants, Scope.READ)
        described = _patterns(grants, Scope.INGEST), _patterns(grants, Scope.STEWARD)
        is_admin = Scope.ADMIN in scopes
        return Principal(
            f"{claims['iss']}#{claims['sub']}",
            scopes,
            UNRESTRICTED if is_admin else Visibility(seen),
            UNRESTRICTED if is_admin else Visibility(_common(described)),
            display_name=_display_name(claims),
            has_key=False,
        )

    def _matches(self, grant: Grant, claims: Mapping[str, Any]) -> bool:
        name = grant.claim or self._groups_claim
        # Anyone may write any address into an account whose provider does not verify it.
        if name == "email" and claims.get("email_verified") is not True:
            return False
        pattern = Visibility((grant.value if grant.claim else grant.group,))
        return any(pattern.includes(value) for value in values_of(claims, name))


def values_of(claims: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a claim. A name that is no claim leads by its dots into objects."""
    found: Any = claims.get(name)
    if found is None:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = found if isinstance(found, list) else [found]
    return [value for value in listed if isinstance(value, str)]


def read_roles(path: Path | None, groups_claim: str) -> Roles:
    """Read the file of roles; without one, the group `headwater-viewer` gives viewer, and so on.

    Raises SettingsError for a file that cannot be read or used.
    """
    if path is None:
        grants = [Grant(role, group=f"{GROUP_PREFIX}{role}") for role in Role]
        return Roles(grants, groups_claim)
    try:
        content = tomllib.loads(read_settings_file(path))
        file = msgspec.convert(content, _File)
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"HEADWATER_OIDC_ROLES_FILE {path}: {error}",
            hint="docs/how-to/sign-in.md describes the file.",
        ) from error
    if len(file.grant) > GRANTS_MAX:
        raise SettingsError(f"{path} has more than {GRANTS_MAX:,} grants")
    for number, grant in enumerate(file.grant, start=1):
        problem = _problem(grant)
        if problem:
            raise SettingsError(f"{path}: grant {number} ({grant.role}): {problem}")
    return Roles(file.grant, groups_claim)


def _problem(grant: Grant) -> str:
    """Return what is wrong with a grant, or ""."""
    if bool(grant.group) == bool(grant.claim):
        return "write either `group`, or `claim` and `value`"
    if bool(grant.claim) != bool(grant.value):
        return "`claim` and `value` need each other"
    if not grant.namespaces or not all(grant.namespaces):
        return "a pattern of `namespaces` is empty; omit `namespaces` for all"
    if grant.role in _WIDE and ALL not in grant.namespaces:
        return f"the role {grant.role} cannot be limited to some namespaces"
    return ""


def _patterns(grants: Iterable[Grant], scope: Scope) -> tuple[str, ...]:
    found = [one for grant in grants if scope in SCOPES[grant.role] for one in grant.namespaces]
    return tuple(dict.fromkeys(found))


def _common(sides: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[str, ...]:
    """Return the patterns of the one side that has some, or those that both sides cover.

    A pattern whose text another pattern matches is covered by that one.
    """
    first, second = sides
    if not first or not second:
        return first or second
    covered = [one for one in first if Visibility(second).includes(one)]
    covered += [one for one in second if Visibility(first).includes(one)]
    return tuple(dict.fromkeys(covered))


def _display_name(claims: Mapping[str, Any]) -> str:
    for name in _NAME_CLAIMS:
        value = claims.get(name)
        if isinstance(value, str) and value.strip() and value.isprintable():
            return value.strip()[:_NAME_CHARACTERS_MAX]
    return ""
