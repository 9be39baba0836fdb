"""Which roles, scopes and namespaces claims give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from headwater.access.events import ForeignEventError, authorize_event
from headwater.access.oidc.roles import Roles, read_roles, values_of
from headwater.access.principal import Principal, Scope
from headwater.errors import ForbiddenError, SettingsError
from headwater.schema.naming import load_naming
from tests.event_builders import run_event

FILE = """
[[grant]]
group = "data-*"
role = "viewer"
namespaces = ["db", "team-*"]

[[grant]]
group = "data-stewards"
role = "steward"
namespaces = ["team-a"]

[[grant]]
group = "loaders"
role = "ingester"
namespaces = ["team-*"]

[[grant]]
group = "bi"
role = "ingester"
namespaces = ["bi"]

[[grant]]
claim = "email"
value = "*@audit.example"
role = "auditor"

[[grant]]
claim = "realm_access.roles"
value = "headwater-admins"
role = "admin"
"""


@pytest.fixture
def roles(tmp_path: Path) -> Roles:
    return read(tmp_path, FILE)


def read(folder: Path, text: str) -> Roles:
    path = folder / "roles.toml"
    path.write_text(text)
    return read_roles(path, "groups")


def principal(roles: Roles, *groups: str, **claims: Any) -> Principal:
    sent = {"iss": "https://idp.example", "sub": "ann", "groups": list(groups), **claims}
    return roles.principal_of(sent)


def patterns(found: Principal) -> tuple[list[str], set[str], set[str]]:
    return sorted(found.scopes), set(found.visibility.patterns), set(found.writable.patterns)


def test_groups_give_roles_and_namespaces(roles: Roles) -> None:
    assert patterns(principal(roles)) == ([], set(), set())
    assert patterns(principal(roles, "sales")) == ([], set(), set())
    assert patterns(principal(roles, "data-science")) == (["read"], {"db", "team-*"}, set())
    assert patterns(principal(roles, "loaders")) == (["ingest"], set(), {"team-*"})
    stewards = principal(roles, "data-stewards")
    assert patterns(stewards) == (["read", "steward"], {"db", "team-*", "team-a"}, {"team-a"})
    assert (stewards.name, stewards.has_key) == ("https://idp.example#ann", False)


def test_no_combination_gives_more_than_its_grants(roles: Roles) -> None:
    both = principal(roles, "data-stewards", "loaders")
    assert patterns(both)[0] == ["ingest", "read", "steward"]
    # Every write needs ingest or steward, and only team-a has both.
    assert patterns(both)[2] == {"team-a"}
    assert patterns(principal(roles, "data-stewards", "bi"))[2] == set()
    # An auditor sees all namespaces and still describes those of the other grant only.
    auditor = principal(roles, "loaders", email="x@audit.example", email_verified=True)
    auditor.require(Scope.CYPHER)
    assert patterns(auditor) == (["cypher", "ingest", "read"], {"*"}, {"team-*"})


def test_the_writable_namespaces_limit_events(roles: Roles) -> None:
    naming = load_naming()
    loader = principal(roles, "loaders", email="x@audit.example", email_verified=True)
    for namespace, is_allowed in (("team-b", True), ("db", False), ("*", False)):
        event = run_event("r", job="load")
        event["job"]["namespace"] = namespace
        body = msgspec.json.encode(event)
        if is_allowed:
            authorize_event(loader, body, naming)
            continue
        with pytest.raises(ForeignEventError, match="does not cover"):
            authorize_event(loader, body, naming)


def test_an_address_counts_only_if_the_provider_verified_it(roles: Roles) -> None:
    for verified in (None, False, "true", 1):
        found = principal(roles, email="eve@audit.example", email_verified=verified)
        assert found.scopes == frozenset()


def test_a_claim_inside_an_object(roles: Roles) -> None:
    admin = principal(roles, realm_access={"roles": ["x", "headwater-admins"]})
    assert patterns(admin) == (["admin"], {"*"}, {"*"})
    url = "https://example.com/groups"
    assert values_of({url: "a"}, url) == ["a"]
    assert values_of({"a.b": ["x", 1, None]}, "a.b") == ["x"]
    assert values_of({"a": "x"}, "a.b") == []


def test_without_a_file_groups_are_named_after_roles() -> None:
    roles = read_roles(None, "groups")
    assert patterns(principal(roles, "headwater-viewer"))[:2] == (["read"], {"*"})
    assert principal(roles, "headwater-auditor").scopes == {Scope.READ, Scope.CYPHER}
    assert principal(roles, "headwater-ingester").scopes == {Scope.INGEST}
    assert principal(roles, "headwater-steward").scopes == {Scope.READ, Scope.STEWARD}
    assert principal(roles, "headwater-admin").scopes == {Scope.ADMIN}
    assert principal(roles, "admin", "viewer").scopes == frozenset()
    with pytest.raises(ForbiddenError, match="needs a role with scope read"):
        principal(roles).require(Scope.READ)


@pytest.mark.parametrize("groups", [None, "headwater-viewer", 5, {"headwater-viewer": 1}, [["x"]]])
def test_claims_of_other_types_are_no_groups(groups: object) -> None:
    found = principal(read_roles(None, "groups"), groups=groups)
    assert found.scopes == ({Scope.READ} if groups == "headwater-viewer" else frozenset())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[grant]]\nrole = 'viewer'", "either `group`"),
        ("[[grant]]\nrole = 'viewer'\ngroup = 'g'\nclaim = 'c'\nvalue = 'v'", "either `group`"),
        ("[[grant]]\nrole = 'viewer'\nclaim = 'c'", "need each other"),
        ("[[grant]]\nrole = 'viewer'\ngroup = 'g'\nnamespaces = []", "is empty"),
        ("[[grant]]\nrole = 'admin'\ngroup = 'g'\nnamespaces = ['a']", "cannot be limited"),
        ("[[grant]]\nrole = 'auditor'\ngroup = 'g'\nnamespaces = ['a']", "cannot be limited"),
        ("[[grant]]\nrole = 'owner'\ngroup = 'g'", "owner"),
        ("[[grant]]\ngroup = 'g'", "role"),
        ("[[grants]]\nrole = 'viewer'\ngroup = 'g'", "grants"),
        ("not toml", "roles.toml"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        read(tmp_path, text)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="HEADWATER_OIDC_ROLES_FILE"):
        read_roles(tmp_path / "none.toml", "groups")
