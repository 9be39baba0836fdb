"""The tags of a facet with the edits of people, worked out by hand."""

from __future__ import annotations

import pytest

from headwater.schema.facets.dataset import DatasetTag
from headwater.schema.facets.job import JobTag
from headwater.schema.facts import LwwRegister, Registers
from headwater.schema.tags import ADDED, REMOVED, Tag, edited_tags, tag_key, tag_text


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        (JobTag("pii"), "pii"),
        (JobTag("pii", ""), "pii"),
        (JobTag("pii", "true"), "pii"),
        (JobTag("pii", "pii"), "pii"),
        (JobTag("pii", "false"), "pii=false"),
        (DatasetTag("tier", "gold", field="amount"), "tier=gold"),
    ],
)
def test_the_text_of_a_tag(tag: Tag, text: str) -> None:
    assert tag_text(tag) == text


def test_a_tag_is_its_field_and_its_text() -> None:
    assert tag_key(JobTag("tier", "gold")) == '["", "tier=gold"]'
    assert tag_key(DatasetTag("pii", "true", field="email")) == '["email", "pii"]'
    # Who set it makes no difference.
    assert tag_key(DatasetTag("pii", source="USER")) == tag_key(DatasetTag("pii", "true"))


def edits(**verdicts: str) -> Registers:
    """Return edits of tags of the whole dataset by their keys."""
    return {
        tag_key(DatasetTag(text)): LwwRegister(5, 0, verdict) for text, verdict in verdicts.items()
    }


def texts(tags: list[Tag]) -> list[str]:
    return [tag_text(tag) for tag in tags]


@pytest.mark.parametrize(
    ("facet", "changes", "expected"),
    [
        (None, {}, []),
        (["gold"], {}, ["gold"]),
        (["gold", "pii"], edits(gold=REMOVED), ["pii"]),
        (["gold"], edits(pii=ADDED), ["gold", "pii"]),
        # What the producer sends already is not added twice.
        (["gold"], edits(gold=ADDED), ["gold"]),
        # What it does not send need not be removed.
        (["gold"], edits(pii=REMOVED), ["gold"]),
        (None, edits(b=ADDED, a=ADDED), ["a", "b"]),
    ],
)
def test_the_edits_of_people_override_the_facet(
    facet: list[str] | None, changes: Registers, expected: list[str]
) -> None:
    tags = None if facet is None else [DatasetTag(one) for one in facet]
    assert texts(edited_tags(tags, changes)) == expected


def test_a_tag_of_a_field_is_another_tag() -> None:
    of_field, of_dataset = DatasetTag("pii", field="email"), DatasetTag("pii")
    removed = {tag_key(of_field): LwwRegister(5, 0, REMOVED)}
    assert edited_tags([of_field, of_dataset], removed) == [of_dataset]
    added = {tag_key(of_field): LwwRegister(5, 0, ADDED)}
    assert edited_tags([of_dataset], added) == [of_dataset, of_field]


def test_edits_count_once_however_often_they_are_applied() -> None:
    changes = edits(gold=REMOVED, pii=ADDED)
    once = edited_tags([DatasetTag("gold"), DatasetTag("tier", "1")], changes)
    assert edited_tags(once, changes) == once
