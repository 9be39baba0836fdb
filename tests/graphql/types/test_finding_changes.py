"""Which changes of findings a subscriber gets."""

from __future__ import annotations

import pytest

from headwater.graphql.types.enums import FindingChangeKind, Tier
from headwater.graphql.types.finding_changes import FindingChange
from headwater.graphql.types.lineage_node import Finding
from headwater.health.findings.models import Tier as KnownTier
from tests.health.findings.builders import episode, finding


def change(
    *namespaces: str, subject: str = "job:etl:load", withdrawn: bool = False
) -> FindingChange:
    one = finding(episode("failed-run", subject, key="run:1"), KnownTier.P1)
    kind = FindingChangeKind.WITHDRAWN if withdrawn else FindingChangeKind.OPENED
    shown = None if withdrawn else Finding.of(one)
    return FindingChange(id=one.id, change=kind, finding=shown, namespaces=namespaces)


@pytest.mark.parametrize(
    ("rule", "tier", "namespace", "expected"),
    [
        ("", None, None, True),
        ("failed-run", None, None, True),
        ("missing-run", None, None, False),
        ("", Tier.P1, None, True),
        ("", Tier.P2, None, False),
        ("", None, "etl", True),
        ("", None, "db", False),
        ("failed-run", Tier.P1, "etl", True),
        ("failed-run", Tier.P2, "etl", False),
    ],
)
def test_all_conditions_must_hold(
    rule: str, tier: Tier | None, namespace: str | None, expected: bool
) -> None:
    assert change("etl").matches(rule, tier, namespace) is expected


def test_the_severity_of_a_withdrawn_finding_is_unknown() -> None:
    assert change("etl", withdrawn=True).matches("failed-run", Tier.P3, "etl")
    assert not change("etl", withdrawn=True).matches("missing-run", None, None)


def test_a_producer_has_no_namespace() -> None:
    one = change(subject="producer:https%3A//x.example")
    assert one.matches("", None, None)
    assert not one.matches("", None, "etl")


def test_an_answer_has_the_namespaces_of_what_it_rests_on() -> None:
    one = change("db", "lake", subject="answer:revenue")
    assert one.matches("", None, "db")
    assert one.matches("", None, "lake")
    assert not one.matches("", None, "revenue")
