"""The access log: entries are only added, and changes in its file are detected."""

from __future__ import annotations

import threading

import apsw
import pytest

from headwater.access.log import DECISIONS_PER_MINUTE_MAX, REFUSALS_PER_MINUTE_MAX, AccessLog
from headwater.access.store import AccessStore
from headwater.errors import QueryError, UnavailableError


def test_entries_are_complete_and_newest_first(log: AccessLog) -> None:
    for number in range(5):
        log.append("ci", "POST /cypher", "done", number=number, query="é\n" * 3)
    assert [entry.detail["number"] for entry in log.entries()] == [4, 3, 2, 1, 0]
    assert [entry.seq for entry in log.entries(first=2, before=4)] == [3, 2]
    assert log.entries(first=0) == []
    assert log.verify() == (5, 1, 5, None)
    with pytest.raises(QueryError):
        log.entries(first=-1)


def test_an_entry_is_bounded(log: AccessLog) -> None:
    log.append("ci", "POST /cypher", "done", query="x" * 1_000_000)
    assert len(log.entries()[0].detail["query"]) == 25_000


@pytest.mark.parametrize(
    "statement",
    ["UPDATE entry SET principal = 'x'", "DELETE FROM entry", "DELETE FROM entry WHERE seq = 1"],
)
def test_it_cannot_be_changed(log: AccessLog, store: AccessStore, statement: str) -> None:
    log.append("ci", "a", "done")
    with pytest.raises(UnavailableError), store.write() as connection:
        connection.execute(statement)
    assert [entry.principal for entry in log.entries()] == ["ci"]


@pytest.mark.parametrize(
    ("tampering", "broken"),
    [
        ("UPDATE entry SET principal = 'somebody' WHERE seq = 2", 2),
        ("UPDATE entry SET detail = '{}' WHERE seq = 3", 3),
        ("UPDATE entry SET at = at + 1 WHERE seq = 1", 1),
        ("DELETE FROM entry WHERE seq = 2", 3),
        ("DELETE FROM entry WHERE seq = 1", 2),
        ("UPDATE entry SET seq = 9 WHERE seq = 4", 9),
    ],
)
def test_changes_in_the_file_are_detected(
    log: AccessLog, store: AccessStore, tampering: str, broken: int
) -> None:
    for number in range(4):
        log.append("ci", "a", "done", number=number)
    file = apsw.Connection(str(store.path))
    file.execute("DROP TRIGGER entry_stays; DROP TRIGGER entry_kept;" + tampering)
    file.close()
    problem = log.verify().problem
    assert problem is not None
    assert problem.position == broken


def test_repeated_refusals_are_counted_not_listed(log: AccessLog) -> None:
    for _ in range(REFUSALS_PER_MINUTE_MAX + 40):
        log.record_refusal("unauthenticated", "GET /metrics", why="no key")
    assert len(log.entries(first=1_000)) == REFUSALS_PER_MINUTE_MAX
    log._refusals.started -= 61.0
    log.record_refusal("unauthenticated", "GET /metrics", why="no key")
    assert log.entries()[0].detail["omitted"] == 40
    count = REFUSALS_PER_MINUTE_MAX + 1
    assert log.verify() == (count, 1, count, None)


def record_decision(log: AccessLog, principal: str, outcome: str, urn: str) -> None:
    log.record_decision(
        principal, "POST /policy/decisions", outcome, urn=urn, policies=["p" * 4_000] * 100
    )


def test_equal_decisions_of_a_caller_are_counted_not_listed(log: AccessLog) -> None:
    for _ in range(50):
        record_decision(log, "ci", "refused drop", "urn:1")
    record_decision(log, "etl", "refused drop", "urn:1")
    record_decision(log, "ci", "refused drop", "urn:2")
    newest, other, first = log.entries()
    assert (newest.principal, newest.detail["urn"], newest.detail["omitted"]) == ("ci", "urn:2", 49)
    assert [one.principal for one in (other, first)] == ["etl", "ci"]
    for window in log._decisions.values():
        window.started -= 61.0
    record_decision(log, "ci", "refused drop", "urn:1")
    assert "omitted" not in log.entries()[0].detail
    assert log.verify() == (4, 1, 4, None)


def test_decisions_of_a_caller_are_bounded_in_number_and_size(log: AccessLog) -> None:
    for number in range(DECISIONS_PER_MINUTE_MAX * 3):
        record_decision(log, "ci", "allowed read", f"{number}" + "u" * 12_000)
    assert len(log.entries(first=1_000)) == DECISIONS_PER_MINUTE_MAX
    for principal in ("ci", "etl"):
        record_decision(log, principal, "refused drop", "urn:1")
    newest = log.entries(first=1_000)
    assert [one.outcome for one in newest[:2]] == ["refused drop"] * 2
    assert all(len(str(one.detail)) < 8_000 for one in newest)
    assert log.verify().problem is None


def test_concurrent_entries(store: AccessStore) -> None:
    def write() -> None:
        own = AccessStore(store.path)
        for number in range(10):
            AccessLog(own).append("ci", "a", "done", number=number)
        own.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert AccessLog(store).verify() == (40, 1, 40, None)
