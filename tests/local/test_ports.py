"""Loopback ports: free ones are different and usable, and taken ones are refused."""

from __future__ import annotations

import socket

import pytest

from headwater.errors import ServerError
from headwater.local.ports import (
    HOST,
    accepts_connections,
    free_port,
    free_ports,
    require_free_port,
)


def test_a_taken_port_is_replaced_and_a_free_one_stays() -> None:
    free = free_port()
    with socket.create_server((HOST, 0)) as listening:
        taken = listening.getsockname()[1]
        first, second, third = free_ports([free, taken, 0])
    assert first == free
    assert len({first, second, third, taken}) == 4


def test_a_taken_port_is_refused_with_the_option_that_sets_it() -> None:
    require_free_port(0, "--port")
    with socket.create_server((HOST, 0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} is taken") as caught:
            require_free_port(port, "--port")
    assert "--port" in caught.value.hint
    require_free_port(port, "--port")


def test_only_a_listening_port_accepts_connections() -> None:
    with socket.create_server((HOST, 0)) as listening:
        port = listening.getsockname()[1]
        assert accepts_connections(port, 1.0)
    assert not accepts_connections(port, 1.0)
