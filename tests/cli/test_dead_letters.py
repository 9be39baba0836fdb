"""`headwater dead-letters`: list, skip and retry, on a real spool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.ingest.spool.salvage_lock import lock_for_salvage
from headwater.ingest.spool.spool import Spool


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    """Yield a spool of four events, the second and the third dead-lettered."""
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append([b"one", b"two", b"three", b"four"], received=1_700_000_000_000_000)
        spool.dead_letter([(2, "job: missing"), (3, "not JSON")])
        yield spool


def run(spool: Spool, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["dead-letters", *words, "--home", str(spool.path.parent)])
    return result.exit_code, result.stdout or str(result.exception)


def listed(spool: Spool, *words: str) -> list[int]:
    code, text = run(spool, "list", "--json", *words)
    assert code == 0, text
    return [one["seq"] for one in json.loads(text)]


def test_dead_letters_of_an_empty_spool(tmp_path: Path) -> None:
    Spool(tmp_path / "spool.db").close()
    shown = CliRunner().invoke(app, ["dead-letters", "list", "--home", str(tmp_path)])
    assert (shown.exit_code, shown.stdout) == (0, "0 events dead-lettered\n")


def test_the_list_has_reasons_and_the_way_on(spool: Spool) -> None:
    code, text = run(spool, "list")
    assert code == 0
    assert text.splitlines() == [
        "3  not JSON",
        "    three",
        "2  job: missing",
        "    two",
        "2 events dead-lettered",
        "headwater dead-letters retry --all   tries them again",
    ]


def test_a_skipped_event_is_listed_on_request_only(spool: Spool) -> None:
    assert run(spool, "skip", "3") == (0, "1 event skipped\n")
    assert (listed(spool), listed(spool, "--skipped")) == ([2], [3, 2])
    assert spool.dead_count() == 1
    code, text = run(spool, "skip", "3", "--json")
    assert (code, json.loads(text)) == (0, {"skipped": [3]})


def test_an_event_that_waits_can_be_skipped(spool: Spool) -> None:
    assert run(spool, "skip", "4") == (0, "1 event skipped\n")
    assert spool.skipped_between(1, 9) == {4}


def test_a_retried_event_waits_again_with_its_first_receipt(spool: Spool) -> None:
    assert run(spool, "retry", "2") == (0, "1 event sent again\n")
    assert listed(spool) == [3]
    [copy] = spool.read(4, events_max=9, bytes_max=999)
    assert (copy.seq, copy.body, copy.received) == (5, b"two", 1_700_000_000_000_001)
    assert spool.skipped_between(1, 9) == {2}, "the copy stands for it in a rebuild"


def test_all_but_the_skipped_ones_are_retried(spool: Spool) -> None:
    run(spool, "skip", "2")
    code, text = run(spool, "retry", "--all", "--json")
    assert (code, json.loads(text)) == (0, {"retried": [3], "left": []})
    assert listed(spool, "--skipped") == [2]


def test_an_event_that_cannot_be_retried_is_named(spool: Spool) -> None:
    with closing(apsw.Connection(str(spool.path))) as other:
        other.execute("UPDATE event SET body = x'00' WHERE seq = 2")
    for seq in ("2", "1", "99"):
        code, text = run(spool, "retry", seq)
        assert code == 1
        assert "0 events sent again" in text
    assert spool.last() == 4
    assert listed(spool) == [3, 2]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("skip",), "which events?"),
        (("retry", "2", "--all"), "which events?"),
        (("skip", "99"), "the spool has no event 99; its last is 4"),
        (("skip", "0"), "the spool has no event 0"),
    ],
)
def test_wrong_arguments_are_refused(spool: Spool, words: tuple[str, ...], expected: str) -> None:
    code, text = run(spool, *words)
    assert code != 0
    assert expected in text
    assert spool.skipped_between(0, 99) == set()


@pytest.mark.parametrize("command", ["retry", "skip"])
def test_a_number_that_no_event_has_is_refused(spool: Spool, command: str) -> None:
    arguments = ["dead-letters", command, str(2**63), "--home", str(spool.path.parent)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "Invalid value for" in result.stderr


def test_a_home_without_a_spool_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["dead-letters", "list", "--home", str(tmp_path / "none")])
    assert "there is no spool at" in str(result.exception)
    assert not (tmp_path / "none").exists()


def test_during_a_salvage_dead_letters_are_listed_and_not_changed(spool: Spool) -> None:
    with lock_for_salvage(spool.path):
        assert listed(spool) == [3, 2]
        for word in ("skip", "retry"):
            code, text = run(spool, word, "3")
            assert code == 1
            assert "while it is salvaged" in text
    assert listed(spool) == [3, 2]
    assert spool.last() == 4
