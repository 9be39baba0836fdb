"""Nodes by urn: whether they are there, what they are called, their properties.

Most names need no question at all, because a urn spells them; only a hashed urn (longer than the index takes) and a
run, whose name is that of its pipeline, are looked up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from headwater.cypher.driver.database import READ_SECONDS_MAX, Row
from headwater.errors import NotFoundError
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.node_names import NodeName, node_name
from headwater.lineage.node_visibility import visible
from headwater.lineage.view import GraphView
from headwater.schema.derived_properties import with_derived_properties
from headwater.schema.facts import Name
from headwater.schema.naming import normalise
from headwater.schema.urns import artifact_urn, column_urn, dataset_urn, parse_urn, source_urn

URNS_PER_QUERY_MAX = 2_000


def _version_urn(namespace: str, name: str, run_id: str, ended: str | None = None) -> str:
    return artifact_urn(namespace, name, run_id, None if ended is None else int(ended))


# The kinds of node whose urn begins with the name of a dataset.
_OF_DATASETS: dict[str, Callable[..., str]] = {
    "dataset": dataset_urn,
    "source": source_urn,
    "column": column_urn,
    "artifact": _version_urn,
}


def read_nodes(
    view: GraphView, urns: Iterable[str], *, seconds: float = READ_SECONDS_MAX
) -> dict[str, Row]:
    """The properties of those of these nodes that exist and may be seen, by urn."""
    found: dict[str, Row] = {}
    wanted = visible(view, dict.fromkeys(urns))
    for start in range(0, len(wanted), URNS_PER_QUERY_MAX):
        some = wanted[start : start + URNS_PER_QUERY_MAX]
        for row in view.read("read/nodes/properties", seconds=seconds, urns=some):
            kept = {key: value for key, value in row["properties"].items() if value is not None}
            found[row["urn"]] = with_derived_properties(row["label"], kept, began=row["began"])
    return found


def resolve(view: GraphView, urn: str) -> str:
    """The urn by which a node goes: a dataset, a column, a version may be asked for by any name of its dataset, in any
    spelling that the rules of naming know; not by a name that may not be seen. Raises QueryError when it is no urn."""
    kind, parts = parse_urn(urn)
    if kind not in _OF_DATASETS:
        return urn
    name = normalise(*parts[:2]) if parts else None
    if not view.visibility.includes(name.namespace if name else None):
        return urn
    tidy = (
        f"dataset:{urn.partition(':')[2]}"
        if name is None
        else dataset_urn(name.namespace, name.name)
    )
    rows = view.read("read/nodes/canonical_datasets", urns=[tidy])
    if rows:
        canonical = parse_urn(rows[0]["canonical"]).parts
        name = Name(canonical[0], canonical[1]) if canonical else None
    if name is None or not parts:
        return rows[0]["canonical"] if rows and kind == "dataset" else urn
    return _OF_DATASETS[kind](name.namespace, name.name, *parts[2:])


def require_node(view: GraphView, urn: str) -> Row:
    """The properties of one node, asked for by any of its names. Raises NotFoundError when it is not in the graph."""
    kind = parse_urn(urn).kind
    rows = read_nodes(view, [urn]) or read_nodes(view, [resolve(view, urn)])
    row = next(iter(rows.values()), None)
    if row is None:
        raise NotFoundError(
            f"there is no {kind} {urn!r}", hint="`headwater search TEXT` finds names."
        )
    return row


def name_nodes(view: GraphView, urns: Iterable[str]) -> list[NodeName]:
    """What these nodes are called, in the order given; those that are not in the graph keep what their urn spells."""
    wanted = list(urns)
    memory = view.cache.current() if view.cache else None
    known: Mapping[str, NodeName] = memory.names if memory else {}
    names = list(map(known.get, wanted))
    if all(names):
        return [name for name in names if name]
    seen = [
        urn
        for urn, name in zip(wanted, names, strict=True)
        if not name and not urn.startswith(HIDDEN)
    ]
    unspelled = [urn for urn in seen if urn.startswith("run:") or not parse_urn(urn).parts]
    rows = read_nodes(view, unspelled) if unspelled else {}
    return [
        name or node_name(urn, rows.get(urn, {})) for urn, name in zip(wanted, names, strict=True)
    ]


def read_all_facets(view: GraphView, urns: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The facets of those of these nodes that may be seen, as they were last sent: by urn and name. Those of a dataset
    may have been sent under any of its names. What they say of things that may not be seen is left out."""
    wanted = visible(view, dict.fromkeys(urns))
    newest = read_registers(view, [urn for urn in wanted if urn.startswith("dataset:")])
    others = [urn for urn in wanted if not urn.startswith("dataset:")]
    for row in view.read("read/nodes/facts", urns=others) if others else ():
        newest[row["urn"]] = _registers([row["facts"]])
    return {
        urn: dict(
            view.visibility.prune(
                {key: json.loads(one[2]) for key, one in sorted(registers.items()) if one[2]}
            )
        )
        for urn, registers in newest.items()
    }


def read_registers(view: GraphView, urns: Iterable[str]) -> dict[str, dict[str, list[Any]]]:
    """The facets of some datasets, sent under any of their names, by the urns they go by: each as [instant, rank, JSON
    text], the text empty for one that was deleted."""
    said: dict[str, list[str | None]] = {}
    wanted = list(urns)
    for row in view.read("read/nodes/alias_groups", urns=wanted) if wanted else ():
        said.setdefault(row["canonical"], []).append(row["facts"])
    return {urn: _registers(texts) for urn, texts in said.items()}


def _registers(texts: Iterable[str | None]) -> dict[str, list[Any]]:
    newest: dict[str, list[Any]] = {}
    for facts in (json.loads(text) for text in texts if text):
        for name, register in (facts.get("facets") or {}).items():
            newest[name] = max(newest.get(name, register), register)
    return newest
