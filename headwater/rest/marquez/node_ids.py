"""Node ids of Marquez: `dataset:{namespace}:{name}`, `datasetField:{namespace}:{name}:{field}`, ...

Namespaces and names contain colons, and an id does not mark the end of the namespace. So all ways
to split an id are looked up. If several name a node, the longest namespace wins. A version may
follow after a `#`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from headwater.errors import NotFoundError
from headwater.lineage.nodes import read_nodes, resolve_urn
from headwater.lineage.view import GraphView
from headwater.rest.operations import ArgumentError
from headwater.schema.urns import column_urn, dataset_urn, job_urn, parse_urn, run_urn

# An id with more colons has too many ways to be split.
_COLONS_MAX = 24
_VERSION = re.compile(r"#[0-9a-fA-F-]{36}$")
_KINDS = ("dataset", "datasetField", "job", "run")


def node_id(urn: str) -> str:
    """Return the id that Marquez gives a node."""
    kind, parts = parse_urn(urn)
    return ":".join(("datasetField" if kind == "column" else kind, *parts))


def urn_of(view: GraphView, text: str, *, kinds: tuple[str, ...]) -> str:
    """Return the urn of the node with this id.

    Raises ArgumentError if the text is not an id of these kinds, NotFoundError if no node has it.
    """
    bare = _VERSION.sub("", text)
    kind, _, rest = bare.partition(":")
    if kind not in kinds or kind not in _KINDS or not rest:
        shapes = ", ".join(f"{kind}:..." for kind in kinds)
        raise ArgumentError(
            f"{text[:200]!r} is not a node id; expected one of {shapes}", field="nodeId"
        )
    if rest.count(":") > _COLONS_MAX:
        raise ArgumentError(f"the id has more than {_COLONS_MAX} colons", field="nodeId")
    urns = list(_candidates(kind, rest))
    nodes = read_nodes(view, urns) or read_nodes(view, [resolve_urn(view, urn) for urn in urns])
    nodes = {urn: row for urn, row in nodes.items() if not row.get("deletedAt")}
    # The candidates begin with the longest namespace.
    chosen = next((urn for urn in urns if urn in nodes), next(iter(nodes), None))
    if chosen is None:
        raise NotFoundError(f"node {text[:200]!r} not found")
    return chosen


def _candidates(kind: str, rest: str) -> Iterator[str]:
    if kind == "run":
        yield run_urn(rest)
        return
    colons = [index for index, character in enumerate(rest) if character == ":"][::-1]
    if kind == "datasetField":
        for second, first in itertools.combinations(colons, 2):
            namespace, name, field = rest[:first], rest[first + 1 : second], rest[second + 1 :]
            if namespace and name and field:
                yield column_urn(namespace, name, field)
        return
    urn = dataset_urn if kind == "dataset" else job_urn
    for colon in colons:
        if rest[:colon] and rest[colon + 1 :]:
            yield urn(rest[:colon], rest[colon + 1 :])
