"""A workshop really computes its tables, and each of its events is one that the API accepts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headwater.scenarios.rows import Rows
from headwater.scenarios.workshop import Job, Workshop
from headwater.schema.events import parse

TONIGHT = datetime(2026, 3, 4, 2, tzinfo=UTC)
TYPES = {"id": "int", "price": "double"}


def double(rows: Rows) -> Rows:
    return [{"id": row["id"], "price": 2 * row["price"]} for row in rows]


JOB = Job(
    "double_prices",
    ("raw",),
    "prices",
    double,
    TYPES,
    {"price": [("raw", "price")]},
    owner="team:shop",
    checks=lambda rows: {"not_empty": bool(rows)},
)


class Sent(list[dict[str, Any]]):
    def add(self, events: Sequence[dict[str, Any]]) -> None:
        self.extend(events)


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def shop(tmp_path: Path, sent: Sent) -> Workshop:
    return Workshop("shop", tmp_path, sent.add, tonight=TONIGHT)


def test_a_job_writes_its_table_and_reports_what_it_measured(shop: Workshop, sent: Sent) -> None:
    shop.deliver("raw", [{"id": 1, "price": 2.5}, {"id": 2, "price": None}], TYPES, shop.night(1))
    shop.deliver("raw", [{"id": 1, "price": 2.5}, {"id": 2, "price": 4.0}], TYPES, shop.night(0))
    assert shop.run(JOB, shop.night(0, 5))
    assert sent == []
    shop.flush()
    assert shop.read("prices") == [{"id": 1, "price": 5.0}, {"id": 2, "price": 8.0}]
    captures, (start, complete) = sent[:2], sent[2:]
    assert [one["eventTime"] for one in captures] == [
        "2026-03-03T02:00:00Z",
        "2026-03-04T02:00:00Z",
    ]
    assert (start["eventType"], start["eventTime"]) == ("START", "2026-03-04T02:05:00Z")
    assert (complete["eventType"], complete["eventTime"]) == ("COMPLETE", "2026-03-04T02:06:00Z")
    (output,) = complete["outputs"]
    assert output["facets"]["dataQualityMetrics"]["columnMetrics"]["price"]["sum"] == 13.0
    assert output["facets"]["dataQualityAssertions"]["assertions"] == [
        {"assertion": "not_empty", "success": True}
    ]
    assert output["facets"]["columnLineage"]["fields"]["price"]["inputFields"] == [
        {"namespace": "shop", "name": "raw", "field": "price"}
    ]
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 2
    code = complete["job"]["facets"]["sourceCode"]["sourceCode"]
    assert code.startswith("def double(rows: Rows) -> Rows:\n")
    for event in sent:
        parse(json.dumps(event).encode(), received=0)


def test_a_job_that_raises_has_failed_and_its_table_stays(shop: Workshop, sent: Sent) -> None:
    shop.deliver("raw", [{"id": 1, "price": 2.0}], TYPES, shop.night(1))
    shop.run(JOB, shop.night(1, 5))
    shop.deliver("raw", [{"id": 1, "cost": 3.0}], TYPES, shop.night(0))
    assert not shop.run(JOB, shop.night(0, 5))
    shop.flush()
    assert shop.read("prices") == [{"id": 1, "price": 4.0}]
    failure = sent[-1]
    assert failure["eventType"] == "FAIL"
    assert failure["run"]["facets"]["errorMessage"]["message"] == "KeyError: 'price'"
    assert "facets" not in failure["outputs"][0]


def test_each_version_is_kept(shop: Workshop) -> None:
    for night, price in ((2, 1.0), (1, 2.0)):
        shop.deliver("raw", [{"id": 1, "price": price}], TYPES, shop.night(night))
        shop.run(JOB, shop.night(night, 5))
    first, second = shop.runs["double_prices"]
    assert shop.read_version("prices", first) == [{"id": 1, "price": 2.0}]
    assert shop.read_version("prices", second) == [{"id": 1, "price": 4.0}]


def test_nodes_have_the_urns_of_the_namespace(shop: Workshop) -> None:
    assert shop.urn("job:double_prices") == "job:shop:double_prices"
    assert shop.urn("dataset:raw") == "dataset:shop:raw"
    assert shop.urn("answer:report") == "answer:report"


def test_a_replay_begins_at_a_dataset_or_at_the_last_run_of_a_job(shop: Workshop) -> None:
    shop.deliver("raw", [{"id": 1, "price": 1.0}], TYPES, shop.night(0))
    shop.run(JOB, shop.night(0, 5))
    shop.replay_from("job:double_prices")
    assert list(shop.replay_start) == [f"run:{shop.runs['double_prices'][0]}", None]
    shop.replay_from("dataset:prices", shop.night(1))
    assert list(shop.replay_start) == ["dataset:shop:prices", "2026-03-03T02:00:00Z"]


def test_a_run_has_its_duration_and_further_facets(shop: Workshop, sent: Sent) -> None:
    shop.deliver("raw", [{"id": 1, "price": 1.0}], TYPES, shop.night(0))
    job = dataclasses.replace(JOB, compute=lambda rows: double(rows), code=double)
    took = timedelta(seconds=90)
    assert shop.run(job, shop.night(0, 5), took=took, facets={"invocation": {"attempt": 2}})
    shop.flush()
    start, complete = sent[-2:]
    assert start["run"]["facets"].keys() == {"headwater_run"}
    assert complete["eventTime"] == "2026-03-04T02:06:30Z"
    assert complete["run"]["facets"]["invocation"]["attempt"] == 2
    code = complete["job"]["facets"]["sourceCode"]["sourceCode"]
    assert code.startswith("def double(rows: Rows) -> Rows:\n")
