"""Tests of the policies of a server: read again when a file changes, and kept when one breaks."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from headwater.governance.policies.store import POLL_SECONDS, PolicyStore, policy_store
from headwater.settings import Settings

ONE = "name: one\nrule: required-owners\n"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pass_poll(self) -> None:
        self.now += POLL_SECONDS


def names(store: PolicyStore) -> list[str]:
    return [one.name for one in store.read().policies.policies]


def write(path: Path, text: str, seconds: int) -> None:
    """Write a file with a time of change, as a later second would give."""
    path.write_text(text)
    os.utime(path, (seconds, seconds))


def test_changed_files_are_read_again(tmp_path: Path) -> None:
    clock = Clock()
    write(tmp_path / "a.yaml", ONE, 1)
    store = PolicyStore(tmp_path, clock=clock)
    assert names(store) == ["one"]
    write(tmp_path / "b.yaml", ONE.replace("one", "two"), 2)
    assert names(store) == ["one"]
    clock.pass_poll()
    assert names(store) == ["one", "two"]
    (tmp_path / "a.yaml").unlink()
    clock.pass_poll()
    assert names(store) == ["two"]


def test_no_question_waits_while_changed_files_are_read(tmp_path: Path) -> None:
    clock = Clock()
    write(tmp_path / "a.yaml", ONE, 1)
    store = PolicyStore(tmp_path, clock=clock)
    assert names(store) == ["one"]
    write(tmp_path / "a.yaml", ONE.replace("one", "two"), 2)
    clock.pass_poll()
    # Another thread holds the lock while it reads.
    with store._lock:
        assert names(store) == ["one"]
    assert names(store) == ["two"]


def test_a_thread_reads_changed_files(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", ONE, 1)
    store, stop = PolicyStore(tmp_path), threading.Event()
    thread = threading.Thread(target=store.run, args=(stop,))
    thread.start()
    while not store._state.policies.policies:
        time.sleep(0.01)
    stop.set()
    thread.join()
    PolicyStore(None).run(threading.Event())


def test_a_broken_file_keeps_the_last_good_policies(tmp_path: Path) -> None:
    clock = Clock()
    write(tmp_path / "a.yaml", ONE, 1)
    store = PolicyStore(tmp_path, clock=clock)
    good = store.read()
    write(tmp_path / "a.yaml", "name: one\nrule: no\n", 2)
    clock.pass_poll()
    broken = store.read()
    assert broken.policies == good.policies
    assert broken.loaded_at == good.loaded_at
    assert broken.error.startswith("a.yaml:2: policy one: rule: 'no' is no ready-made rule")
    write(tmp_path / "a.yaml", ONE, 3)
    clock.pass_poll()
    assert store.read().error == ""


def test_a_broken_policy_takes_no_other_policy_out_of_force(tmp_path: Path) -> None:
    clock = Clock()
    write(tmp_path / "a.yaml", "name: [", 1)
    write(tmp_path / "b.yaml", ONE, 1)
    write(tmp_path / "c.yaml", f"{ONE.replace('one', 'two')}---\nname: three\nrule: no\n", 1)
    store = PolicyStore(tmp_path, clock=clock)
    assert names(store) == ["one", "two"]
    state = store.read()
    assert state.broken == ("a.yaml", "c.yaml")
    assert state.note == "Policies may be missing or old, because files are broken: a.yaml, c.yaml"
    assert [line.split(":")[0] for line in state.error.splitlines()] == ["a.yaml", "c.yaml"]
    write(tmp_path / "a.yaml", ONE.replace("one", "four"), 2)
    write(tmp_path / "c.yaml", ONE.replace("one", "five"), 2)
    clock.pass_poll()
    assert (names(store), store.read().note) == (["five", "four", "one"], "")


def test_a_policy_that_breaks_keeps_its_last_good_version_beside_new_ones(tmp_path: Path) -> None:
    clock = Clock()
    write(tmp_path / "a.yaml", ONE, 1)
    store = PolicyStore(tmp_path, clock=clock)
    first = store.read().policies.digest
    added = f"name: one\nrule: no\n---\n{ONE.replace('one', 'two')}severity: P1\n"
    write(tmp_path / "a.yaml", added, 2)
    clock.pass_poll()
    assert names(store) == ["one", "two"]
    # The detector evaluates again, because what is in force has changed.
    assert store.read().policies.digest != first


def test_a_name_in_two_files_counts_once(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", ONE, 1)
    write(tmp_path / "b.yaml", f"{ONE}severity: P1\n---\n{ONE.replace('one', 'two')}", 1)
    store = PolicyStore(tmp_path)
    assert names(store) == ["one", "two"]
    assert store.read().policies.policies[0].severity == "P3"
    assert store.read().broken == ("b.yaml",)
    assert store.read().error == "b.yaml: name: one is in a.yaml too; rename one"


def test_a_file_that_is_no_text_is_a_broken_file(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", ONE, 1)
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe")
    store = PolicyStore(tmp_path)
    assert (names(store), store.read().broken) == (["one"], ("b.yaml",))


def test_a_directory_that_vanishes_keeps_its_policies(tmp_path: Path) -> None:
    clock, directory = Clock(), tmp_path / "policies"
    directory.mkdir()
    write(directory / "a.yaml", ONE, 1)
    store = PolicyStore(directory, clock=clock)
    assert names(store) == ["one"]
    (directory / "a.yaml").unlink()
    directory.rmdir()
    clock.pass_poll()
    assert names(store) == ["one"]
    assert "there is no such directory" in store.read().error


def test_the_directory_of_the_settings(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path))
    assert policy_store(settings).read().directory == ""
    (tmp_path / "policies").mkdir()
    assert policy_store(settings).read().directory == str(tmp_path / "policies")
    other = Settings(home=str(tmp_path), policies=str(tmp_path / "no"), test_consumers="a*, b")
    assert policy_store(other).test_consumers == ("a*", "b")
    assert "there is no such directory" in policy_store(other).read().error
