"""The lineage that a reader of some namespaces gets, compared with an oracle in plain Python.

The oracle knows the whole graph from the events. For a question without a bound on hops it computes
the visible nodes and edges, and the visible nodes that hidden paths connect; the answer must be
exactly that. For any question it checks that no hidden name or namespace occurs in the answer.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import chain, product
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP, RUNS_DOWN, RUNS_UP
from headwater.lineage.traversal.request import DEPTH_MAX, Bounds, TraversalRequest
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.urns import (
    answer_urn,
    artifact_urn,
    dataset_urn,
    job_urn,
    run_urn,
    source_urn,
)
from headwater.schema.visibility import Visibility
from tests.lineage_requests import lineage
from tests.run_builders import at, write_events

pytestmark = pytest.mark.neo4j

READERS, QUESTIONS, LINEAGES = 50, 200, 120
NAMESPACES = [f"ns-{letter}" for letter in "abcdef"]
LAYERS = {
    (True, "UPSTREAM"): DATASETS_UP,
    (True, "DOWNSTREAM"): DATASETS_DOWN,
    (False, "UPSTREAM"): RUNS_UP,
    (False, "DOWNSTREAM"): RUNS_DOWN,
}
Edges = dict[str, set[str]]
Answer = tuple[Iterable[str], Iterable[Edge]]


@dataclass
class World:
    """Every node with the namespaces that its visibility requires, and every edge, of both
    layers.
    """

    namespaces: dict[str, set[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    downstream: Edges = field(default_factory=lambda: defaultdict(set))
    events: list[dict[str, Any]] = field(default_factory=list)

    def node(self, urn: str, namespace: str, name: str) -> str:
        self.namespaces.setdefault(urn, set()).add(namespace)
        self.names[urn] = name
        return urn

    def edge(self, source: str, target: str) -> None:
        self.downstream[source].add(target)

    def backward(self) -> Edges:
        found: Edges = defaultdict(set)
        for source, targets in self.downstream.items():
            for target in targets:
                found[target].add(source)
        return found


def make_world(chance: random.Random) -> World:
    """Build forty jobs that each ran once, in order, over thirty datasets, and a few answers."""
    world = World()
    newest: dict[tuple[str, str], str] = {}
    datasets = [(chance.choice(NAMESPACES), f"table-{number:02d}x") for number in range(30)]
    for number in range(40):
        home, name, run_id = chance.choice(NAMESPACES), f"job-{number:02d}x", f"run-{number:02d}x"
        outputs = chance.sample(datasets, chance.randint(1, 2))
        inputs = [
            one for one in chance.sample(datasets, chance.randint(0, 3)) if one not in outputs
        ]
        world.events += native.run_events(
            run_id,
            pipeline_name=name,
            namespace=home,
            started_at=at(number * 2),
            finished_at=at(number * 2 + 1),
            inputs=[{"namespace": one[0], "name": one[1]} for one in inputs],
            outputs=[{"namespace": one[0], "name": one[1]} for one in outputs],
        )
        job, run = (
            world.node(job_urn(home, name), home, name),
            world.node(run_urn(run_id), home, name),
        )
        for one in inputs:
            world.edge(world.node(dataset_urn(*one), *one), job)
            world.edge(world.node(newest.get(one, source_urn(*one)), *one), run)
        for one in outputs:
            world.edge(job, world.node(dataset_urn(*one), *one))
            version = world.node(artifact_urn(*one, run_id), *one)
            world.edge(run, version)
            # No event says that the write replaced anything, so the version keeps the one before.
            if one in newest:
                world.edge(newest[one], version)
            newest[one] = version
    for number in range(8):
        cited = chance.sample(sorted(newest), chance.randint(1, 2))
        answer = answer_urn(f"answer-{number}x")
        cites = [
            {"namespace": one[0], "name": one[1], "runId": newest[one].rpartition(":")[2]}
            for one in cited
        ]
        world.events.append(native.answer_event(f"answer-{number}x", cites=cites))
        for one in cited:
            world.node(answer, one[0], f"answer-{number}x")
            world.edge(newest[one], answer)
    return world


@pytest.fixture(scope="module")
def world(database: Database, graph_driver: Any) -> World:
    graph_driver.execute_query("MATCH (n) WHERE NOT n:Migration DETACH DELETE n")
    sample = make_world(random.Random(5))
    write_events(database, sample.events)
    return sample


def reach(edges: Edges, starts: Iterable[str], through: set[str] | None = None) -> set[str]:
    """Return all reached nodes; only the nodes in `through` continue a path."""
    found: set[str] = set()
    waiting = list(chain.from_iterable(edges[start] for start in starts))
    while waiting:
        urn = waiting.pop()
        if urn not in found:
            found.add(urn)
            if through is None or urn in through:
                waiting.extend(edges[urn])
    return found


def expected(
    world: World, visible: set[str], start: str, direction: str
) -> tuple[set[str], set[Any], set[Any]]:
    """Return the visible nodes, the edges between them, and the pairs that hidden paths connect."""
    hidden = world.namespaces.keys() - visible
    edges = world.downstream if direction == "DOWNSTREAM" else world.backward()
    nodes = (reach(edges, [start]) | {start}) & visible
    pairs, joined = set[tuple[str, str]](), set[tuple[str, str]]()
    for a in nodes:
        pairs.update((a, b) for b in edges[a] & visible)
        for h in edges[a] & hidden:
            joined.update((a, b) for b in reach(edges, [h], hidden) & visible)
    if direction == "UPSTREAM":
        return nodes, {(b, a) for a, b in pairs}, {(b, a) for a, b in joined}
    return nodes, pairs, joined


def shown(nodes: Iterable[str], edges: Iterable[Edge]) -> tuple[set[str], set[Any], set[Any]]:
    """Return the nodes and the edges of an answer, and the pairs that its stubs connect."""
    urns, found = set(nodes), list(edges)
    stubs = {urn for urn in urns if urn.startswith("hidden:")}
    pairs = {(edge.source, edge.target) for edge in found if not {edge.source, edge.target} & stubs}
    before, after = defaultdict(set), defaultdict(set)
    for edge in found:
        if edge.target in stubs:
            before[edge.target].add(edge.source)
        if edge.source in stubs:
            after[edge.source].add(edge.target)
    joined = chain.from_iterable(product(before[urn], after[urn]) for urn in stubs)
    return urns - stubs, pairs, set(joined)


@dataclass(frozen=True)
class Reader:
    """A reader of some namespaces, the visible part of the world, and the words that must not occur
    in answers.
    """

    namespaces: tuple[str, ...]
    visible: set[str]
    secrets: set[str]

    @property
    def visibility(self) -> Visibility:
        return Visibility(self.namespaces)


def make_reader(world: World, namespaces: list[str]) -> Reader:
    visible = {urn for urn, needed in world.namespaces.items() if needed <= set(namespaces)}
    hidden = world.namespaces.keys() - visible
    words = {world.names[urn] for urn in hidden} - {world.names[urn] for urn in visible}
    return Reader(tuple(namespaces), visible, words | hidden | (set(NAMESPACES) - set(namespaces)))


def check_answer(
    world: World, reader: Reader, start: str, direction: str, depth: int, answer: Answer
) -> None:
    found = shown(*answer)
    complete = expected(world, reader.visible, start, direction)
    if depth == DEPTH_MAX:
        assert found == complete, (reader.namespaces, start, direction)
    assert all(part <= all_of_it for part, all_of_it in zip(found, complete, strict=True)), (
        start,
        direction,
        depth,
    )
    text = json.dumps([list(answer[0]), list(answer[1])])
    assert not [word for word in reader.secrets if word in text], (
        reader.namespaces,
        start,
        direction,
        depth,
    )


def test_no_traversal_shows_a_reader_hidden_nodes(world: World, view: GraphView) -> None:
    """Ask two hundred questions for each of fifty readers; those of one reader share their
    statements.
    """
    chance = random.Random(7)
    for _ in range(READERS):
        reader = make_reader(world, chance.sample(NAMESPACES, chance.randint(1, 5)))
        view = view.visible_to(reader.visibility)
        starts = [chance.choice(sorted(reader.visible)) for _ in range(QUESTIONS)]
        batches: dict[Any, list[str]] = defaultdict(list)
        for start in starts:
            on_lineage = start.startswith(("dataset:", "job:"))
            batches[
                on_lineage, chance.choice(["UPSTREAM", "DOWNSTREAM"]), chance.choice([2, DEPTH_MAX])
            ].append(start)
        for (on_lineage, direction, depth), begun in batches.items():
            bounds = Bounds.within(60, depth=depth, nodes_max=10_000, edges_max=100_000)
            traversals = traverse(
                view,
                TraversalRequest(LAYERS[on_lineage, direction], bounds),
                {start: [start] for start in begun},
            )
            for start, traversal in traversals.items():
                check_answer(
                    world, reader, start, direction, depth, (traversal.nodes, traversal.edges)
                )


def test_no_lineage_shows_a_reader_hidden_nodes(world: World, view: GraphView) -> None:
    """Ask through the public function, with names, distances and cursors; hidden nodes count as
    absent.
    """
    chance = random.Random(11)
    urns = sorted(world.namespaces)
    for _ in range(LINEAGES):
        reader = make_reader(world, chance.sample(NAMESPACES, chance.randint(1, 5)))
        view = view.visible_to(reader.visibility)
        start, direction = chance.choice(urns), chance.choice(["UPSTREAM", "DOWNSTREAM"])
        depth = chance.choice([1, 2, DEPTH_MAX])
        if start not in reader.visible:
            with pytest.raises(NotFoundError):
                lineage(view, start, direction=direction, depth=depth)
            continue
        answer = lineage(view, start, direction=direction, depth=depth)
        check_answer(
            world,
            reader,
            start,
            direction,
            depth,
            ([node.urn for node in answer.nodes], answer.edges),
        )
        text = json.dumps(asdict(answer), default=str)
        assert not [word for word in reader.secrets if word in text], (
            reader.namespaces,
            start,
            direction,
            depth,
        )


def test_a_reader_of_everything_is_shown_everything(world: World, view: GraphView) -> None:
    reader = make_reader(world, NAMESPACES)
    assert reader.visible == set(world.namespaces)
    for start in sorted(world.namespaces)[::7]:
        answer = lineage(view, start, direction="DOWNSTREAM", depth=DEPTH_MAX)
        check_answer(
            world,
            reader,
            start,
            "DOWNSTREAM",
            DEPTH_MAX,
            ([node.urn for node in answer.nodes], answer.edges),
        )
        assert not shown([node.urn for node in answer.nodes], answer.edges)[2]
