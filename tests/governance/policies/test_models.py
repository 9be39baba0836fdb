"""Tests of what policies are made of: patterns, approvals, and which actions they concern."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from headwater.governance.policies.models import (
    STANDING,
    SUBJECTS_OF_ACTION,
    Approval,
    Match,
    PolicyException,
    Subject,
    glob_pattern,
    glob_regex,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_a_pattern_matches_any_text_for_a_star_only() -> None:
    assert re.fullmatch(glob_regex("s3://*/[x]"), "s3://a/b/[x]")
    assert not re.fullmatch(glob_regex("a.b"), "axb")
    assert re.fullmatch(glob_regex("*"), "")


@given(
    st.lists(st.text("ab*.", max_size=8), min_size=1, max_size=3),
    st.text("ab.\n", max_size=12),
)
def test_patterns_match_as_their_regular_expressions(globs: list[str], text: str) -> None:
    expected = any(re.fullmatch(glob_regex(glob), text, re.DOTALL) for glob in globs)
    assert bool(glob_pattern(globs).fullmatch(text)) is expected


def test_a_pattern_of_many_stars_ends() -> None:
    hostile = glob_pattern(["*a" * 200 + "b"])
    assert not hostile.fullmatch("a" * 4_000)
    exception = PolicyException("*a" * 200 + "b", "")
    assert not exception.applies("a" * 4_000, NOON)
    assert glob_pattern(["*a" * 200]).fullmatch("a" * 4_000)


def test_an_empty_match_includes_every_node() -> None:
    assert Match().includes({})
    assert not Match(namespaces=("*",)).includes({})
    assert Match(types=("MODEL",)).includes({"node.type": "model"})


def test_an_approval_ends() -> None:
    approval = Approval("a", "mia", until=NOON)
    assert approval.applies("a", datetime(2026, 1, 1, tzinfo=UTC))
    assert not approval.applies("a", NOON)
    assert not approval.applies("b", datetime(2026, 1, 1, tzinfo=UTC))


def test_each_subject_is_standing_or_of_an_action() -> None:
    of_actions = frozenset[Subject]().union(*SUBJECTS_OF_ACTION.values())
    assert of_actions | STANDING == set(Subject)
