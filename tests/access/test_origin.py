"""Foreign hosts and origins are refused."""

from __future__ import annotations

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from headwater.access.origin import OriginCheck, allowed_hosts
from headwater.settings import LOOPBACK, Settings


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:8000", "", 200),
        ("localhost:8000", "http://localhost:8000", 200),
        ("[::1]:8000", "", 200),
        ("evil.example", "", 403),
        ("127.0.0.1:8000", "http://evil.example", 403),
        ("127.0.0.1:8000", "http://127.0.0.1:9999", 403),
    ],
)
def test_only_loopback_hosts_and_the_own_origin_pass(host: str, origin: str, status: int) -> None:
    app = OriginCheck(PlainTextResponse("ok"), LOOPBACK)
    headers = {"host": host, **({"origin": origin} if origin else {})}
    assert TestClient(app).get("/", headers=headers).status_code == status


def test_every_host_is_allowed_with_keys_or_for_anonymous_callers() -> None:
    assert allowed_hosts(Settings()) == LOOPBACK
    assert allowed_hosts(Settings(require_keys=True)) == frozenset()
    assert allowed_hosts(Settings(allow_anonymous=True)) == frozenset()
