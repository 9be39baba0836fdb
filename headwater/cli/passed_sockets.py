"""Sockets that the parent of a process has bound, passed as systemd passes them.

The descriptors begin at 3; LISTEN_FDS is their number, and LISTEN_PID the process that they are for
(sd_listen_fds(3)). While the parent keeps such a socket, the port refuses no connection during a
restart of the server: connections wait until the next one accepts them.
"""

from __future__ import annotations

import os
import socket

_FIRST = 3


def passed_sockets() -> list[socket.socket]:
    """Return the sockets that were passed to this process."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = os.environ.get("LISTEN_FDS", "")
    if not count.isdecimal():
        return []
    return [socket.socket(fileno=number) for number in range(_FIRST, _FIRST + int(count))]


def pass_on(descriptor: int) -> None:
    """Pass an inherited descriptor to the command that runs in this process."""
    if descriptor != _FIRST:
        os.dup2(descriptor, _FIRST)
        os.close(descriptor)
    os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
