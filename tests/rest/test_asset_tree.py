"""The tree of any graph has every node once and every edge once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_names import NodeName
from headwater.lineage.questions.lineage import Lineage
from headwater.rest.asset_tree import Asset, TreeBuilder
from tests.run_builders import ds, job

NAMES = "abcdef"
pairs = st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=20)


def lineage_of(flows: set[tuple[str, str]], reached: set[str]) -> Lineage:
    nodes = [NodeName(ds(name), "DATASET", "db", name) for name in sorted(reached)]
    edges = [Edge(ds(a), ds(b), "FEEDS") for a, b in sorted(flows) if a in reached and b in reached]
    return Lineage(nodes, edges, "", ds("a"))


def reachable(flows: set[tuple[str, str]]) -> set[str]:
    reached = {"a"}
    while more := {b for a, b in flows if a in reached} - reached:
        reached |= more
    return reached


def all_of(node: Asset) -> Iterator[tuple[Asset, Asset]]:
    """Return every child with its parent."""
    for child in node.downstream or ():
        yield node, child
        yield from all_of(child)


@given(pairs)
def test_every_node_is_expanded_once_and_every_edge_occurs_once(
    flows: set[tuple[str, str]],
) -> None:
    reached = reachable(flows)
    root = TreeBuilder(lineage_of(flows, reached), {}).build(ds("a"), upstream=False)
    lines = list(all_of(root))
    expanded = Counter([root.name, *(child.name for _, child in lines if child.ref is not True)])
    assert expanded == Counter(reached)
    assert all(not child.downstream for _, child in lines if child.ref is True)
    assert Counter((parent.name, child.name) for parent, child in lines) == Counter(
        (a, b) for a, b in flows if a in reached and a != b
    )


@given(pairs)
def test_upstream_is_downstream_of_the_graph_turned_round(flows: set[tuple[str, str]]) -> None:
    turned = {(b, a) for a, b in flows}
    reached = reachable(turned)
    up = TreeBuilder(lineage_of(flows, reached), {}).build(ds("a"), upstream=True)
    down = TreeBuilder(lineage_of(turned, reached), {}).build(ds("a"), upstream=False)
    assert shape(up, "upstream") == shape(down, "downstream")


def shape(node: Asset, direction: str) -> tuple[str, bool, list[object]]:
    return (
        node.name,
        node.ref is True,
        [shape(child, direction) for child in getattr(node, direction) or ()],
    )


def test_a_job_and_the_dataset_of_its_name_are_one_asset() -> None:
    twin, other = ds("dag").replace("dataset:", "job:"), job("dag")
    nodes = [
        NodeName(urn, urn.partition(":")[0].upper(), "db", "dag")
        for urn in (twin, ds("dag"), other)
    ]
    edges = [
        Edge(ds("a"), twin, "FEEDS"),
        Edge(twin, ds("dag"), "PRODUCED"),
        Edge(ds("dag"), other, "FEEDS"),
    ]
    grower = TreeBuilder(
        Lineage([NodeName(ds("a"), "DATASET", "db", "a"), *nodes], edges, "", ds("a")), {}
    )
    tree = grower.build(ds("a"), upstream=False)
    (dag,) = tree.downstream or []
    (beyond,) = dag.downstream or []
    assert (grower.count, dag.name, beyond.name, dag.id != beyond.id, beyond.downstream) == (
        3,
        "dag",
        "dag",
        True,
        [],
    )
