"""The addresses in alerts, for each kind of node."""

from __future__ import annotations

import pytest

from headwater.health.alerts.links import absolute, links_of
from tests.health.alerts.alert_samples import URL
from tests.health.alerts.finding_builders import finding


@pytest.mark.parametrize(
    ("subject", "page", "lineage"),
    [
        ("job:etl:orders", "/jobs/job%3Aetl%3Aorders", "job%3Aetl%3Aorders"),
        (
            "dataset:s3%3A//lake:a/b",
            "/datasets/dataset%3As3%253A%2F%2Flake%3Aa%2Fb",
            "dataset%3As3%253A%2F%2Flake%3Aa%2Fb",
        ),
        # The pages of answers and runs have the id alone.
        ("answer:revenue", "/answers/revenue", "answer%3Arevenue"),
        ("run:0198c2f4", "/runs/0198c2f4", "run%3A0198c2f4"),
    ],
)
def test_a_node_has_a_page_its_lineage_and_a_runbook(subject: str, page: str, lineage: str) -> None:
    assert links_of(finding("row-count", subject), URL) == {
        "runbook": f"{URL}/runbooks/row-count",
        "page": f"{URL}{page}",
        "lineage": f"{URL}/lineage?urn={lineage}",
    }


@pytest.mark.parametrize("subject", ["producer:x", "hidden:ab"])
def test_a_node_without_a_page_has_a_runbook(subject: str) -> None:
    assert links_of(finding("clock-skew", subject), URL) == {
        "runbook": f"{URL}/runbooks/clock-skew"
    }


def test_without_the_address_of_the_page_there_are_no_links() -> None:
    assert links_of(finding(), "") == {}


def test_a_slash_at_the_end_of_the_address_does_not_double() -> None:
    assert absolute({"page": "/x"}, f"{URL}/base/") == {"page": f"{URL}/base/x"}
