"""The managed Neo4j with real servers in temporary homes: found again, killed, refused, stopped."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, ClientError, Neo4jError

from headwater.errors import HomeInUseError, ServerError
from headwater.local import process
from headwater.local.neo4j import LocalNeo4j, Running
from headwater.local.neo4j_settings import Sizes, neo4j_settings
from headwater.schema.urns import run_urn
from tests.conftest import jar_cache

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

start_program = """
import sys
from pathlib import Path
from headwater.local.neo4j import LocalNeo4j
cache = Path(sys.argv[2]) if sys.argv[2] else None
running = LocalNeo4j(Path(sys.argv[1]), bolt_port=0, cache=cache).start()
print(running.pid, running.reused, running.uri)
"""


def local(home: Path, bolt_port: int = 0, wait_seconds_max: float = 60.0) -> LocalNeo4j:
    return LocalNeo4j(home, bolt_port, cache=jar_cache(), wait_seconds_max=wait_seconds_max)


def driver(running: Running) -> Driver:
    return GraphDatabase.driver(running.uri, auth=(running.user, running.password))


def start_elsewhere(home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", start_program, str(home), str(jar_cache() or "")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    local(tmp_path / "home").stop()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNeo4j]:
    """Start one server for the tests that change nothing."""
    server = local(tmp_path_factory.mktemp("shared") / "home")
    with server:
        yield server


def test_every_setting_is_in_force(shared: LocalNeo4j) -> None:
    with driver(shared.start()) as graph:
        records = graph.execute_query("SHOW SETTINGS YIELD name, value RETURN name, value").records
    shown = {record["name"]: record["value"] for record in records}
    expected = neo4j_settings("127.0.0.1:0", Sizes())
    same_in_other_words = {"128m": "128.00MiB", "1024m": "1.00GiB", "120s": "2m", "900s": "15m"}
    hidden = {name for name in expected if name.startswith("internal.")}
    assert {name: shown[name] for name in expected.keys() - hidden} == {
        name: same_in_other_words.get(expected[name], expected[name])
        for name in expected.keys() - hidden
    }


def test_a_run_s_urn_fills_one_block_of_strings(shared: LocalNeo4j) -> None:
    shared.start()
    strings = (
        shared.home.folder / "data" / "databases" / "neo4j" / "neostore.propertystore.db.strings"
    )
    # The first block has the size of all blocks, with the eight bytes that lead to the next.
    assert int.from_bytes(strings.read_bytes()[:4]) == len(run_urn(str(UUID(int=0)))) + 8


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "http://127.0.0.1:9/x", "https://[::1]:9/x"]
)
def test_cypher_can_not_read_files_or_the_network(shared: LocalNeo4j, url: str) -> None:
    with driver(shared.start()) as graph, pytest.raises(ClientError, match="Cannot load from URL"):
        graph.execute_query("LOAD CSV FROM $url AS row RETURN row", url=url)


def test_a_transaction_over_the_memory_limit_is_ended(shared: LocalNeo4j) -> None:
    with (
        driver(shared.start()) as graph,
        pytest.raises(Neo4jError, match="memory"),
        graph.session() as session,
    ):
        session.run("UNWIND range(1, 20000000) AS n RETURN collect(n + '')").consume()


def test_the_default_password_never_opens_it(shared: LocalNeo4j) -> None:
    running = shared.start()
    with (
        pytest.raises(AuthError),
        GraphDatabase.driver(running.uri, auth=("neo4j", "neo4j")) as graph,
    ):
        graph.verify_connectivity()


def test_routing_uris_work_too(shared: LocalNeo4j) -> None:
    running = shared.start()
    uri = running.uri.replace("bolt:", "neo4j:")
    with GraphDatabase.driver(uri, auth=(running.user, running.password)) as graph:
        assert graph.execute_query("RETURN 1 AS one").records[0]["one"] == 1


def test_secrets_are_private(shared: LocalNeo4j) -> None:
    shared.start()
    folder = shared.home.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("password", "server.json", "gateway.out"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    password = (folder / "password").read_text().strip()
    assert password not in repr(shared.start())
    assert password not in process.command_line(shared.start().pid)


@pytest.mark.skipif(
    not Path("/proc/self/net").exists(), reason="reads Linux's own table of sockets"
)
def test_it_listens_on_loopback_only(shared: LocalNeo4j) -> None:
    pid = shared.start().pid
    links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    inodes = {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and fields[3] == "0A":
                listening.append(fields[1].split(":")[0])
    # Bolt and the gateway, both on 127.0.0.1, which the table writes as little-endian or mapped to
    # IPv6.
    assert len(listening) == 2
    assert set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F"}


def test_it_is_found_again_from_any_process(shared: LocalNeo4j) -> None:
    first = shared.start()
    reused = local(shared.home.folder).start()
    assert reused.reused
    assert (reused.pid, reused.uri, reused.password) == (first.pid, first.uri, first.password)
    other = start_elsewhere(shared.home.folder)
    assert other.communicate()[0].split() == [str(first.pid), "True", first.uri]
    with local(shared.home.folder):
        pass
    assert shared.status().running, "a server that was found running goes on after the block"


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} is taken") as caught:
            local(tmp_path / "home", port).start()
    assert "--bolt-port" in caught.value.hint
    assert not local(tmp_path / "home").status().running


def test_a_busy_home_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "server.lock").open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        with pytest.raises(HomeInUseError, match="starting or stopping"):
            local(tmp_path, wait_seconds_max=0.3).start()


def test_a_store_held_by_an_unknown_server_is_refused(shared: LocalNeo4j) -> None:
    shared.start()
    notes = shared.home.folder / "server.json"
    before = [(file, file.read_text()) for file in (notes, shared.home.gateway_out)]
    notes.unlink()
    try:
        with pytest.raises(HomeInUseError, match="not started from here"):
            local(shared.home.folder).start()
    finally:
        for file, text in before:
            file.write_text(text)
            file.chmod(0o600)


def test_two_processes_that_start_at_once_share_one_server_and_ignore_a_stale_pid(
    home: Path,
) -> None:
    home.mkdir()
    # This pid is in use again, by this process, which is no Neo4j. It is neither trusted nor
    # killed.
    (home / "server.json").write_text(f'{{"pid": {os.getpid()}, "bolt_port": 7687, "dbms": "o1"}}')
    assert not local(home).status().running
    both = [start_elsewhere(home) for _ in range(2)]
    printed = [other.communicate()[0].split() for other in both]
    assert printed[0][0] == printed[1][0]
    assert sorted(words[1] for words in printed) == ["False", "True"]
    assert local(home).status().running, "it outlives those who started it"


def test_stop_is_quick_and_keeps_data_and_password(home: Path) -> None:
    server = local(home)
    first = server.start()
    with driver(first) as graph:
        graph.execute_query("CREATE (:Kept {name: 'kept'})")
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 10
    assert not server.status().running
    assert not process.is_running(first.pid, str(home))
    assert not (home / "server.json").exists()
    second = server.start()
    assert second.password == first.password
    with driver(second) as graph:
        assert len(graph.execute_query("MATCH (n:Kept) RETURN n").records) == 1


def test_after_kill_9_it_recovers(home: Path) -> None:
    first = local(home).start()
    with driver(first) as graph:
        graph.execute_query("UNWIND range(1, 1000) AS n CREATE (:Kept {n: n})")
    os.kill(first.pid, signal.SIGKILL)
    assert process.wait_until_ended(first.pid, str(home), 10)
    assert not local(home).status().running
    second = local(home).start()
    assert not second.reused
    assert second.pid != first.pid
    with driver(second) as graph:
        assert (
            graph.execute_query("MATCH (n:Kept) RETURN count(n) AS kept").records[0]["kept"] == 1000
        )


def test_ctrl_c_while_it_starts_leaves_no_process(home: Path) -> None:
    other = start_elsewhere(home)
    while not (server := local(home).home.server()):
        time.sleep(0.02)
    time.sleep(1)
    os.kill(other.pid, signal.SIGINT)
    other.communicate()
    assert process.wait_until_ended(server.pid, str(home), 5)
    assert local(home).home.server() is None


def test_a_starter_that_was_killed_does_not_block_the_next(home: Path) -> None:
    other = start_elsewhere(home)
    while not (server := local(home).home.server()):
        time.sleep(0.02)
    other.kill()
    other.communicate()
    running = local(home).start()
    assert running.pid != server.pid
    with driver(running) as graph:
        graph.verify_connectivity()
    assert not process.is_running(server.pid, str(home))


def test_a_failed_start_shows_the_log(home: Path) -> None:
    sizes = Sizes(heap_mb=512, page_cache_mb=128, transaction_seconds=-1)
    with pytest.raises(ServerError, match=r"db\.transaction\.timeout") as caught:
        LocalNeo4j(home, 0, sizes=sizes, cache=jar_cache()).start()
    assert "logs" in caught.value.hint
    with pytest.raises(ServerError, match="heap"):
        LocalNeo4j(home, 0, sizes=Sizes(heap_mb=0), cache=jar_cache()).start()


def test_a_lost_password_file_is_replaced(shared: LocalNeo4j) -> None:
    first = shared.start()
    shared.stop()
    (shared.home.folder / "password").unlink()
    second = shared.start()
    assert second.password != first.password
    with driver(second) as graph:
        graph.verify_connectivity()


def test_the_fixture_gives_a_clean_graph(clean_graph: Driver) -> None:
    clean_graph.execute_query("CREATE (:Left)-[:OVER]->(:Right)")
    assert (
        clean_graph.execute_query("MATCH (n) WHERE NOT n:Migration RETURN count(n) AS n").records[
            0
        ]["n"]
        == 2
    )


def test_the_graph_is_clean_again(clean_graph: Driver) -> None:
    assert (
        clean_graph.execute_query("MATCH (n) WHERE NOT n:Migration RETURN count(n) AS n").records[
            0
        ]["n"]
        == 0
    )
