"""The histories of answers as the graph gives them; each value is worked out by hand."""

from __future__ import annotations

from datetime import datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.answers.history import UsedVersion
from headwater.health.findings.answers.reader import read_answer_histories
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.run_builders import answer, at, ds, run, version, write_events

pytestmark = pytest.mark.neo4j


def time(minute: int) -> datetime:
    return datetime.fromisoformat(at(minute))


def test_what_an_answer_rests_on(database: Database, view: GraphView) -> None:
    empty(database)
    write_events(
        database,
        run("clean-1", "clean", ["raw"], ["clean"], minute=0),
        run("mart-1", "mart", ["clean"], ["mart"], minute=10),
        run("clean-2", "clean", ["raw"], ["clean"], minute=20),
        answer("a", "mart", minute=40),
        answer("a", "mart", minute=30),
        answer("pinned", {"namespace": "db", "name": "mart", "runId": "mart-1"}, minute=31),
    )
    urns = ["answer:a", "answer:none", "answer:pinned"]
    one, pinned = read_answer_histories(view, urns, time(60))
    assert (one.urn, one.generated_at) == ("answer:a", time(40))
    assert one.generations == (time(30), time(40))
    assert one.used == (
        UsedVersion(ds("mart"), version("mart", "mart-1"), time(11), True),
        UsedVersion(ds("clean"), version("clean", "clean-1"), time(1), False),
        UsedVersion(ds("raw"), "source:db:raw", None, False),
    )
    assert [history.urn for history in one.datasets] == [ds("mart"), ds("clean"), ds("raw")]
    assert (pinned.urn, pinned.used) == ("answer:pinned", ())
