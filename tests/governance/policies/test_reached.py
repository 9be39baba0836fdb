"""Tests of what searches reach; `test_facts` has them on a graph."""

from __future__ import annotations

from headwater.governance.policies.reached import Reached, citing_of


def test_answers_of_several_nodes() -> None:
    citing = {"dataset:a:x": ["answer:1", "answer:2"], "dataset:a:y": ["answer:2"]}
    assert citing_of(["dataset:a:x", "dataset:a:y", "job:a:z"], citing) == {"answer:1", "answer:2"}


def test_all_nodes_that_were_reached() -> None:
    assert list(Reached().urns) == []
    reached = Reached(upstream=["a"], inputs=["a"], readers=["b"], answers=["c"])
    assert set(reached.urns) == {"a", "b", "c"}
