"""Jars: real ones from the cache, served again by a small mirror on loopback to the real Ivy."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from headwater.errors import JarError
from headwater.local import jars as jars_module
from headwater.local.ivy import Jar
from headwater.local.jars import (
    LockFile,
    classpath,
    default_cache,
    ensure_jars,
    missing_jars,
    read_lock,
)
from tests.conftest import jar_cache

few = (
    "neo4j-annotations",
    "annotations",
    "neo4j-util",
    "slf4j-api",
    "netty-transport-native-epoll",
)


class Mirror(SimpleHTTPRequestHandler):
    """A Maven-shaped mirror of files; counts the requests, and can be slow."""

    asked: list[str]
    seconds = 0.0

    def do_GET(self) -> None:
        self.asked.append(self.path)
        time.sleep(self.seconds)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def jars() -> Path:
    return ensure_jars(jar_cache())


@pytest.fixture
def lock() -> LockFile:
    all_jars = read_lock()
    return replace(all_jars, jars=tuple(jar for jar in all_jars.jars if jar.artifact in few))


@pytest.fixture
def mirror(tmp_path: Path, jars: Path, lock: LockFile) -> Iterator[ThreadingHTTPServer]:
    root = tmp_path / "mirror"
    for jar in lock.jars:
        target_folder = root / jar.group.replace(".", "/") / jar.artifact / jar.version
        target_folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(jars / jar.file_name, target_folder)
    handler = type("OneMirror", (Mirror,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(root)))
    server.handler = handler  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def settings_for(folder: Path, port: int) -> Path:
    file = folder / "ivysettings.xml"
    file.write_text(
        '<ivysettings><settings defaultResolver="mine"/><resolvers>'
        '<ibiblio name="mine" m2compatible="true" usepoms="false" checksums=""'
        f' root="http://127.0.0.1:{port}/"/>'
        "</resolvers></ivysettings>"
    )
    return file


@pytest.fixture
def settings(tmp_path: Path, mirror: ThreadingHTTPServer) -> Path:
    return settings_for(tmp_path, mirror.server_port)


def test_the_lock_names_every_jar_once() -> None:
    lock = read_lock()
    names = [jar.file_name for jar in lock.jars]
    assert len(names) == len(set(names)) > 200
    assert {"neo4j-5.26.30.jar", "neo4j-bolt-5.26.30.jar"} <= set(names)
    assert all(len(jar.sha256) == 64 and jar.bytes > 0 for jar in lock.jars)
    assert "netty-transport-native-epoll-4.1.137.Final-linux-x86_64.jar" in names


def test_all_jars_are_there_and_a_second_check_reads_the_stamp_only(
    jars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `_fill` compares the hash of every jar.
    monkeypatch.delattr(jars_module, "_fill")
    assert ensure_jars(jar_cache()) == jars
    assert missing_jars(jar_cache()) == []
    assert all(Path(name).is_file() for name in classpath(jars).split(":"))


def test_the_cache_follows_xdg_and_home(tmp_path: Path) -> None:
    assert default_cache({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "headwater"
    assert default_cache({"HOME": str(tmp_path)}) == tmp_path / ".cache" / "headwater"


def test_jars_come_from_the_users_mirror_once(
    tmp_path: Path, lock: LockFile, settings: Path, mirror: ThreadingHTTPServer
) -> None:
    progress: list[tuple[int, int]] = []
    folder = ensure_jars(
        tmp_path / "cache",
        lambda done, total: progress.append((done, total)),
        lock=lock,
        ivy_settings=settings,
    )
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        [jar.file_name for jar in lock.jars] + ["stamp.json"]
    )
    assert sorted(progress) == [(number, len(lock.jars)) for number in range(len(lock.jars) + 1)]
    requests = len(mirror.handler.asked)  # type: ignore[attr-defined]
    assert requests == len(lock.jars)
    ensure_jars(tmp_path / "cache", lock=lock, ivy_settings=settings)
    assert len(mirror.handler.asked) == requests  # type: ignore[attr-defined]


def test_the_settings_file_may_come_from_the_environment(
    tmp_path: Path, lock: LockFile, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_IVY_SETTINGS", str(settings))
    assert (ensure_jars(tmp_path / "cache", lock=lock) / lock.jars[0].file_name).exists()


def test_a_tampered_jar_in_the_cache_is_refused(tmp_path: Path, jars: Path, lock: LockFile) -> None:
    folder = tmp_path / "cache" / jars.name
    folder.mkdir(parents=True)
    for jar in lock.jars:
        shutil.copy(jars / jar.file_name, folder)
    ensure_jars(tmp_path / "cache", lock=lock)
    victim = folder / lock.jars[0].file_name
    content = bytearray(victim.read_bytes())
    content[-1] ^= 1
    victim.write_bytes(bytes(content))
    with pytest.raises(JarError, match=victim.name) as caught:
        ensure_jars(tmp_path / "cache", lock=lock)
    assert f"Delete {victim}" in caught.value.hint


def test_a_mirror_that_changes_a_jar_is_refused(
    tmp_path: Path, lock: LockFile, settings: Path
) -> None:
    victim = lock.jars[0]
    served = next((tmp_path / "mirror").rglob(victim.file_name))
    served.write_bytes(served.read_bytes() + b"!")
    with pytest.raises(JarError, match=victim.artifact):
        ensure_jars(tmp_path / "cache", lock=lock, ivy_settings=settings)
    folder = tmp_path / "cache" / f"neo4j-{lock.version}"
    assert not (folder / victim.file_name).exists()
    assert list(folder.glob(".fetch-*")) == []
    assert not (folder / "stamp.json").exists()


def test_a_missing_jar_is_named(tmp_path: Path, lock: LockFile, settings: Path) -> None:
    none = Jar("org.example", "nowhere", "1.0", "", "0" * 64, 1)
    with pytest.raises(JarError, match=r"org\.example:nowhere:1\.0"):
        ensure_jars(
            tmp_path / "cache", lock=replace(lock, jars=(*lock.jars, none)), ivy_settings=settings
        )


def test_offline_gives_a_hint(tmp_path: Path, lock: LockFile) -> None:
    with pytest.raises(JarError, match="cannot be fetched") as caught:
        ensure_jars(tmp_path / "cache", lock=lock, ivy_settings=settings_for(tmp_path, port=9))
    assert "online" in caught.value.hint
    assert "HEADWATER_IVY_SETTINGS" in caught.value.hint


def test_a_missing_or_malformed_settings_file_is_named(tmp_path: Path, lock: LockFile) -> None:
    with pytest.raises(JarError, match="is not a file"):
        ensure_jars(tmp_path / "cache", lock=lock, ivy_settings=tmp_path / "none.xml")
    broken = tmp_path / "broken.xml"
    broken.write_text("<ivysettings>")
    with pytest.raises(JarError, match="Ivy does not accept"):
        ensure_jars(tmp_path / "cache", lock=lock, ivy_settings=broken)


fetch_program = """
import json, sys
from dataclasses import replace
from pathlib import Path
from headwater.local.jars import ensure_jars, read_lock
lock = read_lock()
lock = replace(lock, jars=tuple(jar for jar in lock.jars if jar.artifact in json.loads(sys.argv[3])))
ensure_jars(Path(sys.argv[1]), lock=lock, ivy_settings=Path(sys.argv[2]))
"""


def fetcher(cache: Path, settings: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", fetch_program, str(cache), str(settings), json.dumps(few)]
    )


def test_two_processes_at_once_fetch_once(
    tmp_path: Path, lock: LockFile, settings: Path, mirror: ThreadingHTTPServer
) -> None:
    processes = [fetcher(tmp_path / "cache", settings) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert len(mirror.handler.asked) == len(lock.jars)  # type: ignore[attr-defined]


def test_ctrl_c_leaves_nothing_half_done(
    tmp_path: Path, lock: LockFile, settings: Path, mirror: ThreadingHTTPServer
) -> None:
    mirror.handler.seconds = 3.0  # type: ignore[attr-defined]
    process = fetcher(tmp_path / "cache", settings)
    while not mirror.handler.asked:  # type: ignore[attr-defined]
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(10) != 0
    folder = tmp_path / "cache" / f"neo4j-{lock.version}"
    assert list(folder.iterdir()) == []
    mirror.handler.seconds = 0.0  # type: ignore[attr-defined]
    ensure_jars(tmp_path / "cache", lock=lock, ivy_settings=settings)
