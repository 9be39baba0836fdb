"""Values that people decide over those of producers, and the bound of their history."""

from __future__ import annotations

from random import Random

import pytest

from headwater.schema.edits import deprecation_of, edited_description, edited_owners
from headwater.schema.facets.headwater import Deprecation
from headwater.schema.facts import EDITS_MAX, Edit, LwwRegister, Registers, join_histories


def registers(**values: str) -> Registers:
    return {key.replace("_", ":"): LwwRegister(5, 0, value) for key, value in values.items()}


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({}, "By dbt."),
        (registers(description='"By hand."'), "By hand."),
        (registers(description=""), "By dbt."),
    ],
)
def test_a_description_by_hand_counts_until_it_is_withdrawn(
    edits: Registers, expected: str
) -> None:
    assert edited_description("By dbt.", edits) == expected


def test_each_owner_is_decided_alone() -> None:
    assert edited_owners(None, {}) is None
    assert edited_owners(["a", "b"], registers(owner_b="removed", owner_c="added")) == ["a", "c"]
    assert edited_owners(["a"], registers(owner_a="added")) == ["a"]
    assert edited_owners(None, registers(owner_c="removed")) == []


def test_a_deprecation_has_its_instant() -> None:
    edits = registers(deprecation='{"reason":"Old.","replacementUrn":"dataset:a:b"}')
    assert deprecation_of(edits) == (Deprecation("Old.", "dataset:a:b"), 5)
    assert deprecation_of(registers(deprecation="")) is None
    assert deprecation_of({}) is None


def test_the_newest_edits_stay_in_any_order_and_grouping() -> None:
    edits = [Edit(instant, 0, "description", "x") for instant in range(3 * EDITS_MAX)]
    shuffled = Random(7).sample(edits, len(edits))
    one_by_one: set[Edit] = set()
    for edit in shuffled:
        one_by_one = join_histories(one_by_one, {edit})
    halves = join_histories(
        join_histories(set(), set(shuffled[::2])), join_histories(set(shuffled[1::2]), set())
    )
    assert one_by_one == halves == set(edits[-EDITS_MAX:])
