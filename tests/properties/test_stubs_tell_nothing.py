"""What may not be seen has no part in what a walk shows but that ways lead through it.

Random maps of which a part is hidden; the hidden part is replaced by another that joins the same of
what is seen, and every walk shows the same. A second reading of what is joined, along single ways,
holds the first to be right.
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
from tests.graph_model import UNSEEN, Map, ds, job

SEEDS = st.integers(0, 10**9)
FILTERS = (EVERY_NODE, Filter(tags=("even",)), Filter(job_types=("odd",)))


def is_hidden(urn: str) -> bool:
    return f":{UNSEEN}:" in urn


def random_map(chance: random.Random) -> Map:
    """Jobs that are seen make what they make of anything they read, or of some of what is seen
    of it; hidden ones of whatever they like.
    """
    names = [
        f"{'h' if chance.random() < 0.5 else ''}{number}" for number in range(chance.randint(2, 9))
    ]
    map = Map()
    for number in range(chance.randint(1, 9)):
        name = f"{'h' if chance.random() < 0.5 else ''}j{number}"
        inputs = chance.sample(names, chance.randint(0, min(3, len(names))))
        outputs = chance.sample(names, chance.randint(0, min(3, len(names))))
        plain = [one for one in inputs if name.startswith("h") or not one.startswith("h")]
        narrow = [one for one in outputs if name.startswith("h") or not one.startswith("h")]
        derived = {
            o: chance.sample(plain, chance.randint(1, len(plain)))
            for o in narrow
            if plain and chance.random() < 0.4
        }
        map.add(name, inputs, outputs, derived)
    return map


Steps = dict[tuple[str, str], set[tuple[str, str]]]


def steps_of(map: Map) -> Steps:
    """From a dataset to the jobs that read it, as ("in", dataset, job) and from there to what
    comes of it.
    """
    steps: Steps = defaultdict(set)
    for name, inputs in map.inputs.items():
        for one in inputs:
            steps[(one, "")].add((one, name))
            for output in map.outputs.get(name, ()):
                known = map.derived.get((name, output), set()) & inputs
                if not known or one in known:
                    steps[(one, name)].add((output, ""))
    return steps


def joined(map: Map) -> tuple[set[tuple[str, str]], set[str], set[str]]:
    """Which nodes that are seen are joined by ways out of sight, where such ways begin, and
    where they end.
    """
    steps = steps_of(map)
    for name in map.inputs:
        if not is_hidden(name):
            # A job that is seen can be left by whatever it makes.
            steps[(name, "")] = {
                (output, "") for output in map.outputs.get(name, ()) if is_hidden(output)
            }
            for output in map.outputs.get(name, ()):
                if is_hidden(output):
                    steps[("", name)].add((output, ""))
    pairs, leaving = set(), set()
    for start in {urn for urn in map.urns if not is_hidden(urn)}:
        waiting = [state for state in steps[(start, "")] if is_hidden(state[1] or state[0])]
        leaving |= {start} if waiting else set()
        known = set(waiting)
        while waiting:
            for state in steps[waiting.pop()]:
                seen = state[1] or state[0]
                if not is_hidden(seen):
                    pairs.add((start, seen))
                elif state not in known:
                    known.add(state)
                    waiting.append(state)
    entered = {
        n
        for n, some in map.inputs.items()
        if not is_hidden(n) and any(is_hidden(one) for one in some)
    }
    entered |= {
        d for n, some in map.outputs.items() if is_hidden(n) for d in some if not is_hidden(d)
    }
    return pairs, leaving, entered


def other_than(map: Map, chance: random.Random) -> Map:
    """Another map in which the same that is seen is joined by other ways out of sight."""
    other = Map(derived={key: known for key, known in map.derived.items() if not is_hidden(key[0])})
    for name in map.inputs:
        if not is_hidden(name):
            other.inputs[name] = {one for one in map.inputs[name] if not is_hidden(one)}
            other.outputs[name] = {one for one in map.outputs[name] if not is_hidden(one)}
    pairs, leaving, entered = joined(map)
    fresh = iter(range(10_000))
    for start in sorted(leaving):
        targets = sorted(target for source, target in pairs if source == start)
        groups = [targets] if chance.random() < 0.5 else [[target] for target in targets]
        for group in groups or [[]]:
            end = way_out(other, start, chance, fresh)
            for target in group:
                way_in(other, end, target, chance, fresh)
    for target in sorted(entered - {target for _, target in pairs}):
        for _ in range(chance.randint(1, 3)):
            way_in(other, f"hroot{next(fresh)}", target, chance, fresh)
    return other


def way_out(map: Map, start: str, chance: random.Random, fresh: Any) -> str:
    """A chain of hidden datasets and jobs that begins here; the name of its last dataset."""
    end = f"hd{next(fresh)}"
    if start.startswith("job:"):
        map.outputs[start].add(ds(end))
    else:
        map.add(name := f"hj{next(fresh)}", [], [end])
        map.inputs[job(name)].add(start)
    return on(map, end, chance, fresh)


def on(map: Map, end: str, chance: random.Random, fresh: Any) -> str:
    for _ in range(chance.randint(0, 3)):
        map.add(f"hj{next(fresh)}", [end], [end := f"hd{next(fresh)}"])
        if chance.random() < 0.3:
            map.add(f"hj{next(fresh)}", [end], [f"hd{next(fresh)}"])
    return end


def way_in(map: Map, end: str, target: str, chance: random.Random, fresh: Any) -> None:
    if target.startswith("job:"):
        map.inputs[target].add(ds(on(map, end, chance, fresh)))
    else:
        map.add(name := f"hj{next(fresh)}", [on(map, end, chance, fresh)], [])
        map.outputs[job(name)].add(target)


def said(walk: Traversal) -> tuple[Any, ...]:
    return walk.nodes, walk.edges, walk.truncated, walk.resume_points, walk.omitted_neighbours


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_hidden_parts_with_equal_connections_give_equal_results(seed: int) -> None:
    chance = random.Random(seed)
    map = random_map(chance)
    other = other_than(map, chance)
    assert joined(other) == joined(map), "the test is wrong: what it made is not the same"
    for start in sorted(urn for urn in map.urns if not is_hidden(urn)):
        for upstream in (False, True):
            depth = chance.choice([1, 2, 3, 50])
            bound = chance.choice([1, 2, 4, 5_000])
            where = chance.choice(FILTERS)
            shown = map.seen().walk(
                start, upstream=upstream, depth=depth, nodes_max=bound, where=where
            )
            same = other.seen().walk(
                start, upstream=upstream, depth=depth, nodes_max=bound, where=where
            )
            assert said(shown) == said(same)
            assert UNSEEN not in repr(said(shown))


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_every_visible_reachable_node_is_returned_and_connected(seed: int) -> None:
    map = random_map(random.Random(seed))
    for start in sorted(urn for urn in map.urns if not is_hidden(urn)):
        for upstream in (False, True):
            whole, seen = (
                map.walk(start, upstream=upstream),
                map.seen().walk(start, upstream=upstream),
            )
            visible = {urn for urn in whole.nodes if not is_hidden(urn)}
            assert {urn for urn in seen.nodes if not urn.startswith(HIDDEN)} == visible
            kept = {edge for edge in whole.edges if {edge.source, edge.target} <= visible}
            assert {edge for edge in seen.edges if HIDDEN not in edge.source + edge.target} == kept
            ends = {end for edge in seen.edges for end in (edge.source, edge.target)}
            assert ends <= seen.nodes.keys()


# Where ways that begin only at the end of a walk come back, and where a place comes back to where
# it began.
@example(1133, True, True, 3, 1)
@example(288, False, True, 3, 1)
@example(7461, True, True, 3, 1)
@settings(max_examples=200, deadline=None)
@given(SEEDS, st.booleans(), st.booleans(), st.integers(3, 6), st.integers(1, 3))
def test_the_pages_of_a_traversal_are_complete(
    seed: int, upstream: bool, restricted: bool, nodes_max: int, depth: int
) -> None:
    chance = random.Random(seed)
    map = random_map(chance)
    map = map.seen() if restricted else map
    start = chance.choice(sorted(urn for urn in map.urns if not is_hidden(urn)) or [ds("0")])
    whole = map.walk(start, upstream=upstream)
    nodes: dict[str, int] = {}
    edges: set[Edge] = set()
    waiting: list[tuple[str, ResumePoint]] = [(start, ())]
    tried: set[tuple[str, ResumePoint]] = set()
    while waiting:
        at = waiting.pop()
        if at in tried:
            continue
        tried.add(at)
        urn, mark = at
        walk = map.walk(urn, upstream=upstream, depth=depth, nodes_max=nodes_max, marks={urn: mark})
        nodes |= walk.nodes
        edges |= walk.edges
        waiting.extend(walk.resume_points.items())
    if not restricted:
        assert set(whole.nodes) <= set(nodes)
        assert whole.edges <= edges
    else:
        shown = {urn for urn in whole.nodes if not urn.startswith(HIDDEN)}
        assert {urn for urn in nodes if not urn.startswith(HIDDEN)} >= shown
