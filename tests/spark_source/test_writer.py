"""Rows as events: answers, tags, wrong rows and batches. test_source.py sends them from Spark."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from headwater.errors import QueryError, SettingsError
from headwater.schema.urns import answer_urn, dataset_urn, job_urn, run_urn
from headwater.spark_source import writer
from headwater.spark_source.options import write_options
from headwater.spark_source.writer import (
    HeadwaterWriter,
    answer_event,
    batches,
    deduplicate,
    tags_event,
)

NOON = "2026-01-01T12:00:00Z"


def test_an_answer_cites_by_urn_or_by_name() -> None:
    cites = [dataset_urn("db", "a"), answer_urn("q0"), {"namespace": "db", "name": "b", "x": None}]
    subject, event = answer_event({"answerId": "q1", "cites": cites}, NOON)
    assert subject == "the answer 'q1'"
    assert event["eventTime"] == NOON
    [facet] = [one for one in event["dataset"]["facets"].values() if "cites" in one]
    assert facet["cites"] == [
        {"namespace": "db", "name": "a"},
        {"answerId": "q0"},
        {"namespace": "db", "name": "b"},
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answerId": " ", "cites": []}, "'answerId' is empty"),
        ({"answerId": "q", "cites": "x"}, "'cites' must be a list"),
        ({"answerId": "q", "cites": [run_urn("r")]}, "an answer cites datasets"),
        ({"answerId": "q", "cites": [{"name": "b"}]}, "without namespace and name, or answerId"),
    ],
)
def test_a_wrong_answer_names_its_column(row: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        answer_event(row, NOON)


def test_tags_are_strings_or_structs() -> None:
    row = {"urn": job_urn("etl", "load"), "tags": ["tier=1", "nightly", {"key": "k", "field": "f"}]}
    subject, event = tags_event(row, NOON)
    assert subject == f"the tags of {job_urn('etl', 'load')}"
    tags = event["job"]["facets"]["tags"]["tags"]
    assert [(tag["key"], tag["value"]) for tag in tags] == [
        ("tier", "1"),
        ("nightly", "true"),
        ("k", "true"),
    ]
    assert tags[2]["field"] == "f"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"urn": run_urn("r"), "tags": []}, "only datasets and jobs have tags"),
        ({"urn": dataset_urn("db", "a"), "tags": None}, "must be a list"),
        ({"urn": dataset_urn("db", "a"), "tags": ["a:b=c"]}, "is ambiguous"),
        ({"urn": dataset_urn("db", "a"), "tags": ["=c"]}, "without a key"),
    ],
)
def test_wrong_tags_name_their_column(row: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        tags_event(row, NOON)


def test_a_subject_has_one_event() -> None:
    assert deduplicate([("a", b"1"), ("b", b"2"), ("a", b"1")]) == [b"1", b"2"]
    with pytest.raises(QueryError, match="two rows differ about a"):
        deduplicate([("a", b"1"), ("a", b"2")])


def test_batches_keep_to_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "EVENTS_PER_BATCH", 2)
    monkeypatch.setattr(writer, "BATCH_BYTES_MAX", 10)
    events = [b"1234", b"1234", b"1234", b"12345678", b"123456789012"]
    assert [len(batch) for batch in batches(events)] == [2, 1, 1, 1]


def test_a_frame_must_have_the_columns_of_its_kind() -> None:
    options = write_options({"kind": "tags"}, {})
    with pytest.raises(SettingsError, match="needs the column 'tags'; the frame has urn"):
        HeadwaterWriter(options, StructType([StructField("urn", StringType())]))
    names = ("urn", "tags", "more")
    with pytest.raises(SettingsError, match="has no column 'more', only urn, tags"):
        HeadwaterWriter(options, StructType([StructField(name, StringType()) for name in names]))
