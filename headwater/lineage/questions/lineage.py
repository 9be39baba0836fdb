"""The two questions of the house: what is connected to this, and where did this answer come from.

`lineage` starts from any urns and stays in one layer: datasets and jobs on the map, runs and versions and answers in
history, columns among columns; a level takes it to another layer (`starts`) or lifts it (`levels`). `trace` goes from
an answer back to the sources, with every run and version between. Both raise NotFoundError for a start that is not in
the graph and QueryError for a bad argument, and both say `truncated` when a bound cut them short. What may not be seen
is shown as stubs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.node_names import NodeName
from headwater.lineage.nodes import name_nodes, read_nodes, require_node
from headwater.lineage.traversal.adjacency import Asked
from headwater.lineage.traversal.bfs import HISTORY_UP, Bounds, Edge, Layer, Mark, Walk, explore
from headwater.lineage.traversal.cached_bfs import MapWalk, walk_in_memory
from headwater.lineage.traversal.cursors import Onward, Question, read_onward, write_onward
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.grouping import containers, lift
from headwater.lineage.traversal.starts import OF_COLUMNS, OF_RUNS, ON_MAP, Starts, starts
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn

DEPTH_DEFAULT = 10
DEPTH_MAX = 50
TRACE_HOPS_MAX = 200
NODES_MAX = 5_000
EDGES_MAX = 20_000
WALK_SECONDS_MAX = 5.0
# As far as a walk in memory takes less time than handing it to a thread does.
NODES_AT_HAND_MAX = 300

DIRECTIONS = ("UPSTREAM", "DOWNSTREAM", "BOTH")


@dataclass(frozen=True)
class Continuation:
    """A node from which there is more, and the cursor that shows it. `omitted_count`: how many nodes next to it are known
    that are not shown; 0 where nobody looked, or where what there is may not be seen."""

    urn: str
    cursor: str
    omitted_count: int


@dataclass(frozen=True)
class Difference:
    """What a map has at a later instant that it had not at an earlier one, and the other way round."""

    added_nodes: list[NodeName]
    removed_nodes: list[NodeName]
    added_edges: list[Edge]
    removed_edges: list[Edge]


@dataclass(frozen=True)
class Lineage:
    """What was reached, nearest first. `reason` tells which bound cut it short: depth, nodes, edges or time."""

    nodes: list[NodeName]
    edges: list[Edge]
    reason: str = ""
    # Where it started, by the name by which that goes, at the level asked for: the first, and all.
    start: str = ""
    starts: list[str] = field(default_factory=list)
    # urn -> hops from the nearest start
    distances: dict[str, int] = field(default_factory=dict)
    # How many nodes next to those shown are known that are not shown; of what may not be seen none is counted.
    omitted_count: int = 0
    continuations: list[Continuation] = field(default_factory=list)
    difference: Difference | None = None

    @property
    def truncated(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True)
class Trace:
    """An answer and all it came from: each node as its properties, nearest to the answer first."""

    answer: Row
    sources: list[Row]
    artifacts: list[Row]
    runs: list[Row]
    answers: list[Row]
    columns: list[Row]
    edges: list[Edge]
    reason: str = ""

    @property
    def truncated(self) -> bool:
        return bool(self.reason)

    @property
    def rows(self) -> dict[str, Row]:
        """The properties of every node, by urn; a stub has none."""
        nodes = (
            self.answer,
            *self.sources,
            *self.artifacts,
            *self.runs,
            *self.answers,
            *self.columns,
        )
        return {row["urn"]: row for row in nodes}


def lineage(
    view: GraphView,
    urn: str | Sequence[str],
    *,
    direction: str = "BOTH",
    depth: int = DEPTH_DEFAULT,
    level: str = "",
    as_of: datetime | None = None,
    between: tuple[datetime, datetime] | None = None,
    where: Filter = EVERY_NODE,
    after: str | None = None,
    nodes_max: int = NODES_MAX,
    edges_max: int = EDGES_MAX,
    seconds: float = WALK_SECONDS_MAX,
    fresh: bool = False,
) -> Lineage:
    """What lies upstream or downstream of a node, or of several, or both, at most `depth` hops away.

    `level` names the layer it is walked in, or shows jobs and runs as what contains them (`levels`); `as_of` asks the
    map as it was at an instant, without it only what is current is walked; `between` asks it at the second instant,
    and how it differs from the first. What does not pass `where` is neither shown nor walked through; the starts do.
    `after` is the cursor of an `Continuation`: what is shown is what comes after it. `fresh`: it knows of everything that was
    committed before, where without it a map that is held in memory may be up to a second behind.
    """
    urns = (urn,) if isinstance(urn, str) else tuple(urn)
    question = Question(urns, direction, depth, level.strip().upper(), as_of, where)
    bounds = Bounds.within(seconds, depth=depth, nodes_max=nodes_max, edges_max=edges_max)
    view = view.up_to_date() if fresh else view
    if between is None:
        return _told(view, reach(view, question, bounds, after))
    if as_of is not None or after:
        raise QueryError("between goes with neither asOf nor after", hint="Ask for one of them.")
    before, later = (
        _told(view, reach(view, replace(question, as_of=at), bounds)) for at in between
    )
    return replace(
        later,
        reason=later.reason or before.reason,
        continuations=[],
        difference=_difference(before, later),
    )


def at_hand(view: GraphView, urns: Sequence[str], *, direction: str, depth: int) -> Lineage | None:
    """The lineage of datasets and jobs as it is now, where the map in memory tells all of it at once and it is small:
    Neo4j is not asked, and nobody is kept waiting. None where it has to be asked for. Raises as `lineage` does."""
    memory = view.cache.current() if view.cache and view.visibility.is_unrestricted else None
    if memory is None or not all(
        urn.startswith(("dataset:", "job:")) and memory.goes_by(urn) for urn in urns
    ):
        return None
    found = lineage(view, urns, direction=direction, depth=depth, nodes_max=NODES_AT_HAND_MAX)
    return found if found.reason in {"", "depth"} else None


@dataclass(frozen=True)
class Reached:
    """What a question reached, by urn, in no order; a lineage tells it, or a table does (`lineage_table`). Where the
    edges are those of walks in memory, as they were found, they are made when they are asked for."""

    question: Question
    starts: list[str]
    hops: dict[str, int]
    found: set[Edge] | list[MapWalk]
    reason: str
    omitted_count: int
    # Nearest first: by which name it is shown, from where it goes on, how many next to it are left out.
    ends: list[tuple[str, Onward, int]]

    @property
    def edges(self) -> set[Edge]:
        return self.found if isinstance(self.found, set) else _edges_of(self.found)

    def expand(self, first: int | None = None) -> list[Continuation]:
        """The nodes from which there is more, nearest first."""
        return [
            Continuation(urn, write_onward(self.question, onward), left)
            for urn, onward, left in self.ends[:first]
        ]


def reach(view: GraphView, question: Question, bounds: Bounds, after: str | None = None) -> Reached:
    """Walk. Raises as `lineage` does."""
    if question.direction not in DIRECTIONS:
        raise QueryError(f"direction {question.direction!r} is none of {', '.join(DIRECTIONS)}")
    if not 1 <= question.depth <= DEPTH_MAX:
        raise QueryError(f"depth {question.depth} is not between 1 and {DEPTH_MAX}")
    found = starts(
        view, question.urns, level=question.level, where=question.where, as_of=question.as_of
    )
    layers = {"UPSTREAM": found[1:2], "DOWNSTREAM": found[2:3], "BOTH": found[1:3]}[
        question.direction
    ]
    marks: dict[str, Mark] = {}
    base = 0
    if after:
        onward = read_onward(question, after)
        found = found._replace(urns=[str(require_node(view, onward.urn)["urn"])], is_cut=False)
        layers = found[1:2] if onward.upstream else found[2:3]
        marks, base = {found.urns[0]: onward.mark}, onward.hops
    walks = [_walk(view, layer, question, found.urns, bounds, marks) for layer in layers]
    return _reached(view, question, walks, found, base)


def _walk(
    view: GraphView,
    layer: Layer,
    question: Question,
    urns: list[str],
    bounds: Bounds,
    marks: Mapping[str, Mark],
) -> Walk | MapWalk:
    asked = Asked(view, layer, bounds.deadline, 0, where=question.where)
    quick = None if marks else walk_in_memory(asked, urns, bounds)
    return (
        quick
        or explore(
            view, layer, {0: urns}, bounds, at=question.as_of, where=question.where, marks=marks
        )[0]
    )


def _edges_of(walks: Sequence[Walk | MapWalk]) -> set[Edge]:
    return walks[0].edges if len(walks) == 1 else {edge for walk in walks for edge in walk.edges}


def _reached(
    view: GraphView, question: Question, walks: list[Walk | MapWalk], found: Starts, base: int
) -> Reached:
    hops = _nearest(walks, base)
    in_memory = [walk for walk in walks if isinstance(walk, MapWalk)]
    is_lifted = question.level not in {"", ON_MAP, OF_COLUMNS, OF_RUNS}
    shown_as = containers(view, hops, question.level) if is_lifted else {}
    beyond = {
        far for walk in walks for some in walk.beyond.values() for far in some if far not in hops
    }
    ends = _ends(walks, hops, shown_as)
    edges: set[Edge] | list[MapWalk] = in_memory
    if shown_as:
        hops, edges = lift(hops, _edges_of(walks), shown_as)
    elif len(in_memory) < len(walks):
        edges = _edges_of(walks)
    return Reached(
        question=question,
        starts=list(dict.fromkeys(shown_as.get(urn, urn) for urn in found.urns)),
        hops=hops,
        found=edges,
        reason=next(
            (walk.truncated for walk in walks if walk.truncated), "nodes" if found.is_cut else ""
        ),
        omitted_count=len(beyond),
        ends=ends,
    )


def _nearest(walks: Sequence[Walk | MapWalk], base: int) -> dict[str, int]:
    if len(walks) == 1 and not base:
        return walks[0].nodes
    hops: dict[str, int] = {}
    for walk in walks:
        for node, hop in walk.nodes.items():
            if base + hop <= hops.get(node, base + hop):
                hops[node] = base + hop
    return hops


def _ends(
    walks: list[Walk | MapWalk], hops: dict[str, int], shown_as: dict[str, str]
) -> list[tuple[str, Onward, int]]:
    return [
        (
            shown_as.get(urn, urn),
            Onward(urn, walk.upstream, hops[urn], walk.unfinished[urn]),
            sum(far not in hops for far in walk.beyond.get(urn, ())),
        )
        for walk in walks
        for urn in nearest_first({urn: hops[urn] for urn in walk.unfinished})
    ]


def nearest_first(hops: Mapping[str, int]) -> list[str]:
    """Those equally near by urn. Long lists of urns are sorted several times faster than pairs with them are."""
    at: dict[int, list[str]] = defaultdict(list)
    for urn, hop in hops.items():
        at[hop].append(urn)
    return [urn for hop in sorted(at) for urn in sorted(at[hop])]


def _told(view: GraphView, reached: Reached) -> Lineage:
    return Lineage(
        nodes=name_nodes(view, nearest_first(reached.hops)),
        edges=sorted(reached.edges),
        reason=reached.reason,
        start=reached.starts[0],
        starts=reached.starts,
        distances=reached.hops,
        omitted_count=reached.omitted_count,
        continuations=reached.expand(),
    )


def _difference(before: Lineage, later: Lineage) -> Difference:
    """What `later` has that `before` has not, and the other way round, told in the same way."""
    return Difference(
        added_nodes=[node for node in later.nodes if node.urn not in before.distances],
        removed_nodes=[node for node in before.nodes if node.urn not in later.distances],
        added_edges=sorted(set(later.edges) - set(before.edges)),
        removed_edges=sorted(set(before.edges) - set(later.edges)),
    )


def trace(
    view: GraphView,
    answer_id: str,
    *,
    nodes_max: int = NODES_MAX,
    edges_max: int = EDGES_MAX,
    seconds: float = WALK_SECONDS_MAX,
) -> Trace:
    """Where an answer came from: through citations, versions and runs back to the sources."""
    urn = answer_urn(answer_id)
    answer = require_node(view, urn)
    bounds = Bounds.within(seconds, depth=TRACE_HOPS_MAX, nodes_max=nodes_max, edges_max=edges_max)
    walk = explore(view, HISTORY_UP, {urn: [urn]}, bounds, at_once=True, ends=False)[urn]
    nearest_first = sorted(walk.nodes, key=lambda node: (walk.nodes[node], node))
    rows = read_nodes(view, nearest_first)
    return Trace(
        answer=answer,
        sources=_of_kind("source", nearest_first, rows),
        artifacts=_of_kind("artifact", nearest_first, rows),
        runs=_of_kind("run", nearest_first, rows),
        answers=[row for row in _of_kind("answer", nearest_first, rows) if row["urn"] != urn],
        columns=_of_kind("column", nearest_first, rows),
        edges=sorted(walk.edges),
        reason=walk.truncated,
    )


def _of_kind(kind: str, urns: Iterable[str], rows: dict[str, Row]) -> list[Row]:
    return [rows[urn] for urn in urns if urn.startswith(f"{kind}:") and urn in rows]
