"""A provider that answers byte by byte, on a real socket: who waits for it, and how long."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import repeat
from pathlib import Path

import anyio.to_thread
import pytest
from joserfc import jwk
from starlette.requests import HTTPConnection

from headwater.access.bounded_threads import BoundedThreads
from headwater.access.guard import Guard
from headwater.access.oidc import provider as providers
from headwater.access.oidc.code_flow import Client, CodeFlow
from headwater.access.oidc.provider import Provider, Published, read_published
from headwater.access.oidc.roles import read_roles
from headwater.access.oidc.sign_on import SignOn
from headwater.access.rules import OPEN
from headwater.access.store import AccessStore
from headwater.errors import HeadwaterError, UnauthorizedError, UnavailableError
from tests.access.oidc.issuer import AUDIENCE, Issuer, serving_issuer
from tests.access.test_session_http import client_of
from tests.guards import guard_of
from tests.test_transport import HEAD, raw_server, slowly

pytestmark = pytest.mark.timeout(60)
UNKNOWN = jwk.OKPKey.generate_key("Ed25519", {"kid": "unknown"})
# One byte each tenth of a second: a whole answer takes half a minute.
SECONDS = 0.6
SECONDS_MAX = 15.0


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Shorten the time for an answer; return the counts of answers."""
    monkeypatch.setattr(providers, "ANSWER_SECONDS_MAX", SECONDS)
    return Counter()


def dripping(reads: Counter[str]) -> Callable[[], Iterable[bytes]]:
    def parts() -> Iterator[bytes]:
        reads["begun"] += 1
        yield HEAD + b"\r\n"
        yield from slowly(b" " * 300)

    return parts


def sign_on_of(url: str) -> SignOn:
    return SignOn(Provider(url), read_roles(None, "groups"), audience=AUDIENCE, skew_seconds=60)


def unknown_token(url: str) -> str:
    issuer = Issuer()
    issuer.url = url
    return issuer.token(UNKNOWN)


def test_a_read_ends_at_its_deadline(reads: Counter[str]) -> None:
    started = time.monotonic()
    with raw_server(dripping(reads)) as url:
        with pytest.raises(UnavailableError, match="does not answer: timed out"):
            read_published(url)
        provider = Provider(url)
        provider.refresh()
        # The failure counts until the next read is due.
        provider.refresh()
        with pytest.raises(UnavailableError, match="timed out"):
            provider.key("x", "RS256")
    assert reads["begun"] == 2
    assert time.monotonic() - started < SECONDS_MAX


def test_the_documents_of_a_provider_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "ANSWER_BYTES_MAX", 100_000)
    answer = [HEAD, b"\r\n", *repeat(b" " * 10_000, 11)]
    reason = "is larger than 100,000 bytes"
    with raw_server(lambda: answer) as url, pytest.raises(UnavailableError, match=reason):
        read_published(url)


@pytest.mark.parametrize(
    ("body", "error", "reason"),
    [
        (None, UnavailableError, "does not answer: timed out"),
        (b" " * 200_000, UnavailableError, "is larger than 100,000 bytes"),
        (b"[]", UnauthorizedError, "sent no id_token"),
        (b'{"error": "invalid_grant"}', UnauthorizedError, "refused the code"),
    ],
)
def test_the_exchange_of_a_code_has_a_deadline_and_a_size(
    reads: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    body: bytes | None,
    error: type[HeadwaterError],
    reason: str,
) -> None:
    monkeypatch.setattr(providers, "ANSWER_BYTES_MAX", 100_000)
    whole = [HEAD, b"\r\n", body or b""]
    with raw_server(dripping(reads) if body is None else lambda: whole) as url:
        sign_on = sign_on_of(url)
        names = ("authorization_endpoint", "token_endpoint")
        addresses = {name: f"{url}/{name}" for name in names}
        sign_on.provider._published = Published(addresses, {}, time.monotonic())
        flow = CodeFlow(sign_on, Client("page", "", "openid", url), tmp_path / "session.key")
        address, cookie = flow.begin("/")
        state = address.partition("state=")[2].partition("&")[0]
        with pytest.raises(error, match=reason):
            flow.end(cookie, [("state", state), ("code", "c")])


def test_nobody_waits_without_end_for_the_read_of_another_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(providers, "WAIT_SECONDS_MAX", 0.05)
    sign_on = sign_on_of("http://127.0.0.1:1")
    with sign_on.provider._lock:
        with pytest.raises(UnavailableError, match="are still being read"):
            sign_on.provider.refresh()
        # A caller is identified by the keys in memory, without any wait.
        with pytest.raises(UnavailableError):
            sign_on.principal(unknown_token("http://127.0.0.1:1"))


async def outcomes(guard: Guard, url: str, count: int) -> list[str]:
    """Return the refusals of many requests and WebSockets at once, whose key is unknown."""
    header = f"Bearer {unknown_token(url)}"
    request = HTTPConnection({"type": "http", "headers": [(b"authorization", header.encode())]})
    socket = HTTPConnection({"type": "websocket", "headers": []})
    pool = anyio.to_thread.current_default_thread_limiter()
    busy: list[float] = []

    async def watch() -> None:
        while True:
            busy.append(pool.borrowed_tokens)
            await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    calls = [guard.admit_socket(socket, "/graphql", header) for _ in range(count)]
    calls += [guard.admit(request, "/graphql", OPEN) for _ in range(count)]
    found = await asyncio.gather(*calls, return_exceptions=True)
    watching.cancel()
    # The threads that all share stay free while the provider is slow.
    assert max(busy[:10]) == 0
    return [str(one) for one in found]


def test_requests_and_websockets_wait_for_one_read(reads: Counter[str], tmp_path: Path) -> None:
    store = AccessStore(tmp_path / "access.db")
    with raw_server(dripping(reads)) as url:
        guard = guard_of(store, required=True)
        guard.sign_on = sign_on_of(url)
        guard._asking = BoundedThreads("tokens with unknown keys", 1, waiting_max=10)
        found = asyncio.run(outcomes(guard, url, 20))
    assert reads["begun"] == 1
    refused = [one for one in found if "wait already" in one]
    failed = [one for one in found if "cannot be checked now" in one]
    assert (len(refused), len(failed)) == (29, 11)
    store.close()


def test_websockets_with_unknown_keys_ask_as_seldom_as_requests(tmp_path: Path) -> None:
    with (
        serving_issuer() as issuer,
        client_of(tmp_path, oidc_issuer=issuer.url, oidc_audience=AUDIENCE) as client,
    ):
        known, unknown = issuer.token(), issuer.token(UNKNOWN)
        kinds = []
        for token in (known, unknown, unknown, known, unknown):
            # On exit the client cancels the connection, which may be ending at that moment.
            with (
                suppress(CancelledError),
                client.websocket_connect("/graphql", ["graphql-transport-ws"]) as socket,
            ):
                payload = {"authorization": f"Bearer {token}"}
                socket.send_json({"type": "connection_init", "payload": payload})
                message = socket.receive()
                kinds.append(message.get("code") or message["type"])
        assert kinds == ["websocket.send", 4401, 4401, "websocket.send", 4401]
        headers = {"authorization": f"Bearer {unknown}"}
        assert client.get("/metrics", headers=headers).status_code == 401
        assert issuer.reads == 1
