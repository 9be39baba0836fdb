"""One traversal: the nodes that it has reached, the edges that it shows, and the state that its
hops share.

A traversal that is cut short names the nodes from which it can resume, each with the step that
comes next (`resume_points`). A traversal that is given such points takes only the steps from there
on.

A path through hidden nodes is one hop, however long it is. The traversal follows it to its ends
before it shows any of them, shows them in the order of their names, and counts hidden nodes against
no bound but time and rows. So neither the shown nodes nor the place of a cut disclose how hidden
nodes hang together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headwater.lineage.hidden_nodes import Edge, is_hidden_entry, with_stubs
from headwater.lineage.traversal.adjacency import Adjacency
from headwater.lineage.traversal.request import HIDDEN_ONLY, Bounds, ResumePoint


@dataclass
class Progress:
    """The steps that a traversal has taken.

    `entered_jobs` are the jobs or runs whose `reached_from_any` was followed, `expanded` the nodes
    whose steps were all begun, `unexpanded` those that a bound kept from it. The counts are of
    visible nodes and edges: bounds apply to them.
    """

    entered_jobs: set[str] = field(default_factory=set)
    expanded: set[str] = field(default_factory=set)
    unexpanded: list[str] = field(default_factory=list)
    node_count: int = 0
    edge_count: int = 0


@dataclass
class HiddenPaths:
    """The paths through hidden nodes, in the current hop.

    `returning` are the steps (near, far, edge type) on which a path becomes visible again.
    `entered_jobs` are the visible jobs or runs at the end of a path, with the hidden nodes before
    each. `omitted` are the ends that are not shown, and `resume_at` the first end to show where a
    traversal resumes. `is_closing`: the traversal is over, so an end that is not shown yet stays
    so.
    """

    returning: list[tuple[str, str, str]] = field(default_factory=list)
    entered_jobs: dict[str, set[str]] = field(default_factory=dict)
    omitted: set[str] = field(default_factory=set)
    resume_at: str = ""
    is_closing: bool = False


@dataclass
class Traversal:
    """The nodes reached, each with its number of hops, and the edges crossed.

    `frontier` are the nodes of the next hop, `pending` those of the current one, `crossed` the
    versions of the last hop whose citations are not followed yet. `truncated` names the bound that
    cut it short: depth, nodes, edges, time or "". `resume_points` and `omitted_neighbours` hold,
    for each node from which it can resume, the next step and the known neighbours that are not
    shown.
    """

    frontier: list[str]
    adjacency: Adjacency
    bounds: Bounds
    resume_from: Mapping[str, ResumePoint] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    edges: set[Edge] = field(default_factory=set)
    truncated: str = ""
    hop: int = 0
    pending: list[str] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)
    resume_points: dict[str, ResumePoint] = field(default_factory=dict)
    omitted_neighbours: dict[str, set[str]] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    hidden_paths: HiddenPaths = field(default_factory=HiddenPaths)

    def __post_init__(self) -> None:
        self.frontier = list(dict.fromkeys(self.frontier))
        self.nodes.update(dict.fromkeys(self.frontier, 0))
        self.progress.node_count = len(self.nodes)
        self.upstream = self.adjacency.layer.upstream
        self.is_resumed = any(self.resume_from.values())
        # The types of the edges into a job or run, and out of it, in the direction of the
        # traversal.
        self.entry_type = "PRODUCED" if self.upstream else "FEEDS"
        self.exit_type = "FEEDS" if self.upstream else "PRODUCED"

    def begin_hop(self) -> None:
        """Begin a hop from the frontier."""
        self.hop += 1
        self.pending, self.frontier = self.frontier, []
        self.hidden_paths.resume_at = ""
        for urn in self.pending:
            point = self.resume_from.get(urn, ())
            if point[:1] == HIDDEN_ONLY and len(point) > 1:
                self.hidden_paths.resume_at = str(point[1])
                return

    def stop(self, reason: str, begun: Iterable[str]) -> None:
        """Stop because not all neighbours of the nodes in `begun` are known."""
        if begun:
            self.progress.unexpanded.extend(
                urn for urn in begun if urn not in self.adjacency.hidden
            )
            self.truncated = self.truncated or reason

    def close(self) -> None:
        """End the traversal: of the hidden paths at the frontier, show only ends that are already
        shown."""
        hidden = self.adjacency.hidden
        self.hidden_paths.is_closing = True
        # A resume point covers earlier paths; it does not apply to paths that begin only now.
        self.hidden_paths.resume_at = ""
        self.pending = [urn for urn in self.frontier if urn in hidden]
        self.frontier = [urn for urn in self.frontier if urn not in hidden]

    def replace_hidden_nodes(self) -> None:
        """Replace its hidden nodes by stubs."""
        if not self.adjacency.hidden:
            return
        urns = set(self.nodes)
        for edge in self.edges:
            urns.update((edge.source, edge.target))
        hidden = {urn for urn in urns if self.is_hidden(urn)}
        self.nodes, self.edges = with_stubs(self.nodes, self.edges, hidden)

    def add_within_bounds(
        self, near: str, far: str, type: str, *, is_new_node: bool, is_visible_edge: bool
    ) -> bool:
        """Add an edge unless a bound is met; return True if it was added."""
        edge, progress = self.edge(near, far, type), self.progress
        is_new_edge = is_visible_edge and edge not in self.edges
        if is_new_node and progress.node_count >= self.bounds.nodes_max:
            self.truncated = "nodes"
        elif is_new_edge and progress.edge_count >= self.bounds.edges_max:
            self.truncated = "edges"
        else:
            progress.node_count += is_new_node
            progress.edge_count += is_new_edge
            self.edges.add(edge)
        return not self.truncated

    def edge(self, near: str, far: str, type: str) -> Edge:
        """Return the edge of a step; edges point downstream."""
        return Edge(far, near, type) if self.upstream else Edge(near, far, type)

    def ends_of(self, edge: Edge) -> tuple[str, str]:
        """Return the near and the far end of an edge, in the direction of the traversal."""
        return (edge.target, edge.source) if self.upstream else (edge.source, edge.target)

    def is_hidden(self, urn: str) -> bool:
        """Return True for a hidden node, and for a hidden job or run as entered from one node."""
        return urn in self.adjacency.hidden or is_hidden_entry(urn)

    def visible_first(self, urns: Iterable[str]) -> list[str]:
        """Return nodes in the order of steps: visible nodes first, so that a resume point can
        follow them."""
        hidden = self.adjacency.hidden
        if not hidden:
            return sorted(set(urns))
        return sorted(set(urns), key=lambda urn: (urn in hidden, urn))
