"""Tests of what searches reach; `test_facts` has them on a graph."""

from __future__ import annotations

from headwater.governance.policies.reached import Reached, citing_of, sources_among
from headwater.lineage.hidden_nodes import Edge


def test_answers_of_several_nodes() -> None:
    citing = {"dataset:a:x": ["answer:1", "answer:2"], "dataset:a:y": ["answer:2"]}
    assert citing_of(["dataset:a:x", "dataset:a:y", "job:a:z"], citing) == {"answer:1", "answer:2"}


def test_all_nodes_that_were_reached() -> None:
    assert list(Reached().urns_upstream) == list(Reached().urns_downstream) == []
    reached = Reached(upstream=["a"], inputs=["a"], readers=["b"], answers=["c"])
    assert set(reached.urns_upstream) == {"a"}
    assert set(reached.urns_downstream) == {"b", "c"}


def test_sources_come_from_no_other_dataset() -> None:
    edges = [
        Edge("job:ingest", "dataset:landed", "PRODUCED"),
        Edge("dataset:landed", "job:clean", "FEEDS"),
        Edge("job:clean", "dataset:clean", "PRODUCED"),
        # A job that merges new data from outside into its own output.
        Edge("dataset:merged", "job:merge", "FEEDS"),
        Edge("job:merge", "dataset:merged", "PRODUCED"),
        Edge("dataset:file", "dataset:copy", "FEEDS"),
        Edge("hidden:1", "dataset:shown", "FEEDS"),
    ]
    datasets = [
        *("dataset:landed", "dataset:clean", "dataset:merged", "dataset:copy", "dataset:file"),
        *("dataset:shown", "hidden:1"),
    ]
    assert sources_among(datasets, edges) == [
        "dataset:file",
        "dataset:landed",
        "dataset:merged",
        "hidden:1",
    ]
    assert sources_among([], edges) == []
