"""TCP ports on the loopback interface of this machine."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence

from headwater.errors import ServerError

HOST = "127.0.0.1"


def free_port() -> int:
    """Return a port that no program uses now.

    Returns:
        The port. Another program may take it before the caller does.
    """
    return free_ports([0])[0]


def free_ports(preferred: Sequence[int]) -> list[int]:
    """Return the wanted ports, with free ones in place of 0 and of taken ports.

    Args:
        preferred: Ports, 0 for any.

    Returns:
        As many different ports, in the same order.
    """
    sockets = [socket.socket() for _ in preferred]
    try:
        for sock, port in zip(sockets, preferred, strict=True):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind((HOST, port))
            except OSError:
                sock.bind((HOST, 0))
        return [int(socket.getsockname()[1]) for socket in sockets]
    finally:
        for sock in sockets:
            sock.close()


def require_free_port(port: int, option: str) -> None:
    """Raise an error if another program has the port.

    Args:
        port: The port to check; 0 is always free.
        option: The command line option that sets the port, for the hint of the error.

    Raises:
        ServerError: The port is taken, or this user may not use it.
    """
    bound_socket(port, option).close()


def bound_socket(port: int, option: str) -> socket.socket:
    """Return a socket that has a port. It refuses connections until a server listens on it.

    Args:
        port: The port; 0 takes any free one.
        option: The command line option that sets the port, for the hint of the error.

    Raises:
        ServerError: The port is taken, or this user may not use it.
    """
    bound = socket.socket()
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise port_taken(port, option) from error
        raise ServerError(
            f"port {port} cannot be used: {error.strerror}",
            hint=f"Choose another with {option}.",
        ) from error
    return bound


def port_taken(port: int, option: str) -> ServerError:
    """Return the error for a port that another program has."""
    return ServerError(
        f"port {port} is taken by another program",
        hint=f"Choose another with {option} (0 takes any free one).",
    )


def accepts_connections(port: int, timeout_seconds: float) -> bool:
    """Return True if a program accepts connections at the port.

    Args:
        port: The port to connect to.
        timeout_seconds: The longest wait for the connection, in seconds.
    """
    try:
        socket.create_connection((HOST, port), timeout_seconds).close()
    except OSError:
        return False
    return True
