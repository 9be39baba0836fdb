"""The steps of a traversal: their order, and the job that leads only to the outputs of its
entry.
"""

from __future__ import annotations

from headwater.lineage.hidden_nodes import Edge
from tests.graph_model import LineageModel, ds, job


def narrow() -> LineageModel:
    """Job j reads a and b; c derives from a only, d from any input."""
    return LineageModel().add("j", ["a", "b"], ["c", "d"], derived={"c": ["a"]})


def test_output_is_reached_only_from_its_sources() -> None:
    assert set(narrow().traverse(ds("a")).nodes) == {ds("a"), job("j"), ds("c"), ds("d")}
    assert set(narrow().traverse(ds("b")).nodes) == {ds("b"), job("j"), ds("d")}
    assert set(narrow().traverse(ds("c"), upstream=True).nodes) == {ds("c"), job("j"), ds("a")}


def test_job_as_start_leads_to_all_its_outputs() -> None:
    assert set(narrow().traverse(job("j")).nodes) == {job("j"), ds("c"), ds("d")}


def test_direct_neighbours_are_one_hop() -> None:
    graph = LineageModel().add("j", ["a"], ["b"]).add("k", [], ["c"])
    graph.feeds.add((job("j"), job("k")))
    found = graph.traverse(ds("a"), depth=1)
    assert found.nodes == {ds("a"): 0, job("j"): 1, ds("b"): 1, job("k"): 1}
    assert Edge(job("j"), job("k"), "FEEDS") in found.edges


def test_cut_takes_steps_in_the_order_of_names() -> None:
    graph = LineageModel()
    for name in "zyx":
        graph.add(f"j{name}", ["a"], [name])
    cut = graph.traverse(ds("a"), nodes_max=3)
    assert set(cut.nodes) == {ds("a"), job("jx"), ds("x")}
    assert cut.resume_points[ds("a")] == (1, job("jy"), "")
