"""The history of edits in words, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.edits import NamedEdit, edits_of
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset_event
from tests.run_builders import ds, write_events

pytestmark = pytest.mark.neo4j
ORDERS = ds("orders")


@pytest.fixture(autouse=True)
def _empty(database: Database) -> None:
    empty(database)


def edit(minute: int, facet: str = "headwater_edits", **content: Any) -> dict[str, Any]:
    facets: dict[str, Any] = {"headwater_edits": {"by": {"name": "ann"}}}
    facets[facet] = {**facets.get(facet, {}), **content}
    return dataset_event("orders", minute, facets)


def rows(edits: list[NamedEdit]) -> list[tuple[int, str, str | None, str | None, str | None]]:
    assert {one.by for one in edits} <= {"ann"}
    assert all(one.at.replace(minute=0) == datetime(2026, 1, 1, tzinfo=UTC) for one in edits)
    return [(one.at.minute, one.kind, one.column, one.before, one.after) for one in edits]


def test_the_newest_edit_is_first_and_each_has_the_value_before(
    database: Database, view: GraphView
) -> None:
    write_events(
        database,
        [edit(1, description={"value": "One.", "before": "By dbt."})],
        [edit(2, description={"value": "Two."})],
        [edit(3, deprecation={"value": {"reason": "Old."}})],
        [edit(4, deprecation={"value": None})],
        [edit(5, description={"value": None})],
    )
    assert rows(edits_of(view, [ORDERS])[ORDERS]) == [
        (5, "DESCRIPTION", None, "Two.", None),
        (4, "DEPRECATION", None, "Old.", None),
        (3, "DEPRECATION", None, None, "Old."),
        (2, "DESCRIPTION", None, "One.", "Two."),
        (1, "DESCRIPTION", None, "By dbt.", "One."),
    ]


def test_owners_tags_and_a_deletion(database: Database, view: GraphView) -> None:
    write_events(
        database,
        [edit(1, owners={"added": [{"name": "bob"}]})],
        [edit(2, owners={"removed": [{"name": "bob"}]})],
        [edit(3, "headwater_tags", added=[{"key": "pii", "value": "high", "field": "email"}])],
        [edit(4, "headwater_tags", removed=[{"key": "gold"}])],
        [edit(5, "headwater_deletion")],
    )
    assert rows(edits_of(view, [ORDERS])[ORDERS]) == [
        (5, "DELETION", None, None, None),
        (4, "TAG", None, "gold", None),
        (3, "TAG", "email", None, "pii=high"),
        (2, "OWNER", None, "bob", None),
        (1, "OWNER", None, None, "bob"),
    ]


def test_the_edits_of_one_request_share_an_id(database: Database, view: GraphView) -> None:
    write_events(
        database,
        [edit(1, description={"value": "One."}, owners={"added": [{"name": "bob"}]})],
        [edit(2, description={"value": "Two."})],
    )
    last, *first = edits_of(view, [ORDERS])[ORDERS]
    assert len({one.id for one in first}) == 1
    assert last.id not in {one.id for one in first}


def test_only_visible_nodes_have_edits(database: Database, view: GraphView) -> None:
    write_events(database, [edit(1, description={"value": "One."})])
    assert edits_of(view.visible_to(Visibility(("etl",))), [ORDERS]) == {}
    assert edits_of(view, []) == {}
