"""A traversal discloses of hidden nodes only the visible nodes that they connect.

Each test draws a random graph with a hidden part. The hidden part is replaced by another with the
same connections between visible nodes, and every traversal gives the same result. A second
implementation, which follows single paths, checks the connections.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwater.lineage.hidden_nodes import HIDDEN, Edge
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.request import ResumePoint
from headwater.lineage.traversal.traversal import Traversal
from tests.graph_model import HIDDEN_NAMESPACE, LineageModel, ds, job

SEEDS = st.integers(0, 10**9)
FILTERS = (EVERY_NODE, Filter(tags=("even",)), Filter(job_types=("odd",)))


def is_hidden(urn: str) -> bool:
    return f":{HIDDEN_NAMESPACE}:" in urn


def visible(urns: set[str]) -> set[str]:
    return {urn for urn in urns if not is_hidden(urn)}


def random_graph(chance: random.Random) -> LineageModel:
    """Return a random graph.

    A visible job derives an output from any of its inputs, or from some of its visible ones. A
    hidden job derives an output from any of its inputs.
    """
    names = [
        f"{'h' if chance.random() < 0.5 else ''}{number}" for number in range(chance.randint(2, 9))
    ]
    graph = LineageModel()
    for number in range(chance.randint(1, 9)):
        name = f"{'h' if chance.random() < 0.5 else ''}j{number}"
        inputs = chance.sample(names, chance.randint(0, min(3, len(names))))
        outputs = chance.sample(names, chance.randint(0, min(3, len(names))))
        sources = [node for node in inputs if name.startswith("h") or not node.startswith("h")]
        targets = [node for node in outputs if name.startswith("h") or not node.startswith("h")]
        derived = {
            target: chance.sample(sources, chance.randint(1, len(sources)))
            for target in targets
            if sources and chance.random() < 0.4
        }
        graph.add(name, inputs, outputs, derived)
    return graph


# A state is a dataset ("" as job), a job that was reached from a dataset, or a job ("" as dataset).
State = tuple[str, str]
Steps = dict[State, set[State]]


def steps_of(graph: LineageModel) -> Steps:
    """Return the steps from a dataset to its consumers, and from there to their outputs."""
    steps: Steps = defaultdict(set)
    for name, inputs in graph.inputs.items():
        for dataset in inputs:
            steps[(dataset, "")].add((dataset, name))
            for output in graph.outputs.get(name, ()):
                sources = graph.derived.get((name, output), set()) & inputs
                if not sources or dataset in sources:
                    steps[(dataset, name)].add((output, ""))
    return steps


def connections(graph: LineageModel) -> tuple[set[tuple[str, str]], set[str], set[str]]:
    """Return the visible pairs with a hidden path between, and the starts and ends of such
    paths.
    """
    steps = steps_of(graph)
    for name in visible(set(graph.inputs)):
        # A path may leave a visible job by any of its outputs.
        hidden_outputs = {
            (output, "") for output in graph.outputs.get(name, ()) if is_hidden(output)
        }
        steps[(name, "")] = hidden_outputs
        steps[("", name)] |= hidden_outputs
    pairs, starts = set(), set()
    for start in visible(graph.urns):
        first = [state for state in steps[(start, "")] if is_hidden(state[1] or state[0])]
        if first:
            starts.add(start)
        pairs |= {(start, end) for end in hidden_path_ends(steps, first)}
    ends = set()
    for name, inputs in graph.inputs.items():
        if not is_hidden(name) and any(is_hidden(dataset) for dataset in inputs):
            ends.add(name)
    for name, outputs in graph.outputs.items():
        if is_hidden(name):
            ends |= visible(outputs)
    return pairs, starts, ends


def hidden_path_ends(steps: Steps, first: list[State]) -> set[str]:
    """Return the visible nodes at the ends of hidden paths that begin with these states."""
    ends: set[str] = set()
    waiting, visited = list(first), set(first)
    while waiting:
        for state in steps[waiting.pop()]:
            node = state[1] or state[0]
            if not is_hidden(node):
                ends.add(node)
            elif state not in visited:
                visited.add(state)
                waiting.append(state)
    return ends


def with_other_hidden_part(graph: LineageModel, chance: random.Random) -> LineageModel:
    """Return a graph with the same visible part and the same connections, by other hidden paths."""
    other = LineageModel(
        derived={key: sources for key, sources in graph.derived.items() if not is_hidden(key[0])}
    )
    for name in graph.inputs:
        if not is_hidden(name):
            other.inputs[name] = visible(graph.inputs[name])
            other.outputs[name] = visible(graph.outputs[name])
    pairs, starts, ends = connections(graph)
    fresh = iter(range(10_000))
    for start in sorted(starts):
        targets = sorted(target for source, target in pairs if source == start)
        groups = [targets] if chance.random() < 0.5 else [[target] for target in targets]
        for group in groups or [[]]:
            end = add_path_from(other, start, chance, fresh)
            for target in group:
                add_path_to(other, end, target, chance, fresh)
    for target in sorted(ends - {target for _, target in pairs}):
        for _ in range(chance.randint(1, 3)):
            add_path_to(other, f"hroot{next(fresh)}", target, chance, fresh)
    return other


def add_path_from(graph: LineageModel, start: str, chance: random.Random, fresh: Any) -> str:
    """Add a chain of hidden datasets and jobs after a node; return the name of its last dataset."""
    end = f"hd{next(fresh)}"
    if start.startswith("job:"):
        graph.outputs[start].add(ds(end))
    else:
        graph.add(name := f"hj{next(fresh)}", [], [end])
        graph.inputs[job(name)].add(start)
    return extend_path(graph, end, chance, fresh)


def extend_path(graph: LineageModel, end: str, chance: random.Random, fresh: Any) -> str:
    """Add up to three hidden jobs after a hidden dataset; return the name of the last dataset."""
    for _ in range(chance.randint(0, 3)):
        graph.add(f"hj{next(fresh)}", [end], [end := f"hd{next(fresh)}"])
        if chance.random() < 0.3:
            graph.add(f"hj{next(fresh)}", [end], [f"hd{next(fresh)}"])
    return end


def add_path_to(
    graph: LineageModel, end: str, target: str, chance: random.Random, fresh: Any
) -> None:
    """Add a chain of hidden datasets and jobs from a hidden dataset to a visible node."""
    if target.startswith("job:"):
        graph.inputs[target].add(ds(extend_path(graph, end, chance, fresh)))
    else:
        graph.add(name := f"hj{next(fresh)}", [extend_path(graph, end, chance, fresh)], [])
        graph.outputs[job(name)].add(target)


def result_of(traversal: Traversal) -> tuple[Any, ...]:
    return (
        traversal.nodes,
        traversal.edges,
        traversal.truncated,
        traversal.resume_points,
        traversal.omitted_neighbours,
    )


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_hidden_parts_with_equal_connections_give_equal_results(seed: int) -> None:
    chance = random.Random(seed)
    graph = random_graph(chance)
    other = with_other_hidden_part(graph, chance)
    assert connections(other) == connections(graph), "the test itself is wrong"
    for start in sorted(visible(graph.urns)):
        for upstream in (False, True):
            options: dict[str, Any] = {
                "upstream": upstream,
                "depth": chance.choice([1, 2, 3, 50]),
                "nodes_max": chance.choice([1, 2, 4, 5_000]),
                "filter": chance.choice(FILTERS),
            }
            result = result_of(graph.restricted().traverse(start, **options))
            assert result == result_of(other.restricted().traverse(start, **options))
            assert HIDDEN_NAMESPACE not in repr(result)


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_every_visible_reachable_node_is_returned_and_connected(seed: int) -> None:
    graph = random_graph(random.Random(seed))
    for start in sorted(visible(graph.urns)):
        for upstream in (False, True):
            complete = graph.traverse(start, upstream=upstream)
            restricted = graph.restricted().traverse(start, upstream=upstream)
            expected = visible(set(complete.nodes))
            assert {urn for urn in restricted.nodes if not urn.startswith(HIDDEN)} == expected
            visible_edges = {
                edge for edge in complete.edges if {edge.source, edge.target} <= expected
            }
            assert {
                edge for edge in restricted.edges if HIDDEN not in edge.source + edge.target
            } == visible_edges
            for edge in restricted.edges:
                assert {edge.source, edge.target} <= restricted.nodes.keys()


# Hidden paths that begin only at the end of a page, and hidden paths that return to their start.
@example(1133, True, True, 3, 1)
@example(288, False, True, 3, 1)
@example(7461, True, True, 3, 1)
@settings(max_examples=200, deadline=None)
@given(SEEDS, st.booleans(), st.booleans(), st.integers(3, 6), st.integers(1, 3))
def test_the_pages_of_a_traversal_are_complete(
    seed: int, upstream: bool, restricted: bool, nodes_max: int, depth: int
) -> None:
    chance = random.Random(seed)
    graph = random_graph(chance)
    graph = graph.restricted() if restricted else graph
    start = chance.choice(sorted(visible(graph.urns)) or [ds("0")])
    complete = graph.traverse(start, upstream=upstream)
    nodes: dict[str, int] = {}
    edges: set[Edge] = set()
    waiting: list[tuple[str, ResumePoint]] = [(start, ())]
    followed: set[tuple[str, ResumePoint]] = set()
    while waiting:
        urn, point = waiting.pop()
        if (urn, point) in followed:
            continue
        followed.add((urn, point))
        page = graph.traverse(
            urn, upstream=upstream, depth=depth, nodes_max=nodes_max, resume_from={urn: point}
        )
        nodes |= page.nodes
        edges |= page.edges
        waiting.extend(page.resume_points.items())
    if not restricted:
        assert set(complete.nodes) <= set(nodes)
        assert complete.edges <= edges
    else:
        expected = {urn for urn in complete.nodes if not urn.startswith(HIDDEN)}
        assert {urn for urn in nodes if not urn.startswith(HIDDEN)} >= expected
