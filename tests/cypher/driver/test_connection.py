"""TLS to a real Neo4j with a certificate of an own authority."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import SettingsError, UnavailableError
from headwater.local import neo4j
from headwater.local.neo4j import LocalNeo4j, Running
from headwater.local.neo4j_settings import Sizes, neo4j_conf
from tests.conftest import jar_cache
from tests.faults.processes import wait_for
from tests.tls_servers import Authority

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Running]:
    """Run a Neo4j that offers TLS besides plain Bolt, by which its manager asks it."""
    certificate, key = authority.issue("neo4j", names=("localhost",))
    lines = {
        "server.bolt.tls_level": "OPTIONAL",
        "dbms.ssl.policy.bolt.enabled": "true",
        "dbms.ssl.policy.bolt.base_directory": str(authority.folder),
        "dbms.ssl.policy.bolt.private_key": str(key),
        "dbms.ssl.policy.bolt.public_certificate": str(certificate),
        "dbms.ssl.policy.bolt.client_auth": "NONE",
    }

    def conf(bolt_address: str, sizes: Sizes) -> str:
        more = "".join(f"{name}={value}\n" for name, value in lines.items())
        return neo4j_conf(bolt_address, sizes) + more

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neo4j, "neo4j_conf", conf)
        home = tmp_path_factory.mktemp("neo4j")
        with LocalNeo4j(home, bolt_port=0, cache=jar_cache()) as running:
            # The first handshakes of a cold server on a busy machine outlast the driver's limit.
            for scheme in ("bolt+s", "neo4j+s"):
                wait_for(scheme, partial(answers, running, scheme, authority.file), 60)
            yield running


def answers(server: Running, scheme: str, ca: Path) -> bool:
    try:
        return ask(server, scheme, ca) == 1
    except UnavailableError:
        return False


def ask(server: Running, scheme: str, ca: Path | str = "", host: str = "localhost") -> object:
    port = server.uri.rpartition(":")[2]
    database = Database(f"{scheme}://{host}:{port}", server.user, server.password, ca=str(ca))
    try:
        return database.ask("RETURN 1 AS one", {})[0]["one"]
    finally:
        database.close()


def test_tls_with_the_authority_of_a_file(server: Running, authority: Authority) -> None:
    assert ask(server, "bolt+s", authority.file) == 1
    assert ask(server, "neo4j+s", authority.file) == 1


def test_a_certificate_that_is_not_trusted_is_named(
    server: Running, authority: Authority, tmp_path: Path
) -> None:
    other = Authority(tmp_path / "other").file
    for ca in (other, ""):
        with pytest.raises(UnavailableError, match="certificate of Neo4j is not trusted") as error:
            ask(server, "bolt+s", ca)
        assert "HEADWATER_NEO4J_CA" in error.value.hint
    # The authority is right, and the name is not in the certificate.
    with pytest.raises(UnavailableError, match="is not trusted"):
        ask(server, "bolt+s", authority.file, "127.0.0.1")
    with pytest.raises(SettingsError, match="cannot be used"):
        ask(server, "bolt+s", tmp_path / "none.pem")
