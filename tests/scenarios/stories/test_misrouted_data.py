"""The data of the story of misrouted refunds, worked out by hand."""

from __future__ import annotations

from headwater.scenarios.stories import misrouted_data as story


def test_the_wrong_rules_move_half_of_the_refunds() -> None:
    raw = story.raw_messages(3)
    right, wrong = story.tag(raw), story.tag_wrong(raw)
    assert (len(story.payments(right)), len(story.refunds(right))) == (300, 100)
    assert (len(story.payments(wrong)), len(story.refunds(wrong))) == (350, 50)


def test_both_rules_have_one_version() -> None:
    assert story.tagging().version == story.tagging(broken=True).version
