"""Versions with another schema than the version before, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.pagination import FIRST_PAGE, page_request
from headwater.lineage.questions.schema_changes import schema_changes
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, run_event, schema
from tests.run_builders import ds, version, write_events

pytestmark = pytest.mark.neo4j

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Write t with a column more at minute 1, the same again at 2, and the first one at 3.

    The failed run at minute 4 is no version to compare with. The schema of u never changes.
    """
    empty(database)
    narrow, wide = schema(a="int"), schema(a="int", b="string")
    write_events(
        database,
        [
            run_event("r0", minute=0, outputs=[dataset("t", narrow), dataset("u", narrow)]),
            run_event("r1", minute=1, outputs=[dataset("t", wide), dataset("u", narrow)]),
            run_event("r2", minute=2, outputs=[dataset("t", wide)]),
            run_event("r3", minute=3, outputs=[dataset("t", narrow)]),
            run_event("r4", "FAIL", minute=4, outputs=[dataset("t", wide)]),
        ],
    )
    yield view
    empty(database)


def test_changes_newest_first(history: GraphView) -> None:
    found = schema_changes(history, FIRST_PAGE)
    back, wider = found.page.entries
    assert (back.version, back.dataset) == (version("t", "r3"), ds("t"))
    assert back.at == START + timedelta(minutes=3)
    assert back.differences == ["dropped: b"]
    assert (wider.version, wider.differences) == (version("t", "r1"), ["added: b"])
    assert back.before == wider.after != back.after == wider.before
    assert (found.count, found.truncated) == (2, False)


def test_only_changes_of_the_window(history: GraphView) -> None:
    since = schema_changes(history, FIRST_PAGE, since=START + timedelta(minutes=2))
    assert [one.version for one in since.page.entries] == [version("t", "r3")]
    until = schema_changes(history, FIRST_PAGE, until=START + timedelta(minutes=3))
    assert [one.version for one in until.page.entries] == [version("t", "r1")]


def test_in_pages(history: GraphView) -> None:
    first = schema_changes(history, page_request(first=1))
    assert ([one.version for one in first.page.entries], first.page.has_next) == (
        [version("t", "r3")],
        True,
    )
    second = schema_changes(history, page_request(first=1, after=first.page.cursors[0]))
    assert ([one.version for one in second.page.entries], second.page.has_next) == (
        [version("t", "r1")],
        False,
    )


def test_hidden_and_other_namespaces_are_left_out(history: GraphView) -> None:
    assert schema_changes(history, FIRST_PAGE, namespace="web").count == 0
    hidden = history.visible_to(Visibility(("web",)))
    assert schema_changes(hidden, FIRST_PAGE).count == 0
