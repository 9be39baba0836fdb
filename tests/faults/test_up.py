"""`headwater up` restarts dead processes and leaves no process when it ends.

The tests find pids in /proc.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.local.neo4j import LocalNeo4j
from tests.faults.history import events_of
from tests.faults.processes import slack, wait_for
from tests.torture import in_torture_only

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

UP_SECONDS_MAX = 90.0
# A few seconds on an idle machine.
END_SECONDS_MAX = 20.0
BACK_SECONDS_MAX = 60.0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Up:
    """A `headwater up` in its own process."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home = home
        self.log = home.parent / f"{home.name}.log"
        environment = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith("HEADWATER_") or k == "HEADWATER_CACHE"
        }
        command = Path(sys.executable).with_name("headwater")
        # No process of it imports what lies in the folder that it was started in.
        folder = home.parent / "current"
        folder.mkdir(exist_ok=True)
        (folder / "headwater.py").write_text("raise SystemExit('a file of the folder')")
        ports = [] if options else ["--port", "0", "--bolt-port", "0"]
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [command, "up", "--home", str(home), *ports, *options],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        self.pids: set[int] = set()

    @property
    def output_text(self) -> str:
        return " ".join(self.log.read_text().split())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        return (self.home / "api.url").read_text()

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=10) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def wait_up(self) -> None:
        def up() -> bool:
            assert self._process.poll() is None, self.output_text
            return "Headwater is up" in self.output_text and self.ready()

        wait_for("up", up, UP_SECONDS_MAX)

    def child(self, name: str) -> int:
        """Return the pid of the `serve`, `worker` or `detect` of this process, or 0."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            if parent == self.pid and name.encode() in words:
                self.pids.add(int(folder.name))
                return int(folder.name)
        return 0

    def neo4j(self) -> int:
        pid = LocalNeo4j(self.home).status().pid
        self.pids |= {pid} - {0}
        return pid

    def end(self, number: signal.Signals) -> tuple[int, float]:
        """Send a signal; return the exit code and the seconds until the end."""
        began = time.monotonic()
        self._process.send_signal(number)
        return self._process.wait(END_SECONDS_MAX * slack()), time.monotonic() - began

    def wait(self, seconds_max: float) -> int:
        return self._process.wait(seconds_max)

    def close(self) -> None:
        for name in ("serve", "worker", "detect"):
            self.child(name)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(10)
        for pid in self.pids:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        LocalNeo4j(self.home).stop()


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    started = Up(tmp_path / "home")
    yield started
    started.close()


def post(up: Up, body: bytes) -> int:
    request = urllib.request.Request(
        f"{up.url}/api/v1/lineage", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return int(answer.status)


def test_dead_processes_are_restarted_and_ctrl_c_ends_all(up: Up) -> None:
    up.wait_up()
    url = up.url
    assert all([up.child("serve"), up.child("worker"), up.child("detect"), up.neo4j()])
    assert post(up, events_of(1)[0]) == 201

    second = Up(up.home)
    assert second.wait(UP_SECONDS_MAX) == 3
    assert f"`headwater up` runs in {up.home} already" in up.output_text
    assert up.ready(), "the first goes on"

    for name in ("serve", "worker", "detect"):
        first = up.child(name)
        os.kill(first, signal.SIGKILL)
        assert post(up, events_of(2)[0]) == 201, "it waits for the next API, and is not refused"
        seconds = wait_for(
            f"another {name}",
            lambda: up.child(name) not in (0, first),  # noqa: B023
            BACK_SECONDS_MAX,
        )
        seconds += wait_for("ready", up.ready, BACK_SECONDS_MAX)
        print(f"{name} was back after {seconds:.1f} s")
    api, first = up.child("serve"), up.neo4j()
    os.kill(first, signal.SIGKILL)
    wait_for("it was noticed", lambda: "Neo4j ended; restarting it" in up.output_text, 10)
    os.kill(api, signal.SIGKILL)
    seconds = wait_for("another serve", lambda: up.child("serve") not in (0, api), BACK_SECONDS_MAX)
    print(f"serve was started again after {seconds:.1f} s, while Neo4j was")
    assert up.neo4j() == 0, "accepting does not wait for Neo4j"
    seconds = wait_for("another Neo4j", lambda: up.neo4j() not in (0, first), BACK_SECONDS_MAX)
    seconds += wait_for("ready", up.ready, BACK_SECONDS_MAX)
    print(f"Neo4j was back after {seconds:.1f} s")
    assert up.url == url
    assert post(up, events_of(1)[1]) == 201
    current = [up.child("serve"), up.child("worker"), up.child("detect"), up.neo4j()]
    assert all(current)

    code, seconds = up.end(signal.SIGINT)
    print(f"Ctrl-C ended it in {seconds:.1f} s")
    assert code == 0, up.output_text
    assert [pid for pid in {*up.pids, *current} if alive(pid)] == []
    assert not (up.home / "api.url").exists()
    assert "Traceback" not in up.output_text


def test_sigterm_ends_all_processes_while_neo4j_restarts(up: Up) -> None:
    up.wait_up()
    pids = [up.child("serve"), up.child("worker"), up.child("detect"), up.neo4j()]
    os.kill(pids[-1], signal.SIGKILL)
    wait_for("it was noticed", lambda: "Neo4j ended; restarting it" in up.output_text, 10)
    os.kill(up.pid, signal.SIGTERM)
    os.kill(up.pid, signal.SIGHUP)
    code, seconds = up.end(signal.SIGINT)
    print(f"SIGTERM ended it in {seconds:.1f} s")
    assert code == 0, up.output_text
    assert LocalNeo4j(up.home).home.server() is None
    assert [pid for pid in {*pids, *up.pids} if alive(pid)] == []


def test_ctrl_c_during_the_start_leaves_no_process(up: Up) -> None:
    wait_for("Neo4j is being started", lambda: LocalNeo4j(up.home).home.server(), UP_SECONDS_MAX)
    server = LocalNeo4j(up.home).home.server()
    assert server is not None
    time.sleep(1)
    code, _ = up.end(signal.SIGINT)
    assert code == 130, up.output_text
    wait_for("Neo4j is gone", lambda: not alive(server.pid), 10)
    assert "Traceback" not in up.output_text


@in_torture_only
def test_another_up_follows_one_that_was_killed(up: Up) -> None:
    up.wait_up()
    assert stat.S_IMODE(up.home.stat().st_mode) == 0o700
    logs = [stat.S_IMODE(file.stat().st_mode) for file in up.home.glob("*.log")]
    assert set(logs) == {0o600}
    children = [up.child("serve"), up.child("worker"), up.child("detect")]
    neo4j = up.neo4j()
    up.end(signal.SIGKILL)
    # At once, so it takes over the Neo4j or waits until the guard of the first has ended it.
    second = Up(up.home)
    try:
        wait_for(
            "the second is up",
            lambda: second.output_text.count("Headwater is up") == 2,
            UP_SECONDS_MAX,
        )
        second.wait_up()
        assert not any(map(alive, children))
        assert second.neo4j()
        second.end(signal.SIGTERM)
        assert not alive(neo4j)
    finally:
        second.close()


def test_a_killed_up_leaves_no_neo4j_behind(up: Up) -> None:
    up.wait_up()
    neo4j = up.neo4j()
    up.end(signal.SIGKILL)
    wait_for("Neo4j is gone", lambda: not alive(neo4j), END_SECONDS_MAX)
    wait_for("in order", lambda: LocalNeo4j(up.home).home.server() is None, END_SECONDS_MAX)


def test_a_port_in_use_is_reported_before_any_process_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        for option in ("--port", "--bolt-port"):
            free_option = {"--port": "--bolt-port", "--bolt-port": "--port"}[option]
            home = tmp_path / option.strip("-")
            attempt = Up(home, option, str(port), free_option, "0")
            try:
                assert attempt.wait(UP_SECONDS_MAX) == 3
                assert f"ort {port} is taken" in attempt.output_text
                assert option in attempt.output_text
                assert attempt.neo4j() == 0
                assert not (home / "data").exists(), "no Neo4j was started for nothing"
            finally:
                attempt.close()
