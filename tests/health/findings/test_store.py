"""Findings as nodes: nothing is lost in a row, and a pass writes only what changed."""

from __future__ import annotations

from dataclasses import replace

from headwater.health.findings.models import Consumer, Finding, Tier
from headwater.health.findings.store import changes, finding_of, finding_row, is_whole
from tests.health.findings.builders import at, episode, finding

FAILED = finding(
    episode("failed-run", "job:spark:load", 3, 5, key="run:r1", error="disk full", rows=[1, 2]),
    Tier.P1,
    root="finding:stale-source:dataset:db:raw@2026",
    owners=["team:orders"],
    consumers=[Consumer("answer:revenue", "ANSWER", ("cfo",), True)],
    datasets=4,
    jobs=3,
    answers=1,
    critical=2,
)


def stored(*found: Finding) -> dict[str, dict[str, object]]:
    rows = [finding_row(one, ["spark"]) for one in found]
    return {
        row["urn"]: {
            **{key: value for key, value in row["properties"].items() if value is not None},
            "urn": row["urn"],
            "changedAt": at(9),
        }
        for row in rows
    }


def test_a_row_holds_all_of_a_finding() -> None:
    [(urn, properties)] = stored(FAILED).items()
    assert urn == "finding:failed-run:job:spark:load@run:r1"
    assert finding_of(properties) == FAILED
    ended = replace(
        FAILED, episode=replace(FAILED.episode, resolved_at=at(8), resolved_by="run:r2")
    )
    [properties] = stored(ended).values()
    assert properties["isOpen"] is False
    assert finding_of(properties) == ended


def test_a_finding_that_is_just_being_written_is_not_whole() -> None:
    [properties] = stored(FAILED).values()
    assert is_whole(properties)
    assert is_whole(next(iter(stored(finding(episode("duration", "job:a:b"))).values())))
    for name in ("consumerDetails", "consumers", "tier", "root", "owners"):
        assert not is_whole({key: one for key, one in properties.items() if key != name})
    assert not is_whole({**properties, "consumers": []})


def test_an_unchanged_finding_is_not_written() -> None:
    again = changes(stored(FAILED), [finding_row(FAILED, ["spark"])])
    assert (again.rows, again.deleted, again.count) == ([], [], 0)


def test_new_changed_and_vanished_findings_are_told_apart() -> None:
    vanished = finding(episode("duration", "job:spark:load", key="run:r0"))
    new = finding(episode("row-count", "dataset:db:t", key="artifact:db:t:r1"))
    changed = replace(FAILED, tier=Tier.P2)
    rows = [finding_row(changed, ["spark"]), finding_row(new, ["db"])]
    found = changes(stored(FAILED, vanished), rows)
    assert [row["urn"] for row in found.rows] == [changed.id, new.id]
    assert found.deleted == [vanished.id]


def test_a_finding_that_is_open_again_loses_its_end() -> None:
    ended = replace(
        FAILED, episode=replace(FAILED.episode, resolved_at=at(8), resolved_by="run:r2")
    )
    found = changes(stored(ended), [finding_row(FAILED, ["spark"])])
    assert [row["properties"]["resolvedAt"] for row in found.rows] == [None]
