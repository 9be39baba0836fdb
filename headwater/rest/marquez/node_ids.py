"""Marquez' ids of nodes: `dataset:{namespace}:{name}`, `datasetField:{namespace}:{name}:{field}`, `job:...`, `run:...`.

Namespaces and names have colons in them, and nothing says where one ends. So every way of cutting an id is looked up,
and that which names something is meant; the one with the longest namespace where two do. A version may follow a `#`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.lineage.nodes import read_nodes, resolve
from headwater.rest.operations import ArgumentError
from headwater.schema.urns import column_urn, dataset_urn, job_urn, parse_urn, run_urn

# A text with more colons has too many ways of being cut.
_COLONS_MAX = 24
_VERSION = re.compile(r"#[0-9a-fA-F-]{36}$")
_KINDS = ("dataset", "datasetField", "job", "run")


def node_id(urn: str) -> str:
    """The id that Marquez would give a node."""
    kind, parts = parse_urn(urn)
    return ":".join(("datasetField" if kind == "column" else kind, *parts))


def urn_of(database: Database, text: str, *, kinds: tuple[str, ...]) -> str:
    """The urn of the node that an id means. Raises ArgumentError when it is no id of these kinds, NotFoundError when it
    is that of nothing."""
    bare = _VERSION.sub("", text)
    kind, _, rest = bare.partition(":")
    if kind not in kinds or kind not in _KINDS or not rest:
        shapes = ", ".join(f"{one}:..." for one in kinds)
        raise ArgumentError(
            f"{text[:200]!r} is not the id of a node: one of {shapes}", field="nodeId"
        )
    if rest.count(":") > _COLONS_MAX:
        raise ArgumentError(f"there are more than {_COLONS_MAX} colons in it", field="nodeId")
    urns = list(_candidates(kind, rest))
    known = read_nodes(database, urns) or read_nodes(
        database, [resolve(database, urn) for urn in urns]
    )
    # In the order of the candidates, which begins with the longest namespace.
    chosen = next((urn for urn in urns if urn in known), next(iter(known), None))
    if chosen is None:
        raise NotFoundError(f"node {text[:200]!r} not found")
    return chosen


def _candidates(kind: str, rest: str) -> Iterator[str]:
    if kind == "run":
        yield run_urn(rest)
        return
    places = [index for index, character in enumerate(rest) if character == ":"][::-1]
    if kind == "datasetField":
        for cut, before in itertools.combinations(places, 2):
            if rest[:before] and rest[before + 1 : cut] and rest[cut + 1 :]:
                yield column_urn(rest[:before], rest[before + 1 : cut], rest[cut + 1 :])
        return
    make = dataset_urn if kind == "dataset" else job_urn
    for place in places:
        if rest[:place] and rest[place + 1 :]:
            yield make(rest[:place], rest[place + 1 :])
