"""The steps and the offsets of a run on its page, from the facets of real runs."""

from __future__ import annotations

import json

import pandas
import pytest
from playwright.sync_api import Page, expect

from headwater import steps
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.run_builders import Event, write_events
from tests.ui.axe import findings
from tests.ui.conftest import visit
from tests.ui.hostile import MARKUP, NAME
from tests.ui.test_hostile import NOT_ISOLATED
from tests.ui.test_pages import cells, section

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
RUN = "00000000-0000-4000-8000-000000000001"
FAILED = "00000000-0000-4000-8000-000000000002"
HOSTILE = "00000000-0000-4000-8000-000000000003"
# Partition, first offset of the run, next offset, end of the topic.
PARTITIONS = [(0, 3, 10, 12), (1, 0, 1_000, 1_000), (2, 5, 7, 2_000_007)]


@steps.track_transformation(rows=steps.rows("id", sample=5, hashed=False))
def without_nulls(frame: pandas.DataFrame) -> pandas.DataFrame:
    return frame.dropna()


@steps.track_transformation
def totals(frame: pandas.DataFrame) -> pandas.DataFrame:
    return frame[["amount"]].sum().to_frame()


@steps.track_transformation
def broken(frame: pandas.DataFrame) -> pandas.DataFrame:
    raise ValueError(f"{len(frame)} rows are too few")


def _frame() -> pandas.DataFrame:
    return pandas.DataFrame({"id": [1, 2, 3], "amount": [5.0, None, 7.0]})


def _stepped() -> list[Event]:
    with steps.run(job="daily", namespace="shop", run_id=RUN) as run:
        totals(without_nulls(_frame()))
    return [run.event("START"), run.event("COMPLETE")]


def _failed() -> list[Event]:
    run = steps.run(job="daily", namespace="shop", run_id=FAILED)
    with pytest.raises(ValueError, match="too few"), run:
        broken(_frame())
    return [run.event("START"), run.event("FAIL")]


def _hostile() -> list[Event]:
    """Return the same steps with hostile texts, and a topic of a hostile name."""
    texts = {"totals": NAME, "without_nulls": f"{NAME}{'long' * 500}", "daily": NAME, RUN: HOSTILE}
    text = json.dumps(_stepped())
    for name, hostile in texts.items():
        text = text.replace(f'"{name}"', json.dumps(hostile))
    events: list[Event] = json.loads(text)
    events[-1]["inputs"] = [_topic(f"topic {NAME}")]
    return events


def _topic(name: str) -> Event:
    rows = [
        {"partition": partition, "startOffset": begin, "endOffset": end, "latestOffset": latest}
        for partition, begin, end, latest in PARTITIONS
    ]
    usage = {"headwater_stream": {"partitions": rows}}
    return dataset(name, usage=usage, side="input", namespace="kafka://b:9092")


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    empty(database)
    streaming = run_event("stream", "RUNNING", 5, inputs=[_topic("orders")], outputs=["clean"])
    write_events(database, _stepped(), _failed(), _hostile(), [streaming])


def test_the_offsets_of_each_partition_and_how_far_behind_it_is(page: Page) -> None:
    visit(page, "/runs/stream")
    streams = section(page, "Partitions and offsets")
    assert cells(streams) == [
        ["orders kafka://b:9092", "0", "3", "10", "12", "2"],
        ["orders kafka://b:9092", "1", "0", "1,000", "1,000", "0"],
        ["orders kafka://b:9092", "2", "5", "7", "2,000,007", "2,000,000"],
    ]
    streams.get_by_role("button", name="lag").click()
    assert [row[5] for row in cells(streams)] == ["0", "2", "2,000,000"]
    expect(page.get_by_role("heading", name="Steps", exact=True)).to_have_count(0)


def test_steps_stand_in_order_with_rows_and_keys(page: Page) -> None:
    visit(page, f"/runs/{RUN}")
    table = section(page, "Steps")
    first, second = cells(table)
    assert first[:3] == ["1. without_nulls", "3", "2"]
    assert second[:3] == ["2. totals", "2", "1"]
    assert first[4] == "2 kept, 1 dropped, 0 added by id dropped: 2"
    assert second[4] == "–"
    # What the first step gave back is what the second got.
    assert first[3].split(" → ")[1] == second[3].split(" → ")[0]
    expect(page.get_by_role("heading", name="Partitions and offsets")).to_have_count(0)


def test_a_failed_step_has_its_error(page: Page) -> None:
    visit(page, f"/runs/{FAILED}")
    [row] = cells(section(page, "Steps"))
    assert (row[0], row[1], row[2]) == ("1. broken", "3", "–")
    assert "3 rows are too few" in row[-1]


@pytest.mark.parametrize("run", ["stream", RUN, FAILED])
def test_the_inside_of_a_run_is_accessible_and_fits_a_phone(page: Page, run: str) -> None:
    visit(page, f"/runs/{run}")
    found = findings(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert found + findings(page) == []


def test_hostile_steps_and_topics_are_text(page: Page) -> None:
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        visit(page, f"/runs/{HOSTILE}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(NOT_ISOLATED) == []
        assert page.locator('img[src="x"]').count() == 0
        assert page.evaluate("window.hostile") is None
    assert MARKUP in section(page, "Steps").inner_text()
    assert MARKUP in section(page, "Partitions and offsets").inner_text()
