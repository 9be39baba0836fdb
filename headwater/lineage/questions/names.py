"""Nodes by the name that a person gives.

Three ways are tried, and the first that finds a node decides: the whole name or id; a namespace
and a name, joined by `:` or `/`; the end of a name behind a `/`, a `.` or a `:`. So `marts/delays`
finds the dataset `/data/marts/delays` if no dataset has the name `marts/delays`. An alias counts as
a name of its dataset, if the namespace of the alias is visible too. A job with the namespace and
name of a dataset is the same asset as the dataset, and is left out beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from headwater.errors import QueryError
from headwater.lineage.node_names import NodeName, kind_of
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import name_nodes, resolve_urn
from headwater.lineage.pagination import require_between
from headwater.lineage.view import GraphView
from headwater.schema.facts import Name
from headwater.schema.naming import normalise
from headwater.schema.urns import answer_urn, dataset_urn, parse_urn, run_urn

KINDS = ("DATASET", "JOB", "ANSWER", "PIPELINE_RUN")
NODES_MAX = 100
NAME_CHARACTERS_MAX = 2_000
# Hidden runs, other kinds and twin jobs are left out after the read.
_READ_MAX = 1_000
_SEPARATORS = "/.:"
_JOINTS = ":/"
_PAIRS_MAX = 50


def nodes_by_name(
    view: GraphView, name: str, *, kinds: Collection[str] = KINDS, first: int = 20
) -> list[NodeName]:
    """Return the visible nodes of these kinds that a text names, sorted by urn.

    Raises QueryError for a kind without names of its own, an empty or too long name, or a bad
    `first`.
    """
    require_between("first", first, 1, NODES_MAX)
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown:
        raise QueryError(f"kind {unknown[0]} has no names of its own: {', '.join(KINDS)} have")
    if not 0 < len(name) <= NAME_CHARACTERS_MAX:
        raise QueryError(f"`name` must have 1 to {NAME_CHARACTERS_MAX} characters")
    readers = (_with_name, _with_namespace_and_name, _with_ending)
    for read in readers:
        urns = _select(view, read(view, name), kinds)
        if urns:
            return name_nodes(view, urns[:first])
    return []


def _with_name(view: GraphView, name: str) -> list[str]:
    return _read_visible(
        view,
        "read/catalog/nodes_by_name",
        name=name,
        ids=[answer_urn(name), resolve_urn(view, run_urn(name))],
    )


def _with_namespace_and_name(view: GraphView, name: str) -> list[str]:
    joints = [index for index, one in enumerate(name) if one in _JOINTS and index > 0]
    written = [Name(name[:index], name[index + 1 :]) for index in joints[:_PAIRS_MAX]]
    normal = [normalise(one.namespace, one.name) for one in written if one.name]
    names = list(dict.fromkeys([*written, *normal]))
    if not names:
        return []
    pairs = [{"namespace": one.namespace, "name": one.name} for one in names]
    rows = view.read("read/catalog/nodes_by_qualified_name", limit=_READ_MAX, pairs=pairs)
    visible = [one for one in names if view.visibility.includes(one.namespace)]
    aliases = view.read(
        "read/nodes/canonical_datasets",
        urns=[dataset_urn(one.namespace, one.name) for one in visible],
    )
    return [*(row["urn"] for row in rows), *(row["canonical"] for row in aliases)]


def _with_ending(view: GraphView, name: str) -> list[str]:
    endings = [f"{separator}{name}" for separator in _SEPARATORS]
    return _read_visible(view, "read/catalog/nodes_by_name_ending", endings=endings)


def _read_visible(view: GraphView, query: str, **parameters: Any) -> list[str]:
    """Return the urns of the nodes that a name of their own or a visible alias names."""
    visible = view.visibility.regexes
    rows = view.read(query, visible=visible, limit=_READ_MAX, **parameters)
    return [row["urn"] for row in rows]


def _select(view: GraphView, urns: Iterable[str], kinds: Collection[str]) -> list[str]:
    """Return the visible urns of these kinds, sorted, without jobs that twin a dataset."""
    wanted = sorted(urn for urn in set(urns) if kind_of(urn) in kinds)
    visible = select_visible(view, wanted)
    datasets = {parse_urn(urn).parts for urn in visible if urn.startswith("dataset:")} - {()}
    return [
        urn for urn in visible if not urn.startswith("job:") or parse_urn(urn).parts not in datasets
    ]
