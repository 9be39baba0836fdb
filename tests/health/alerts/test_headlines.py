"""Titles of alerts, worked out by hand."""

from __future__ import annotations

import pytest

from headwater.health.alerts.headlines import (
    HEADLINES,
    headline,
    reach_text,
    short_name,
    subject_name,
    title_of,
)
from headwater.health.alerts.models import Reach
from headwater.health.findings.rules import RULES


def test_each_rule_has_one_headline_with_the_node() -> None:
    assert HEADLINES.keys() == RULES.keys()
    for rule in RULES:
        text = headline(rule, "dataset:db:orders.daily")
        assert text.startswith("orders.daily ")
        assert "{" not in text


@pytest.mark.parametrize(
    ("urn", "kind", "namespace", "name"),
    [
        ("job:etl:orders", "JOB", "etl", "orders"),
        ("dataset:s3%3A//lake:flights/clean", "DATASET", "s3://lake", "flights/clean"),
        ("answer:daily%20revenue", "ANSWER", None, "daily revenue"),
        ("column:db:orders:amount", "COLUMN", "db", "orders.amount"),
        # A producer is no node of the lineage.
        ("producer:https%3A//x.example/y", "PRODUCER", None, "https://x.example/y"),
        # The name was too long for the urn.
        ("dataset:#00ff", "DATASET", None, "#00ff"),
    ],
)
def test_the_name_of_a_subject(urn: str, kind: str, namespace: str | None, name: str) -> None:
    found = subject_name(urn)
    assert (found.urn, found.kind, found.namespace, found.name) == (urn, kind, namespace, name)


def test_of_a_long_name_the_end_is_shown() -> None:
    assert short_name("job:etl:" + "x" * 120) == "x" * 120
    found = short_name("job:etl:" + "x" * 120 + "end")
    assert len(found) == 120
    assert found == "…" + "x" * 116 + "end"


@pytest.mark.parametrize(
    ("reach", "text"),
    [
        (Reach(), "nobody known"),
        (Reach(answers=1), "1 answer"),
        (Reach(datasets=2), "2 datasets"),
        (Reach(answers=2, datasets=1), "2 answers and 1 dataset"),
        (Reach(answers=1, datasets=1_234, jobs=3), "1 answer, 1,234 datasets and 3 jobs"),
        (Reach(jobs=1, critical=1), "1 job (1 critical)"),
        (Reach(datasets=500, truncated=True), "at least 500 datasets"),
        (Reach(truncated=True), "nobody known"),
    ],
)
def test_how_many_are_affected(reach: Reach, text: str) -> None:
    assert reach_text(reach) == text


def test_a_title_says_what_happened_where_and_to_whom() -> None:
    assert title_of("failed-run", "job:etl:orders", Reach(answers=1)) == (
        "orders failed. Affected: 1 answer"
    )
