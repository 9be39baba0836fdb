"""The namespaces that match a pattern, in Python and in Neo4j alike."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.schema.visibility import UNRESTRICTED, Visibility


@pytest.mark.parametrize(
    ("patterns", "included", "excluded"),
    [
        (("spark",), ["spark"], ["Spark", "spark2", "aspark", "", "spark\n"]),
        (("team-a*",), ["team-a", "team-a/b", "team-a\nb"], ["team-b", "xteam-a"]),
        (
            ("s3://*/raw", "kafka://*"),
            ["s3://lake/raw", "s3:///raw", "kafka://b:9092"],
            ["s3://lake/clean", "kafka:/"],
        ),
        (("a.b+c[d]",), ["a.b+c[d]"], ["aXb+c[d]", "a.bbc[d]"]),
        (("", "**"), ["", "x"], []),
        ((), [], ["", "x"]),
        (("*",), ["", "anything", "é"], []),
    ],
)
def test_a_pattern_and_its_namespaces(
    patterns: tuple[str, ...], included: list[str], excluded: list[str]
) -> None:
    visibility = Visibility(patterns)
    assert [name for name in included + excluded if visibility.includes(name)] == included


def test_nodes_without_namespace_need_full_visibility() -> None:
    assert UNRESTRICTED.includes(None)
    assert not Visibility(("a",)).includes(None)


@given(
    st.text(), st.lists(st.text(alphabet=st.sampled_from("ab*.\\[(+é\n"), max_size=6), max_size=4)
)
def test_the_expressions_for_neo4j_agree(namespace: str, patterns: list[str]) -> None:
    visibility = Visibility(tuple(patterns))
    if visibility.regexes is None:
        assert visibility.includes(namespace)
    else:
        assert visibility.includes(namespace) == any(
            re.fullmatch(regex, namespace) for regex in visibility.regexes
        )


def test_json_without_hidden_entries() -> None:
    own, theirs = {"namespace": "own", "name": "a"}, {"namespace": "theirs", "name": "b"}
    document = {
        "columnLineage": {
            "fields": {"x": {"inputFields": [{**own, "field": "f"}, {**theirs, "field": "f"}]}}
        },
        "parent": {"job": theirs, "run": {"runId": "r"}},
        "numbers": [1, None, "theirs", [theirs, own]],
    }
    assert Visibility(("own",)).prune(document) == {
        "columnLineage": {"fields": {"x": {"inputFields": [{**own, "field": "f"}]}}},
        "parent": {"run": {"runId": "r"}},
        "numbers": [1, None, "theirs", [own]],
    }
    assert UNRESTRICTED.prune(document) == document


@pytest.mark.timeout(60)
def test_a_pattern_of_many_stars_takes_no_longer_to_fail() -> None:
    """The pattern comes from the caller, in the filter of a lineage, and Python runs nothing else
    while it matches. With backtracking, 20 stars over 4,000 characters would never end.
    """
    assert not Visibility(("*a" * 20 + "*b",)).includes("a" * 4_000)
    assert Visibility(("*a" * 20 + "*b*",)).includes("a" * 4_000 + "bc")
