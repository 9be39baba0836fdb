"""A real Keycloak from Maven, with the realm of `realm.json` and a second realm like it.

The archive is fetched once, checked by its SHA-256 and unpacked into the cache of Headwater. Each
server has a home of its own with links to it, and its data in memory only.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from headwater.errors import JavaError
from headwater.local.jars import default_cache
from headwater.local.java import Java, find_java
from headwater.local.ports import free_port
from headwater.local.startup import StartupWatch
from tests.conftest import jar_cache
from tests.end_to_end.conftest import answers_at

VERSION = "26.7.4"
SHA256 = "a286e98b4296d4e75ee88d8527c7cd463b307caa022f088c9f22cffccc741fa1"
REALM = Path(__file__).with_name("realm.json")
PASSWORD = "correct horse"
# The redirect address in `realm.json`, which has the port of the test instead.
PAGE = "http://127.0.0.1:8000"
STALL_SECONDS = 180.0
ADMIN = {"KC_BOOTSTRAP_ADMIN_USERNAME": "root", "KC_BOOTSTRAP_ADMIN_PASSWORD": "root"}
# Maven gives an answer up after this time without a byte of it.
MAVEN = ["mvn", "-q", "-B", "-Daether.connector.requestTimeout=60000"]
# bin/kc.sh starts Java like this. Here the pid must be that of Java, and the start short: the
# archive is built already (`kc.config.built`), and one compiler starts faster than two.
JVM = (
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dkc.config.built=true",
    "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/java.security=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)
OPTIONS = (
    "start",
    "--import-realm",
    "--db=dev-mem",
    "--cache=local",
    "--http-enabled=true",
    "--http-host=127.0.0.1",
)


class Keycloak:
    """A running Keycloak: its realms, the tokens that they issue, and their keys."""

    def __init__(self, url: str) -> None:
        self.url = url

    def issuer(self, realm: str = "data") -> str:
        """Return the issuer of a realm."""
        return f"{self.url}/realms/{realm}"

    def token(self, user: str = "", client: str = "programs", realm: str = "data") -> str:
        """Return an access token: of a user by password, without one of the client itself."""
        return str(self.tokens(user, client, realm)["access_token"])

    def tokens(self, user: str, client: str = "programs", realm: str = "data") -> dict[str, Any]:
        """Return all tokens of a grant."""
        grant = (
            {"grant_type": "password", "username": user, "password": PASSWORD}
            if user
            else {"grant_type": "client_credentials"}
        )
        return self.post_grant({**grant, "scope": "openid"}, client, realm)

    def post_grant(
        self, form: dict[str, str], client: str = "programs", realm: str = "data"
    ) -> dict[str, Any]:
        """Send a form to the token endpoint; return its answer."""
        answer = httpx.post(
            f"{self.issuer(realm)}/protocol/openid-connect/token",
            data=form,
            auth=(client, secret_of(client)),
            timeout=None,
        )
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def signing_keys(self) -> list[str]:
        """Return the ids of the providers that make RSA keys of signatures, the newest last."""
        found = self._administer("GET", "components?type=org.keycloak.keys.KeyProvider").json()
        made = [one for one in found if one["providerId"] == "rsa-generated"]
        return [one["id"] for one in sorted(made, key=_priority)]

    def add_signing_key(self) -> None:
        """Add a provider of RSA keys, which signs from now on."""
        self._administer(
            "POST",
            "components",
            name="rotated",
            providerId="rsa-generated",
            providerType="org.keycloak.keys.KeyProvider",
            config={"priority": ["200"], "algorithm": ["RS256"], "keySize": ["2048"]},
        )

    def remove_signing_key(self, id: str) -> None:
        """Remove a provider of keys, and so its keys."""
        self._administer("DELETE", f"components/{id}")

    def _administer(self, method: str, path: str, **content: Any) -> httpx.Response:
        form = {
            "grant_type": "password",
            "client_id": "admin-cli",
            "username": ADMIN["KC_BOOTSTRAP_ADMIN_USERNAME"],
            "password": ADMIN["KC_BOOTSTRAP_ADMIN_PASSWORD"],
        }
        address = f"{self.issuer('master')}/protocol/openid-connect/token"
        token = httpx.post(address, data=form, timeout=None).json()["access_token"]
        answer = httpx.request(
            method,
            f"{self.url}/admin/realms/data/{path}",
            headers={"authorization": f"Bearer {token}"},
            json=content or None,
            timeout=None,
        )
        assert answer.is_success, answer.text
        return answer


def secret_of(client: str) -> str:
    """Return the secret of a client of `realm.json`."""
    return f"secret of {client}"


@contextmanager
def serving_keycloak(folder: Path, page_url: str) -> Iterator[Keycloak]:
    """Run a Keycloak whose client `page` may lead back to `page_url`.

    Skips the test on a machine without Maven or without Java 17 or 21.
    """
    java, distribution = _java(), _distribution()
    home = folder / "keycloak"
    (home / "data" / "import").mkdir(parents=True)
    for name in ("conf", "lib", "providers", "themes"):
        (home / name).symlink_to(distribution / name)
    text = REALM.read_text().replace(PAGE, page_url)
    for realm in ("data", "other"):
        content = json.dumps({**json.loads(text), "realm": realm})
        (home / "data" / "import" / f"{realm}.json").write_text(content)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [
        str(java.program),
        *JVM,
        f"-Dkc.home.dir={home}",
        f"-Djboss.server.config.dir={home / 'conf'}",
        "-cp",
        str(home / "lib" / "quarkus-run.jar"),
        "io.quarkus.bootstrap.runner.QuarkusEntryPoint",
        *OPTIONS,
        f"--http-port={port}",
        f"--hostname={url}",
    ]
    log = folder / "keycloak.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **ADMIN}, stdout=output, stderr=output
        )
    try:
        watch = StartupWatch(process.pid, [log], STALL_SECONDS)
        # It listens only after it has imported the realms.
        while not answers_at(f"{url}/realms/data/.well-known/openid-configuration"):
            assert process.poll() is None, log.read_text()[-4_000:]
            assert not watch.is_stalled(), log.read_text()[-4_000:]
            time.sleep(0.1)
        yield Keycloak(url)
    finally:
        process.terminate()
        process.wait()


def _java() -> Java:
    try:
        return find_java()
    except JavaError as error:
        pytest.skip(f"Keycloak needs Java: {error.message}")


def _distribution() -> Path:
    """Return the folder of the unpacked archive in the cache; fetch it by Maven once."""
    cache = jar_cache() or default_cache()
    folder = cache / f"keycloak-{VERSION}"
    if folder.exists():
        return folder
    if shutil.which("mvn") is None:
        pytest.skip("Keycloak comes from Maven, and this machine has no `mvn`")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".keycloak-") as temporary:
        fetched = _fetch(Path(temporary))
        with zipfile.ZipFile(fetched) as archive:
            archive.extractall(temporary)
        try:
            (Path(temporary) / folder.name).rename(folder)
        except OSError:
            assert folder.exists(), "another process has put it there meanwhile"
    return folder


def _fetch(folder: Path) -> Path:
    """Fetch the archive into a folder, without any other artifact in it."""
    name = "keycloak-quarkus-dist"
    ended = subprocess.run(
        [
            *MAVEN,
            f"-Dmaven.repo.local={folder / 'repository'}",
            "dependency:get",
            "-Dtransitive=false",
            f"-Dartifact=org.keycloak:{name}:{VERSION}:zip",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-4_000:] + ended.stderr[-4_000:]
    [archive] = (folder / "repository").rglob(f"{name}-{VERSION}.zip")
    with archive.open("rb") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == SHA256
    return archive


def _priority(component: dict[str, Any]) -> int:
    return int(component["config"].get("priority", ["0"])[0])
