"""Stubs: the nodes that stand for hidden ones, keep the paths, and disclose nothing else.

A stub stands for "hidden paths lead on from this node", or for "hidden paths lead to this node"
where none that left a visible node ends. The nodes at which hidden paths become visible again are
attached to the stub of the node where the paths left. So nobody can tell from a stub how many nodes
are hidden, how they hang together, or how long the path through them is. Two graphs that differ
only there look the same.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

HIDDEN = "hidden:"
_ID_CHARACTERS = 16
_JOBS_AND_RUNS = ("job:", "run:")
# A character that no urn contains.
_ENTERED_FROM = "\n"


class Edge(NamedTuple):
    """An edge of the graph: data flows from `source` to `target`."""

    source: str
    target: str
    type: str


def hidden_entry(job_or_run: str, entered_from: str) -> str:
    """Return the name of a hidden job or run as entered from one node; from "": from any node."""
    return f"{job_or_run}{_ENTERED_FROM}{entered_from}"


def is_hidden_entry(name: str) -> bool:
    """Return True for a name of `hidden_entry`."""
    return _ENTERED_FROM in name


def with_stubs(
    distances: Mapping[str, int], edges: Iterable[Edge], hidden: set[str]
) -> tuple[dict[str, int], set[Edge]]:
    """Replace hidden nodes by stubs, in nodes with their distances and in edges."""
    if not hidden:
        return dict(distances), set(edges)
    shown_edges: set[Edge] = set()
    next_of_hidden: dict[str, set[str]] = defaultdict(set)
    leaving: dict[str, set[str]] = defaultdict(set)
    entering: set[str] = set()
    for edge in edges:
        if edge.source not in hidden and edge.target not in hidden:
            shown_edges.add(edge)
        elif edge.source in hidden:
            next_of_hidden[edge.source].add(edge.target)
            entering.add(edge.target)
        else:
            leaving[edge.source].add(edge.target)
    shown = {urn: distance for urn, distance in distances.items() if urn not in hidden}
    attached: set[str] = set()
    for urn, first_hidden in leaving.items():
        ends = _reachable(first_hidden, next_of_hidden) - hidden
        attached |= ends
        _attach(shown, shown_edges, stub_urn("from", urn), {urn}, ends)
    for urn in entering - hidden - attached:
        _attach(shown, shown_edges, stub_urn("to", urn), set(), {urn})
    return shown, shown_edges


def stub_urn(side: str, urn: str) -> str:
    """Return the urn of the stub `from` or `to` a visible node: a hash, the same at every call."""
    return HIDDEN + hashlib.sha256(f"{side} {urn}".encode()).hexdigest()[:_ID_CHARACTERS]


def _reachable(starts: Iterable[str], next_of_hidden: Mapping[str, set[str]]) -> set[str]:
    """Return the nodes on the hidden paths from these, up to where the paths become visible
    again."""
    reached: set[str] = set()
    waiting = list(starts)
    while waiting:
        urn = waiting.pop()
        if urn not in reached:
            reached.add(urn)
            waiting.extend(next_of_hidden.get(urn, ()))
    return reached


def _attach(
    shown: dict[str, int], edges: set[Edge], stub: str, before: set[str], after: set[str]
) -> None:
    """Add a stub with its edges, at the distance of the nearest node beside it."""
    for urn in before:
        edges.add(Edge(urn, stub, "PRODUCED" if urn.startswith(_JOBS_AND_RUNS) else "FEEDS"))
    for urn in after:
        edges.add(Edge(stub, urn, _type_into(urn)))
    shown[stub] = min(shown[urn] for urn in before | after)


def _type_into(urn: str) -> str:
    if urn.startswith("answer:"):
        return "CITED_BY"
    return "FEEDS" if urn.startswith(_JOBS_AND_RUNS) else "PRODUCED"
