"""The steps of a traversal: from a node over its jobs or runs, to its direct neighbours, and along
its citations.

The steps from a node have an order: visible nodes first, by name. A truncated traversal names the
next step, so that it can resume there. Downstream from a dataset D the steps are

    D ──▶ each job J of `producers_or_consumers` ──▶ each dataset that J leads to from D
    D ──▶ each direct neighbour

and from a job where a traversal starts: to each dataset of `inputs_or_outputs`, then to its direct
neighbours. A version whose content another kept is a direct neighbour of that one, in the same hop.
"""

from __future__ import annotations

from headwater.lineage.hidden_nodes import Edge, hidden_entry, is_hidden_entry
from headwater.lineage.traversal.layers import JOBS_AND_RUNS, VERSIONS
from headwater.lineage.traversal.request import ResumePoint
from headwater.lineage.traversal.traversal import Traversal


def follow_citations(traversal: Traversal) -> list[str]:
    """Follow the citations at the frontier and at the versions crossed in the last hop; return the
    new nodes, which now belong to the frontier."""
    before = len(traversal.frontier)
    crossed, traversal.crossed = traversal.crossed, []
    for urn in [*crossed, *traversal.frontier]:
        for cited in traversal.visible_first(traversal.adjacency.citations.get(urn, ())):
            _step(traversal, urn, urn, cited, "CITED_BY", (0, cited), is_same_hop=False)
    return traversal.frontier[before:]


def expand(traversal: Traversal) -> None:
    """Take the steps from the pending nodes.

    New visible nodes form the next frontier; nodes on hidden paths become pending in the same hop.
    """
    pending, traversal.pending = traversal.pending, []
    adjacency, progress = traversal.adjacency, traversal.progress
    if not (adjacency.hidden or adjacency.rejected or traversal.is_resumed):
        pending = _expand_unchecked(traversal, pending)
    for urn in pending:
        is_visible = urn not in adjacency.hidden
        if is_visible and urn in traversal.hidden_paths.entered_jobs:
            _cross_after_hidden_path(traversal, urn)
        elif is_visible and traversal.truncated:
            progress.unexpanded.append(urn)
        elif urn not in progress.expanded:
            progress.expanded.add(urn)
            _expand_node(traversal, urn)
    if not traversal.pending:
        _show_ends_of_hidden_paths(traversal)


def _expand_unchecked(traversal: Traversal, pending: list[str]) -> list[str]:
    """Take the steps from nodes where nothing is hidden, rejected or resumed; return the nodes that
    remain.

    The result and its order are those of `_expand_node`, in a fifth of the time: most of a large
    graph is of this kind. Near a bound, and where a job feeds another, it goes step by step.
    """
    adjacency, progress = traversal.adjacency, traversal.progress
    nodes, edges, frontier = traversal.nodes, traversal.edges, traversal.frontier
    entered, expanded = progress.entered_jobs, progress.expanded
    inputs_or_outputs, direct = adjacency.inputs_or_outputs, adjacency.direct_neighbours
    reached_from, reached_from_any = adjacency.reached_from, adjacency.reached_from_any
    closed = adjacency.closed_entries
    entry_type, exit_type = traversal.entry_type, traversal.exit_type
    hop, upstream = traversal.hop, traversal.upstream
    nodes_max, edges_max = traversal.bounds.nodes_max, traversal.bounds.edges_max
    new = tuple.__new__
    for index, urn in enumerate(pending):
        if traversal.truncated:
            return pending[index:]
        if urn in expanded:
            continue
        expanded.add(urn)
        if urn in inputs_or_outputs or urn in direct:
            progress.node_count, progress.edge_count = len(nodes), len(edges)
            _expand_node(traversal, urn)
            continue
        for job in traversal.visible_first(adjacency.producers_or_consumers.get(urn, ())):
            reached = reached_from.get((urn, job), ())
            is_first_entry = job not in entered and (urn, job) not in closed
            if is_first_entry:
                reached = (*reached, *reached_from_any.get(job, ()))
            more = len(reached) + 1
            is_near_bound = len(nodes) + more > nodes_max or len(edges) + more > edges_max
            if job in direct or is_near_bound:
                progress.node_count, progress.edge_count = len(nodes), len(edges)
                _enter(traversal, urn, job)
                continue
            if is_first_entry:
                entered.add(job)
            edges.add(new(Edge, (job, urn, entry_type) if upstream else (urn, job, entry_type)))
            if job not in nodes:
                nodes[job] = hop
            for far in sorted(set(reached)) if more > 2 else reached:
                edges.add(new(Edge, (far, job, exit_type) if upstream else (job, far, exit_type)))
                if far not in nodes:
                    nodes[far] = hop
                    frontier.append(far)
    progress.node_count, progress.edge_count = len(nodes), len(edges)
    return []


def _expand_node(traversal: Traversal, urn: str) -> None:
    adjacency = traversal.adjacency
    for far in traversal.visible_first(adjacency.inputs_or_outputs.get(urn, ())):
        _step(traversal, urn, urn, far, traversal.exit_type, (1, far, ""), is_same_hop=True)
    for job in traversal.visible_first(adjacency.producers_or_consumers.get(urn, ())):
        _enter(traversal, urn, job)
    for other in traversal.visible_first(adjacency.direct_neighbours.get(urn, ())):
        _step(traversal, urn, urn, other, "FEEDS", (2, other), is_same_hop=True)


def _enter(traversal: Traversal, urn: str, job: str) -> None:
    """Cross a job or run from one dataset or version.

    A hidden job is one node for each node from which it is entered, so that stubs join only nodes
    that are joined.
    """
    adjacency, hidden = traversal.adjacency, traversal.adjacency.hidden
    is_job_hidden = job in hidden
    if urn in hidden and not is_job_hidden:
        _step(traversal, urn, urn, job, traversal.entry_type, (), is_same_hop=True)
        return
    point = None if is_job_hidden else traversal.resume_from.get(urn)
    if job in adjacency.rejected or (point is not None and (1, job) < point[:2]):
        return
    entry = hidden_entry(job, urn) if is_job_hidden else job
    any_entry = hidden_entry(job, "") if is_job_hidden else job
    _step(
        traversal,
        urn,
        urn,
        entry,
        traversal.entry_type,
        (1, job, ""),
        is_same_hop=True,
        is_job_entry=True,
    )
    exit_type = traversal.exit_type
    exits = [(far, entry, exit_type) for far in adjacency.reached_from.get((urn, job), ())]
    exits += [(far, entry, "FEEDS") for far in adjacency.direct_neighbours.get(job, ())]
    if (urn, job) not in adjacency.closed_entries:
        if is_job_hidden:
            traversal.edges.add(traversal.edge(entry, any_entry, traversal.entry_type))
        if job not in traversal.progress.entered_jobs:
            traversal.progress.entered_jobs.add(job)
            from_any = adjacency.reached_from_any.get(job, ())
            exits += [(far, any_entry, exit_type) for far in from_any]
    for far, near, type in sorted(set(exits), key=lambda step: (step[0] in hidden, step)):
        _step(traversal, urn, near, far, type, (1, job, far), is_same_hop=is_job_hidden)
    if traversal.truncated:
        traversal.progress.entered_jobs.discard(job)


def _cross_after_hidden_path(traversal: Traversal, job: str) -> None:
    """Cross a visible job or run at the end of hidden paths.

    The traversal crosses it in the same hop. A hidden path behind it is the next one.
    """
    paths, progress = traversal.hidden_paths, traversal.progress
    for far, type in _exits_after_hidden_path(traversal, job):
        point: ResumePoint = (1, far, "")
        if type == "FEEDS" and far.startswith(JOBS_AND_RUNS):
            point = (2, far)
        if not paths.is_closing and not traversal.truncated:
            _step(traversal, job, job, far, type, point, is_same_hop=False)
        elif job in progress.expanded:
            # The traversal started from it, so all of its steps were begun.
            continue
        elif (
            far not in traversal.adjacency.rejected
            and traversal.edge(job, far, type) not in traversal.edges
        ):
            progress.unexpanded.append(job)
            traversal.truncated = traversal.truncated or "depth"


def _exits_after_hidden_path(traversal: Traversal, job: str) -> list[tuple[str, str]]:
    adjacency, exit_type = traversal.adjacency, traversal.exit_type
    exits = [(far, "FEEDS") for far in adjacency.direct_neighbours.get(job, ())]
    for near in traversal.hidden_paths.entered_jobs.pop(job):
        exits += [(far, exit_type) for far in adjacency.reached_from.get((near, job), ())]
        if near.startswith(JOBS_AND_RUNS):
            exits += [(far, exit_type) for far in adjacency.inputs_or_outputs.get(job, ())]
        elif (near, job) not in adjacency.closed_entries:
            exits += [(far, exit_type) for far in adjacency.reached_from_any.get(job, ())]
    return sorted(set(exits), key=lambda step: (step[0] in adjacency.hidden, step))


def _step(
    traversal: Traversal,
    root: str,
    near: str,
    far: str,
    type: str,
    point: ResumePoint,
    *,
    is_same_hop: bool,
    is_job_entry: bool = False,
) -> None:
    """Take one step from `near` to `far`, on behalf of the node `root`.

    `point` is where `root` resumes if a bound stops this step. A hidden path that begins or
    continues here belongs to this hop if `is_same_hop`. With `is_job_entry` the caller goes on from
    `far`.
    """
    hidden = traversal.adjacency.hidden
    is_far_hidden = traversal.is_hidden(far)
    if far in traversal.adjacency.rejected or (traversal.truncated and root not in hidden):
        return
    if traversal.is_hidden(near) and not is_far_hidden:
        traversal.hidden_paths.returning.append((near, far, type))
        return
    if not (is_far_hidden or is_job_entry) and _was_taken(traversal, root, point):
        return
    is_new = far not in traversal.nodes and not is_hidden_entry(far)
    if not is_far_hidden and not traversal.add_within_bounds(
        near, far, type, is_new_node=is_new, is_visible_edge=True
    ):
        traversal.resume_points[root] = point
        return
    traversal.edges.add(traversal.edge(near, far, type))
    if is_new:
        traversal.nodes[far] = traversal.hop
    if is_job_entry:
        return
    # A version is crossed in the hop of the version that kept its content.
    is_kept = near.startswith(VERSIONS) and far.startswith(VERSIONS)
    if (is_far_hidden and is_same_hop) or (is_new and is_kept):
        traversal.pending.append(far)
        if not is_far_hidden:
            traversal.crossed.append(far)
    elif is_new:
        traversal.frontier.append(far)


def _was_taken(traversal: Traversal, root: str, point: ResumePoint) -> bool:
    """Return True if the step was taken before the traversal resumed from its root."""
    return root in traversal.resume_from and point < traversal.resume_from[root]


def _show_ends_of_hidden_paths(traversal: Traversal) -> None:
    """Show the nodes at which hidden paths become visible again, in the order of their names.

    All paths of the hop are known by then, so the place of a cut discloses nothing about them.
    """
    paths, nodes = traversal.hidden_paths, traversal.nodes
    returning, paths.returning = paths.returning, []
    for near, far, type in sorted(returning, key=lambda step: (step[1], step)):
        if far < paths.resume_at:
            continue
        is_new = far not in nodes
        if is_new and not _may_show_end(traversal, near, far, type):
            traversal.truncated = traversal.truncated or "depth"
            paths.omitted.add(far)
            continue
        traversal.edges.add(traversal.edge(near, far, type))
        if is_new:
            nodes[far] = traversal.hop
        if far.startswith(JOBS_AND_RUNS):
            if far not in paths.entered_jobs:
                traversal.pending.append(far)
            paths.entered_jobs.setdefault(far, set()).add(near)
        elif is_new:
            traversal.frontier.append(far)


def _may_show_end(traversal: Traversal, near: str, far: str, type: str) -> bool:
    if traversal.truncated or traversal.hidden_paths.is_closing:
        return False
    return traversal.add_within_bounds(near, far, type, is_new_node=True, is_visible_edge=False)
