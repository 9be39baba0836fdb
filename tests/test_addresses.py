"""Addresses in settings: what is one, and that no error prints a password."""

from __future__ import annotations

import pytest

from headwater.errors import SettingsError
from headwater.settings import PREFIX, load
from tests.test_settings import OIDC


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("NEO4J_URI", "bolt://user:SECRETPW@h:7687"),
        ("NEO4J_URI", "bolt://user:SECRET/PW@h:7687"),
        ("NEO4J_URI", "neo4j+s://SECRETPW@h"),
        ("PUBLIC_URL", "https://user:SECRETPW@h"),
        ("PUBLIC_URL", "ftp://user:SECRETPW@h"),
        ("OIDC_ISSUER", "https://user:SECRETPW@h"),
        ("OIDC_ISSUER", "http://user:SECRETPW@h"),
        ("TRACE_URL", "https://user:SECRETPW@h/{traceId}"),
        ("TRACE_URL", "https://user:SECRETPW@h"),
        ("CORS_ORIGINS", "https://user:SECRETPW@h"),
        ("TILE_ORIGINS", "https://user:SECRETPW@h"),
        ("TILE_ORIGINS", "https://user:SECRETPW,more@h"),
        ("CORS_ORIGINS", "https://user:SECRETPW more@h"),
    ],
)
def test_an_address_with_a_password_is_refused_and_not_printed(variable: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{PREFIX}{variable} must not hold a user") as caught:
        load({"HEADWATER_OIDC_AUDIENCE": "a", **OIDC, f"{PREFIX}{variable}": value})
    assert "SECRET" not in caught.value.message + caught.value.hint
    assert caught.value.hint


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("NEO4J_URI", "bolt://h:7687?password=SECRETPW"),
        ("PUBLIC_URL", "https://h/?key=SECRETPW"),
        ("OIDC_ISSUER", "https://h/?key=SECRETPW"),
        ("OIDC_ISSUER", "https://h/#SECRETPW"),
        ("TRACE_URL", "https://h/?key=SECRETPW"),
        ("CORS_ORIGINS", "https://h/?key=SECRETPW"),
        ("TILE_ORIGINS", "https://h/?key=a,SECRETPW"),
    ],
)
def test_an_address_with_a_query_is_refused_without_it(variable: str, value: str) -> None:
    with pytest.raises(
        SettingsError, match=f"{PREFIX}{variable} '.*[?#]\\.\\.\\.' is not"
    ) as caught:
        load({"HEADWATER_OIDC_AUDIENCE": "a", **OIDC, f"{PREFIX}{variable}": value})
    assert "SECRET" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    "uri",
    [
        "bolt://[::1",
        "neo4j://h:abc",
        "bolt://h:7687?policy=eu",
        "neo4j://h?policy",
        "http://h:7687",
        "bolt://",
        "bolt://h/path",
    ],
)
def test_no_address_of_neo4j(uri: str) -> None:
    with pytest.raises(SettingsError, match="is not the address of a Neo4j"):
        load({"HEADWATER_NEO4J_URI": uri})


@pytest.mark.parametrize(
    "uri",
    [
        "bolt://[::1]:7687",
        "neo4j+ssc://h",
        "bolt+s://graph_1.example.com:7687/",
        "neo4j://h?p=eu&q=1",
    ],
)
def test_addresses_of_neo4j(uri: str) -> None:
    assert load({"HEADWATER_NEO4J_URI": uri}).neo4j_uri == uri


def test_an_at_sign_behind_the_host_is_no_password() -> None:
    url = "https://h/explore?by=@me&trace={traceId}"
    assert load({"HEADWATER_TRACE_URL": url}).trace_url == url
