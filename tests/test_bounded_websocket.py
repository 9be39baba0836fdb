"""WebSockets count among the connections of a server until they are lost."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress

from headwater import connections
from headwater.connections import ConnectionPool
from tests.test_connections import CAP, long_bounds, opened, pool, port, request, status

__all__ = ["long_bounds", "pool", "port"]


def test_websockets_that_do_not_answer_their_end_make_room(port: int, pool: ConnectionPool) -> None:
    handshake = (
        b"GET /greet HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    most = 0
    with ExitStack() as clients:
        for _ in range(4 * CAP):
            client = clients.enter_context(closing(opened(port, handshake)))
            with suppress(OSError):
                client.recv(1_000)
            most = max(most, len(pool.open) + len(pool.closing))
            assert status(port, request()) == 200
    assert CAP < most <= CAP + connections.SPARE_CONNECTIONS + 2
