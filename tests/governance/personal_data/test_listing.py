"""Lists of personal data for callers who may not see everything."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.personal_data.listing import (
    PersonalDataFilter,
    exposed_artifacts,
    exposure,
    personal_data,
)
from headwater.governance.personal_data.marks import personal_data_marks
from headwater.governance.personal_data.reach import unmasked_reach
from headwater.lineage.hidden_nodes import stub_urn
from headwater.lineage.pagination import PageRequest
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.governance.personal_data.histories import COPY, columns, lineage, tagged
from tests.run_builders import Event, write_events

pytestmark = pytest.mark.neo4j
UNMASKED = PersonalDataFilter(unmasked_only=True)


def moved(
    job: str, source: tuple[str, str], target: tuple[str, str], minute: int, field: str = "mail"
) -> Event:
    facets = {
        **columns("mail"),
        **lineage(("mail", f"{source[1]}.{field}", COPY), namespace=source[0]),
    }
    return run_event(
        f"run-{job}",
        minute=minute,
        job=job,
        inputs=[dataset(source[1], namespace=source[0])],
        outputs=[dataset(target[1], facets, namespace=target[0])],
    )


@pytest.fixture(autouse=True)
def history(database: Database) -> None:
    """open.raw -> secret.one -> secret.two -> open.out, and secret.raw -> open.other.

    open.raw has email, secret.raw phone.
    """
    empty(database)
    write_events(
        database,
        [
            tagged("mail:pii=email", name="raw", namespace="open"),
            tagged("mail:pii=phone", name="raw", namespace="secret"),
            moved("a", ("open", "raw"), ("secret", "one"), 1),
            moved("b", ("secret", "one"), ("secret", "two"), 2),
            moved("c", ("secret", "two"), ("open", "out"), 3),
            moved("d", ("secret", "raw"), ("open", "other"), 4),
        ],
    )


def paths(view: GraphView) -> dict[str, list[str]]:
    page, _ = personal_data(view, UNMASKED, PageRequest(100))
    return {one.urn: list(one.path) for one in page.entries if one.kind == "COLUMN"}


def test_hidden_nodes_of_a_path_are_one_stub_and_hidden_jobs_have_no_name(view: GraphView) -> None:
    restricted = view.visible_to(Visibility(("open",)))
    raw, out = (column_urn("open", name, "mail") for name in ("raw", "out"))
    assert paths(restricted) == {out: [raw, stub_urn("from", raw), out]}
    page, count = personal_data(restricted, UNMASKED, PageRequest(100))
    assert count == 2
    assert "secret" not in repr(page)
    assert "job:etl:b" not in repr(page)


def test_everybody_counts_what_they_see(view: GraphView) -> None:
    assert exposure(view).exposed == 4
    assert exposure(view.visible_to(Visibility(("open",)))).exposed == 1
    assert exposed_artifacts(view.visible_to(Visibility(("s*", "open")))) == [
        "dataset:open:other",
        "dataset:open:out",
        "dataset:secret:one",
        "dataset:secret:two",
    ]
    assert exposed_artifacts(view.visible_to(Visibility(("secret",)))) == []
    assert exposure(view.visible_to(Visibility(("nothing",)))).exposed == 0
    assert exposure(view, PersonalDataFilter(classification="phone")).by_kind == {"DATASET": 1}


def test_a_hidden_classified_column_gives_nothing(view: GraphView, database: Database) -> None:
    """Column lineage from guessed names does not tell which of them another team classified."""
    restricted = view.visible_to(Visibility(("open",)))
    other = column_urn("open", "other", "mail")
    assert personal_data_marks(restricted, [other]) == {}
    assert unmasked_reach(restricted, [other]) == {other: []}
    assert unmasked_reach(view, [other]) == {other: ["phone"]}
    # A hidden path that would come before changes nothing at a column that a visible one reaches.
    before = paths(restricted)
    write_events(
        database,
        [
            tagged("id:pii=email", name="raw", namespace="secret"),
            moved("e", ("secret", "raw"), ("open", "out"), 5, field="id"),
        ],
    )
    assert paths(restricted) == before
