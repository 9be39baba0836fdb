"""A job that writes its datasets in separate runs without a parent: each is watched by itself.

`copy` writes `x` at six and `y` ten minutes later, each day from Thursday, 1 January 2026.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.answers.detect import detect_answer
from headwater.health.findings.answers.reader import read_answer_histories
from headwater.health.findings.datasets.detect import detect_dataset
from headwater.health.findings.datasets.reader import read_dataset_histories
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import Event
from tests.canonical import empty
from tests.event_builders import dataset_event
from tests.run_builders import answer, at, ds, job, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j

HOUR, DAY = 60, 24 * 60
SIX = 6 * HOUR


def time(minute: int) -> datetime:
    return datetime.fromisoformat(at(minute))


def copies(target: str, days: Iterable[int], status: str = "COMPLETE") -> list[Event]:
    minute = SIX if target == "x" else SIX + 10
    events = [
        run(f"{target}{day}", "copy", ["raw"], [target], minute=day * DAY + minute, status=status)
        for day in days
    ]
    return [event for some in events for event in some]


def stale(view: GraphView, name: str, minute: int) -> list[tuple[datetime, datetime | None]]:
    """Return when a dataset was stale."""
    [history] = read_dataset_histories(view, [ds(name)], time(minute))
    found = detect_dataset(history, time(minute))
    return [(one.first_seen, one.resolved_at) for one in found if one.rule == "stale-dataset"]


def answers(view: GraphView, minute: int) -> list[tuple[str, list[str]]]:
    """Return the stale answers, each with the reasons."""
    histories = read_answer_histories(view, ["answer:a", "answer:b"], time(minute))
    return [
        (one.subject, [cause["reason"] for cause in one.evidence["causes"]])
        for history in histories
        for one in detect_answer(history, time(minute))
    ]


def test_each_dataset_is_late_by_its_own_rhythm(database: Database, view: GraphView) -> None:
    empty(database)
    write_events(
        database,
        copies("x", range(7)),
        copies("y", range(8)),
        answer("a", "x", minute=6 * DAY + 7 * HOUR),
        answer("b", "y", minute=6 * DAY + 7 * HOUR),
    )
    # `y` came on Thursday the 8th, and `x` did not: it was due a day after 6:01 on the 7th.
    evening = 7 * DAY + 20 * HOUR
    assert stale(view, "x", evening) == [(time(7 * DAY + SIX + 1), None)]
    assert stale(view, "y", evening) == []
    assert answers(view, evening) == [("answer:a", ["late"])]
    [history] = read_dataset_histories(view, [ds("x")], time(evening))
    assert [one.job for one in history.producers] == [job("copy")]
    # A run for `x` ends both.
    write_events(database, run("late", "copy", ["raw"], ["x"], minute=7 * DAY + 21 * HOUR))
    end = time(7 * DAY + 21 * HOUR + 1)
    assert stale(view, "x", 7 * DAY + 22 * HOUR) == [(time(7 * DAY + SIX + 1), end)]


def test_a_failure_concerns_the_dataset_that_it_names(database: Database, view: GraphView) -> None:
    empty(database)
    write_events(
        database,
        copies("x", range(7)),
        copies("y", range(6)),
        copies("y", [6], "FAIL"),
        answer("a", "x", minute=5 * DAY + 7 * HOUR),
        answer("b", "y", minute=5 * DAY + 7 * HOUR),
    )
    assert answers(view, 6 * DAY + 9 * HOUR) == [("answer:b", ["failed"])]
    histories = read_dataset_histories(view, [ds("x"), ds("y")], time(7 * DAY))
    failures = [[one.urn for one in history.producers[0].failures] for history in histories]
    assert failures == [[], [run_of("y6")]]


def test_a_promise_holds_when_the_job_turns_to_another_dataset(
    database: Database, view: GraphView
) -> None:
    empty(database)
    promised = {"tags": {"tags": [{"key": "freshness", "value": "24h"}]}}
    write_events(
        database,
        [dataset_event("x", 0, promised), dataset_event("z", 0, promised)],
        copies("x", [0]),
        copies("y", [0]),
        run("z0", "other", ["raw"], ["z"], minute=SIX),
    )
    assert stale(view, "x", 2 * DAY) == [(time(DAY + SIX + 1), None)]
    [history] = read_dataset_histories(view, [ds("x")], time(2 * DAY))
    assert (history.producers, [one.job for one in history.former_producers]) == ((), [job("copy")])
    assert [one.urn for one in history.complete_versions] == [version("x", "x0")]
