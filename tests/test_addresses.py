"""Addresses in settings: what is one, and that no error prints a password."""

from __future__ import annotations

import pytest

from headwater.addresses import shown, validate_store
from headwater.errors import QueryError, SettingsError
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


SECRET_STORES = [
    "s3://u:S3CRET@b/x",
    "s3://S3CRET@b",
    "S3://u:S3CRET@b/x",
    "s3a://u:S3CRET@b",
    "gs://u:S3CRET@b",
    "abfs://u:S3CRET@b",
    "abfs://S3CRET@b.example.com",
    "hdfs://u:S3CRET@h:1/x",
    "s3://b/x?secret_key=S3CRET",
    "s3://b/x?access_key=a&secret_key=S3CRET&endpoint_override=u:S3CRET@localhost",
    "s3://b/x?endpoint_override=u:S3CRET@localhost",
    "s3://b/x?region=eu&sig=S3CRET",
    "s3://b/x#S3CRET",
    "ftp://u:S3CRET@h",
    "file://u:S3CRET@h/x",
    "FILE://u:S3CRET@h/x",
    "file:u:S3CRET@h",
    "s3:u:S3CRET@h",
    "abfss://c@a.dfs.core.windows.net/x?sig=S3CRET",
    "gs://anonymous@b?token=S3CRET",
    "s3://a:S3CRET",
    "s3:/u:S3CRET@b",
    "http://u:S3CRET@h",
    "x1://u/S3CRET@",
    "s3://u%3AS3CRET@b",
    "s3://u%3AS3CRET%40b",
    "s3:///u:S3CRET@b",
    "s3://u:p/S3CRET@b/x",
    "s3://u:S3CRET@",
    "gs://u:S3C/S3CRET@b",
    "s3://b/u:S3CRET%40b",
    "s3://b/p;password=S3CRET",
    "s3://b/p?endpoint_override=u:S3CRET%2540h",
]


@pytest.mark.parametrize("address", SECRET_STORES)
def test_a_store_whose_address_may_hold_a_secret_is_refused_and_not_printed(address: str) -> None:
    with pytest.raises(QueryError, match=r"the address \S*\.\.\. must have the form") as caught:
        validate_store(address)
    assert "S3C" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    "address",
    [
        "s3://bucket/lake",
        "s3://bucket/lake?region=eu-west-1&endpoint_override=localhost:9000&scheme=http",
        "abfss://container@account.dfs.core.windows.net/lake",
        "gs://anonymous@bucket/lake",
        "hdfs://name-node:8020/lake?replication=2",
        "hdfs:///lake",
        "hdfs://hive@name-node:8020/lake",
        "s3://bucket/team@corp/lake",
        "s3://bucket/lake?region=eu-west-1&tls_verify_certificates=false",
        "abfs://account@container/lake",
        "file:///srv/a@b",
        "file:///data/lake",
        "file:/data/lake",
    ],
)
def test_an_address_of_a_store_without_a_secret(address: str) -> None:
    validate_store(address)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("http://h:8000/path", "http://h:8000/path"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("localhost:8000", "localhost:8000"),
        ("abfss://box@one.dfs.core.windows.net/x", "abfss://box@one.dfs.core.windows.net/x"),
        ("http://h/x?key=S3CRET", "http://h/x?..."),
        ("h/x#S3CRET", "h/x#..."),
        ("u:S3CRET@h", "..."),
        ("http:u:S3CRET@h", "..."),
        ("http:\\\\u:S3CRET@h", "..."),
        ("http:///u:S3CRET@h", "http://..."),
        ("http://u:S3C?S3CRET@h", "http://..."),
        ("http://h;k=S3CRET", "http://..."),
        ("http://u:S3CRET", "http://..."),
        ("http://u%3AS3CRET%40h", "http://..."),
        ("http:u:S3CRET", "..."),
        ("http:/u:S3CRET", "..."),
        ("trino:S3CRET", "..."),
        ("host=h;password=S3CRET", "..."),
        ("db2://h:1/d:user=u;password=S3CRET;", "db2://..."),
        ("one:9092,[::1]:9093", "one:9092,[::1]:9093"),
        ("/data/date=2026-01-31", "/data/date=2026-01-31"),
    ],
)
def test_an_error_shows_only_the_parts_of_an_address_that_hold_no_secret(
    address: str, text: str
) -> None:
    assert shown(address) == text
