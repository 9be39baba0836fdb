"""How a walk shows what may not be seen: as stubs that keep its paths and tell nothing else.

A stub stands for "from this node a way leads out of sight", or for "a way comes into sight here" where none that left
sight comes back. The nodes where a way comes back into sight hang on the stub of the node where it left. So neither how
many nodes are hidden, nor how they hang together, nor how long the way through them is can be told from it: two graphs
that differ only there look the same.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

HIDDEN = "hidden:"
_ID_CHARACTERS = 16
_PROCESSES = ("job:", "run:")
# No urn has it.
_INSIDE = "\n"


class Edge(NamedTuple):
    """As in the graph: lineage flows from `source` to `target`."""

    source: str
    target: str
    type: str


def inside(process: str, place: str) -> str:
    """A hidden job or run as it is entered from one place; "": what comes of it wherever it is entered."""
    return f"{process}{_INSIDE}{place}"


def is_inside(name: str) -> bool:
    return _INSIDE in name


def with_stubs(
    hops: Mapping[str, int], edges: Iterable[Edge], unseen: set[str]
) -> tuple[dict[str, int], set[Edge]]:
    """Nodes with their hops, and edges, of which `unseen` may not be shown."""
    if not unseen:
        return dict(hops), set(edges)
    kept: set[Edge] = set()
    onward: dict[str, set[str]] = defaultdict(set)
    leaving: dict[str, set[str]] = defaultdict(set)
    entering: set[str] = set()
    for edge in edges:
        if edge.source not in unseen and edge.target not in unseen:
            kept.add(edge)
        elif edge.source in unseen:
            onward[edge.source].add(edge.target)
            entering.add(edge.target)
        else:
            leaving[edge.source].add(edge.target)
    shown = {urn: hop for urn, hop in hops.items() if urn not in unseen}
    hung: set[str] = set()
    for urn, hidden in leaving.items():
        reached = _reached(hidden, onward) - unseen
        hung |= reached
        _hang(shown, kept, stub("from", urn), {urn}, reached)
    for urn in entering - unseen - hung:
        _hang(shown, kept, stub("to", urn), set(), {urn})
    return shown, kept


def stub(way: str, urn: str) -> str:
    """The name of the stub at a node that is seen: a hash of that node and of the way, so it is the same every time."""
    return HIDDEN + hashlib.sha256(f"{way} {urn}".encode()).hexdigest()[:_ID_CHARACTERS]


def _reached(starts: Iterable[str], onward: Mapping[str, set[str]]) -> set[str]:
    """What lies on the ways out of sight that begin here, up to where they come back into sight."""
    reached: set[str] = set()
    waiting = list(starts)
    while waiting:
        urn = waiting.pop()
        if urn not in reached:
            reached.add(urn)
            waiting.extend(onward.get(urn, ()))
    return reached


def _hang(
    shown: dict[str, int], kept: set[Edge], name: str, before: set[str], after: set[str]
) -> None:
    kept.update(
        Edge(urn, name, "PRODUCED" if urn.startswith(_PROCESSES) else "FEEDS") for urn in before
    )
    kept.update(Edge(name, urn, _type_into(urn)) for urn in after)
    shown[name] = min(shown[urn] for urn in before | after)


def _type_into(urn: str) -> str:
    if urn.startswith("answer:"):
        return "CITED_BY"
    return "FEEDS" if urn.startswith(_PROCESSES) else "PRODUCED"
