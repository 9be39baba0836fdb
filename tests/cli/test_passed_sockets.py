"""Sockets that a parent passes to a command."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import closing

from headwater.local.ports import bound_socket

PASSED_ON = """
import sys
from headwater.cli.passed_sockets import pass_on, passed_sockets

pass_on(int(sys.argv[1]))
print(*[one.getsockname()[1] for one in passed_sockets()])
"""

SET_PID = """
import os
os.environ["LISTEN_PID"] = str(os.getpid())
"""

FOR_ANOTHER = """
from headwater.cli.passed_sockets import passed_sockets

print(passed_sockets())
"""


def output(program: str, *arguments: str, sockets: tuple[int, ...] = (), **variables: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        pass_fds=sockets,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.strip()


def test_a_socket_is_passed_on_by_its_descriptor() -> None:
    with closing(bound_socket(0, "--port")) as bound:
        port = bound.getsockname()[1]
        assert output(PASSED_ON, str(bound.fileno()), sockets=(bound.fileno(),)) == str(port)


def test_sockets_for_another_process_or_without_a_number_are_not_used() -> None:
    assert output(FOR_ANOTHER) == "[]"
    assert output(FOR_ANOTHER, LISTEN_FDS="1", LISTEN_PID="1") == "[]"
    assert output(SET_PID + FOR_ANOTHER) == "[]"
    assert output(SET_PID + FOR_ANOTHER, LISTEN_FDS="-1") == "[]"


def test_a_bound_socket_refuses_connections_until_somebody_listens() -> None:
    with closing(bound_socket(0, "--port")) as bound, socket.socket() as client:
        assert client.connect_ex(bound.getsockname()) != 0
