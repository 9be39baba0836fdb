"""The lineage drawing: boxes, arrows and sizes worked out by hand."""

from __future__ import annotations

from typing import Any

from headwater.pictures.svg import draw_lineage


def node(kind: str, name: str, namespace: str | None = "db") -> dict[str, Any]:
    return {"urn": name, "kind": kind, "namespace": namespace, "name": name}


def edge(source: str, target: str, type: str = "FEEDS") -> dict[str, str]:
    return {"source": source, "target": target, "type": type}


CHAIN = {
    "nodes": [node("DATASET", "raw"), node("JOB", "load", "etl"), node("DATASET", "mart")],
    "edges": [
        edge("raw", "load"),
        edge("load", "mart", "PRODUCED"),
        edge("mart", "raw", "DERIVED_FROM"),
    ],
}


def test_chain_is_drawn_from_left_to_right() -> None:
    drawing = draw_lineage(CHAIN, "mart")
    # Three columns of 230 pixels, the last of them 180 wide, and a margin of 12 on each side.
    assert 'width="664" height="50"' in drawing
    assert 'd="M192 25C217 25 217 25 242 25"' in drawing
    assert 'd="M422 25C447 25 447 25 472 25"' in drawing
    assert "3 nodes, 2 edges" in drawing
    assert "DERIVED_FROM" not in drawing


def test_subject_is_marked_and_kinds_have_classes() -> None:
    drawing = draw_lineage(CHAIN, "mart")
    assert drawing.count('class="node dataset"') == 1
    assert drawing.count('class="node dataset subject"') == 1
    assert '<g class="node job"><title>JOB etl load</title>' in drawing


def test_edge_to_an_unknown_node_is_not_drawn() -> None:
    lineage = {"nodes": [node("DATASET", "raw")], "edges": [edge("raw", "elsewhere")]}
    assert 'class="edge"' not in draw_lineage(lineage, "raw")


def test_empty_lineage_has_no_boxes() -> None:
    assert 'class="node' not in draw_lineage({"nodes": [], "edges": []}, "raw")


def test_answer_has_no_namespace_in_its_title() -> None:
    lineage = {"nodes": [node("ANSWER", "q1", None)], "edges": []}
    assert "<title>ANSWER q1</title>" in draw_lineage(lineage, "q1")


def test_curve_of_a_back_edge_stays_inside_the_drawing() -> None:
    lineage = {
        "nodes": [node("DATASET", "table"), node("JOB", "update", "etl")],
        "edges": [edge("table", "update"), edge("update", "table", "PRODUCED")],
    }
    drawing = draw_lineage(lineage, "table")
    # Two columns are 230 + 180 pixels and two margins of 12. The curve of the edge back bends half
    # a column, 115 pixels, beyond the boxes on both sides.
    assert 'width="664" height="50" viewBox="-115 0 664 50"' in drawing
    assert 'd="M422 25C537 25 -103 25 12 25"' in drawing
