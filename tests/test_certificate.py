"""TLS of the API: real handshakes with certificates of an own authority, and changed files."""

from __future__ import annotations

import logging
import shutil
import socket
import ssl
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from msgspec import structs

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.certificate import ServerCertificate, expiry_of
from headwater.cli.doctor import _tls
from headwater.cli.serve import name_https
from headwater.client.address import Address
from headwater.client.remote import RemoteBackend
from headwater.errors import SettingsError, UnavailableError
from headwater.settings import Settings, load
from tests.access.test_guard import EVENT
from tests.tls_servers import Authority, day, tls_api

EVENTS = "/api/v1/lineage"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def files(authority: Authority) -> tuple[Path, Path]:
    return authority.issue("server", day(2030))


@pytest.fixture(scope="module")
def settings(
    tmp_path_factory: pytest.TempPathFactory, authority: Authority, files: tuple[Path, Path]
) -> Settings:
    # No server listens there: nothing here may need Neo4j.
    return load(
        {
            "HEADWATER_HOME": str(tmp_path_factory.mktemp("home")),
            "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:1",
            "HEADWATER_TLS_CERT": str(files[0]),
            "HEADWATER_TLS_KEY": str(files[1]),
            "HEADWATER_TLS_CLIENT_CA": str(authority.file),
            "HEADWATER_REQUIRE_KEYS": "true",
        }
    )


@pytest.fixture(scope="module")
def key(settings: Settings) -> str:
    store = AccessStore(settings.access_path)
    text, _ = Keys(store).create("ann", [Scope.READ, Scope.INGEST])
    store.close()
    return text


@pytest.fixture(scope="module")
def api(settings: Settings, key: str) -> Iterator[tuple[str, ServerCertificate]]:
    assert key
    with tls_api(settings) as running:
        yield running


@pytest.fixture
def restored(authority: Authority) -> Iterator[None]:
    """Restore a good certificate after a test that writes others."""
    yield
    authority.issue("server", day(2030))


def served_expiry(address: str, authority: Authority) -> int:
    """Return the year in which the certificate of a new connection expires."""
    url = urlsplit(address)
    context = ssl.create_default_context(cafile=authority.file)
    with (
        socket.create_connection((url.hostname, url.port), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        certificate = connection.getpeercert(binary_form=True)
        assert certificate
        return x509.load_der_x509_certificate(certificate).not_valid_after_utc.year


def metric(address: str, authority: Authority, key: str, name: str) -> float:
    with authority.client() as client:
        text = client.get(f"{address}/metrics", headers=bearer(key)).text
    [line] = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_only_the_right_authority_and_protocol(
    api: tuple[str, ServerCertificate], authority: Authority
) -> None:
    address, _ = api
    with authority.client() as client:
        assert client.get(f"{address}/healthz").text == "ok\n"
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{address}/healthz", trust_env=False)
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"{address.replace('https', 'http')}/healthz", trust_env=False)
    url = urlsplit(address)
    old = ssl.create_default_context(cafile=authority.file)
    old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    with (
        socket.create_connection((url.hostname, url.port), timeout=60) as plain,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        old.wrap_socket(plain, server_hostname="localhost")


@pytest.mark.usefixtures("restored")
def test_new_files_count_from_the_next_connection_on(
    api: tuple[str, ServerCertificate], authority: Authority, key: str
) -> None:
    address, _ = api
    with authority.client() as client:
        # An open connection goes on.
        client.get(f"{address}/healthz")
        assert served_expiry(address, authority) == 2030
        authority.issue("server", day(2035))
        assert served_expiry(address, authority) == 2035
        assert client.get(f"{address}/healthz").status_code == 200
    expiry = metric(address, authority, key, "headwater_tls_certificate_expiry_seconds")
    assert expiry == day(2035).timestamp()


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("broken", ["no PEM", "other key", "missing", "expired"])
def test_broken_files_leave_the_last_good_certificate(
    api: tuple[str, ServerCertificate],
    authority: Authority,
    files: tuple[Path, Path],
    key: str,
    broken: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    address, certificate = api
    assert served_expiry(address, authority) == 2030
    before = certificate.failed_reloads
    if broken == "no PEM":
        files[0].write_text("no certificate")
    elif broken == "other key":
        other = authority.issue("other", day(2040))
        files[0].write_bytes(other[0].read_bytes())
    elif broken == "missing":
        files[1].unlink()
    else:
        authority.issue("server", day(2020))
    assert served_expiry(address, authority) == 2030
    assert served_expiry(address, authority) == 2030
    # One change is one failure, however many connections follow.
    failures = metric(address, authority, key, "headwater_tls_reload_failures_total")
    assert failures == before + 1
    assert [one.levelname for one in caplog.records if "certificate_" in one.msg] == ["ERROR"]
    authority.issue("server", day(2031))
    assert served_expiry(address, authority) == 2031


def test_events_need_a_certificate_of_the_client_and_a_key(
    api: tuple[str, ServerCertificate], authority: Authority, key: str, tmp_path: Path
) -> None:
    address, _ = api
    mutation = 'mutation { registerSource(input: {namespace: "n", name: "a"}) { urn } }'
    read = "{ __schema { queryType { name } } }"
    with authority.client() as plain:
        refused = plain.post(f"{address}{EVENTS}", json=EVENT, headers=bearer(key))
        assert refused.status_code == 403
        assert "client's certificate" in refused.json()["error"]["message"]
        # Questions need the key alone.
        asked = plain.post(f"{address}/graphql", json={"query": read}, headers=bearer(key))
        assert asked.json()["data"]["__schema"]["queryType"]["name"] == "Query"
        written = plain.post(f"{address}/graphql", json={"query": mutation}, headers=bearer(key))
        assert written.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    own = authority.issue("client")
    with authority.client(own) as trusted:
        accepted = trusted.post(f"{address}{EVENTS}", json=EVENT, headers=bearer(key))
        assert accepted.status_code == 201
        written = trusted.post(f"{address}/graphql", json={"query": mutation}, headers=bearer(key))
        assert "errors" not in written.json()
        assert trusted.post(f"{address}{EVENTS}", json=EVENT).status_code == 401
    foreign = Authority(tmp_path / "foreign").issue("client")
    with authority.client(foreign) as stranger, pytest.raises(httpx.HTTPError):
        stranger.post(f"{address}{EVENTS}", json=EVENT, headers=bearer(key))


def visit(
    address: str, context: ssl.SSLContext, session: ssl.SSLSession | None = None
) -> tuple[bool, ssl.SSLSession | None]:
    """Return True if the API answers, and the session of the connection."""
    url = urlsplit(address)
    try:
        with (
            socket.create_connection((url.hostname, url.port), timeout=60) as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as connection,
        ):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            return connection.recv(1_000).startswith(b"HTTP/1.1 200 "), connection.session
    except (ssl.SSLError, ConnectionError):
        return False, None


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_new_authority_of_clients_counts_from_the_next_connection_on(
    settings: Settings, authority: Authority, key: str, tmp_path: Path, version: ssl.TLSVersion
) -> None:
    assert key
    old, new = Authority(tmp_path / "old"), Authority(tmp_path / "new")
    file = tmp_path / "senders.pem"
    shutil.copy(old.file, file)

    def context_of(own: Authority) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=authority.file)
        context.maximum_version = version
        context.load_cert_chain(*own.issue("client"))
        return context

    first, second = context_of(old), context_of(new)
    is_accepted = version == ssl.TLSVersion.TLSv1_3
    with tls_api(structs.replace(settings, tls_client_ca=str(file))) as (address, _):
        answered, session = visit(address, first)
        assert answered is is_accepted
        assert visit(address, second)[0] is False
        renewed = tmp_path / "renewed.pem"
        shutil.copy(new.file, renewed)
        renewed.replace(file)
        assert visit(address, second)[0] is is_accepted
        assert visit(address, first)[0] is False
        # A session that goes on would need no certificate.
        assert visit(address, first, session)[0] is False


def test_the_cookie_of_a_session_is_secure(
    api: tuple[str, ServerCertificate], authority: Authority, key: str
) -> None:
    address, _ = api
    with authority.client() as client:
        answer = client.post(f"{address}/session", json={"key": key}, headers={"Origin": address})
        assert answer.status_code == 200
        [cookie] = SimpleCookie(answer.headers["set-cookie"]).values()
        assert (cookie.key, cookie["secure"]) == ("__Host-headwater_session", True)
        assert client.get(f"{address}/session").json()["principal"]["name"] == "ann"


def test_commands_and_clients_trust_the_authority_in_ssl_cert_file(
    api: tuple[str, ServerCertificate],
    authority: Authority,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = Address(api[0], key, "the test")
    with pytest.raises(UnavailableError, match="is not trusted") as refused:
        RemoteBackend(address).get("/openapi.json")
    assert "SSL_CERT_FILE" in refused.value.hint
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    assert RemoteBackend(address).get("/openapi.json")["openapi"]


def test_doctor_warns_thirty_days_before_the_end(authority: Authority, settings: Settings) -> None:
    assert _tls(settings).ok
    assert _tls(settings).found == "the certificate expires at 2030-01-01 00:00 UTC"
    soon = authority.issue("soon", expiry_of(Path(settings.tls_cert)).replace(year=2020))
    named = {"HEADWATER_TLS_CERT": str(soon[0]), "HEADWATER_TLS_KEY": str(soon[1])}
    late = _tls(load(named))
    assert (late.ok, late.found) == (False, "the certificate expired at 2020-01-01 00:00 UTC")
    assert not _tls(Settings(host="0.0.0.0")).ok
    assert _tls(Settings(host="0.0.0.0", proxy_addresses="10.0.0.5")).ok


def test_the_log_names_https(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("uvicorn.error")
    monkeypatch.setattr(logger, "filters", [name_https])
    config = uvicorn.Config("none", port=8443, log_config=None)
    config.ssl = None
    with caplog.at_level("INFO", logger.name):
        uvicorn.Server(config)._log_started_message([])
    assert caplog.messages == ["Uvicorn running on https://127.0.0.1:8443 (Press CTRL+C to quit)"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"TLS_CERT": "a.pem"}, "belong together"),
        ({"TLS_CLIENT_CA": "a.pem"}, "needs HEADWATER_TLS_CERT"),
        ({"PROXY_ADDRESSES": "10.0.0.5, *"}, "is not a list of IP addresses and networks"),
        ({"NEO4J_CA": "a.pem"}, "needs an address of Neo4j with TLS, and the scheme is 'bolt'"),
    ],
)
def test_wrong_settings(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load({f"HEADWATER_{name}": value for name, value in wrong.items()})


def test_files_that_are_missing_or_encrypted_are_named(
    authority: Authority, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=r"none\.pem"):
        ServerCertificate(tmp_path / "none.pem", tmp_path / "none.key")
    certificate, key = authority.issue("encrypted")
    private = load_pem_private_key(key.read_bytes(), password=None)
    sealed = BestAvailableEncryption(b"secret")
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed)
    key.write_bytes(pem)
    with pytest.raises(SettingsError, match=r"encrypted\.key") as refused:
        ServerCertificate(certificate, key)
    assert "without a password" in refused.value.hint
