"""The example of nginx in front of an API: a real nginx with a certificate of an own authority."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.graphql.transport.websocket import PROTOCOL
from headwater.local.ports import accepts_connections, free_port
from headwater.settings import Settings, load
from tests.access.test_guard import EVENT
from tests.conftest import Neo4jServer
from tests.faults.processes import wait_for
from tests.graphql.subscribers import EVENTS, Served, receive, send
from tests.repo.repository import ROOT
from tests.run_builders import run, write_events
from tests.tls_servers import Authority

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
EXAMPLE = ROOT / "examples" / "nginx" / "headwater.conf"
FOREIGN = "203.0.113.9"
MAIN = """
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/headwater.conf;
}}
"""

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.skipif(not Path(NGINX).exists(), reason="no nginx on this machine"),
]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, neo4j_server: Neo4jServer) -> Settings:
    return load(
        {"HEADWATER_HOME": str(tmp_path_factory.mktemp("home"))},
        require_keys=True,
        port=0,
        log_level="critical",
        proxy_addresses="127.0.0.1",
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=neo4j_server.password,
    )


@pytest.fixture(scope="module")
def store(settings: Settings) -> Iterator[AccessStore]:
    store = AccessStore(settings.access_path)
    yield store
    store.close()


@pytest.fixture(scope="module")
def key(store: AccessStore) -> str:
    return Keys(store).create("ann", [Scope.READ, Scope.INGEST])[0]


@pytest.fixture(scope="module")
def api(settings: Settings, store: AccessStore, key: str, database: Database) -> Iterator[Served]:
    assert key
    assert database
    served = Served(settings, Keys(store))
    served.start()
    yield served
    served.stop()


@pytest.fixture(scope="module")
def proxy(
    api: Served, authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, int]]:
    """Run nginx with the example; yield its address, and its port without TLS."""
    folder = tmp_path_factory.mktemp("nginx")
    certificate, key = authority.issue("nginx")
    port, plain = free_port(), free_port()
    text = EXAMPLE.read_text("utf-8")
    for written, own in (
        ("127.0.0.1:8000", f"127.0.0.1:{api.port}"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("listen 80", f"listen 127.0.0.1:{plain}"),
        ("/etc/nginx/tls/headwater.pem", str(certificate)),
        ("/etc/nginx/tls/headwater.key", str(key)),
    ):
        assert text.count(written) == 1, written
        text = text.replace(written, own)
    (folder / "headwater.conf").write_text(text)
    # As root nginx runs its workers as another user, who may not write into the folder of a test.
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(user + MAIN.format(folder=folder))
    words = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        wait_for("nginx listens", lambda: accepts_connections(port, 1.0), 30)
        yield f"https://127.0.0.1:{port}", plain
    finally:
        process.terminate()
        process.wait(15)


@pytest.fixture(scope="module")
def client(proxy: tuple[str, int], authority: Authority, key: str) -> Iterator[httpx.Client]:
    with authority.client() as client:
        client.base_url = proxy[0]
        client.headers["Authorization"] = f"Bearer {key}"
        yield client


def test_page_events_and_questions(client: httpx.Client) -> None:
    page = client.get("/", headers={"Accept": "text/html"})
    assert (page.status_code, "<html" in page.text) == (200, True)
    assert client.post("/api/v1/lineage", json=EVENT).status_code == 201
    asked = client.post("/graphql", json={"query": '{ answer(answerId: "none") { urn } }'})
    assert asked.json()["data"] == {"answer": None}
    assert client.get("/metrics", headers={"Authorization": ""}).status_code == 401


def test_large_bodies_pass_up_to_the_limit_of_a_batch(client: httpx.Client) -> None:
    # More than nginx's own limit of 1 MB.
    batch = json.dumps([EVENT] * 4).encode() + b" " * (3 * 2**20)
    answer = client.post("/api/v1/lineage/batch", content=batch)
    assert (answer.status_code, answer.json()["summary"]["successful"]) == (200, 4)
    over = client.post("/api/v1/lineage/batch", content=b" " * (100 * 2**20 + 1))
    assert over.status_code == 413


def test_a_subscription(
    client: httpx.Client, authority: Authority, key: str, database: Database
) -> None:
    url = f"wss://{client.base_url.host}:{client.base_url.port}/graphql"
    context = ssl.create_default_context(cafile=authority.file)
    protocols = [Subprotocol(PROTOCOL)]
    with connect(url, ssl=context, subprotocols=protocols, open_timeout=60) as subscriber:
        send(subscriber, type="connection_init", payload={"authorization": f"Bearer {key}"})
        assert receive(subscriber, 60) == {"type": "connection_ack"}
        send(subscriber, type="subscribe", id="1", payload={"query": EVENTS})
        send(subscriber, type="ping")
        assert receive(subscriber, 60) == {"type": "pong"}
        # A subscription shows what changes after it; one of these runs comes after it.
        message: dict[str, Any] = {}
        for number in range(60):
            name = f"behind-nginx-{number}"
            write_events(database, run(name, "load", ["raw"], ["a"], minute=number))
            try:
                message = receive(subscriber, 1)
                break
            except TimeoutError:
                continue
        assert message["payload"]["data"]["runEvents"]["runId"].startswith("behind-nginx-")


def test_forwarded_headers_count_from_the_proxy_only(
    client: httpx.Client, api: Served, store: AccessStore, key: str
) -> None:
    claimed = {"X-Forwarded-For": FOREIGN, "X-Forwarded-Proto": "http"}
    origin = str(client.base_url).rstrip("/")
    signed = client.post(
        "/session", json={"key": key}, headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    )
    # nginx says that the page came by https, so the cookie is for https alone.
    assert "__Host-headwater_session" in signed.headers["set-cookie"]
    assert "Secure" in signed.headers["set-cookie"]
    refused = client.get("/metrics", headers={**claimed, "Authorization": "Bearer hw_no"})
    assert refused.status_code == 401
    newest = AccessLog(store).entries(first=1)[0]
    assert newest.detail["client"] == "127.0.0.1"
    # The API believes an address that it lists, as a caller from this machine shows.
    url = f"http://127.0.0.1:{api.port}/metrics"
    httpx.get(url, headers={**claimed, "Authorization": "Bearer hw_no"}, trust_env=False)
    assert AccessLog(store).entries(first=1)[0].detail["client"] == FOREIGN


def test_only_pages_are_redirected_to_tls(proxy: tuple[str, int]) -> None:
    url = f"http://127.0.0.1:{proxy[1]}/api/v1/lineage"
    assert httpx.post(url, json=EVENT, trust_env=False).status_code == 403
    redirected = httpx.get(f"http://127.0.0.1:{proxy[1]}/search?q=a", trust_env=False)
    assert redirected.status_code == 301
    assert redirected.headers["location"] == "https://127.0.0.1/search?q=a"
