"""Reads of nodes by urn: their properties, their names, their facets, and the canonical urn behind
an alias.

Most names need no query, because a urn contains them. Only hashed urns (longer than an index entry
may be) and runs, which bear the name of their pipeline, are read from Neo4j.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import READ_SECONDS_MAX, Row
from headwater.errors import NotFoundError
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.node_names import NodeName, node_name
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.view import GraphView
from headwater.schema.derived_properties import with_derived_properties
from headwater.schema.facts import Name
from headwater.schema.naming import normalise
from headwater.schema.urns import artifact_urn, column_urn, dataset_urn, parse_urn, source_urn

URNS_PER_QUERY_MAX = 2_000
_RUNS_OF_ID_MAX = 100


def _version_urn(namespace: str, name: str, run_id: str, ended: str | None = None) -> str:
    return artifact_urn(namespace, name, run_id, None if ended is None else int(ended))


# The kinds of node whose urn begins with the name of a dataset.
_URN_OF_KIND: dict[str, Callable[..., str]] = {
    "dataset": dataset_urn,
    "source": source_urn,
    "column": column_urn,
    "artifact": _version_urn,
}


def read_nodes(
    view: GraphView, urns: Iterable[str], *, seconds: float = READ_SECONDS_MAX
) -> dict[str, Row]:
    """Read the properties of those of these nodes that exist and are visible, by urn."""
    properties: dict[str, Row] = {}
    visible = select_visible(view, dict.fromkeys(urns))
    for some in chunks(visible, URNS_PER_QUERY_MAX):
        for row in view.read("read/nodes/properties", seconds=seconds, urns=some):
            stored = {key: value for key, value in row["properties"].items() if value is not None}
            properties[row["urn"]] = with_derived_properties(
                row["label"], stored, began=row["began"]
            )
    return properties


def resolve_urn(view: GraphView, urn: str) -> str:
    """Return the canonical urn of a node.

    A dataset, and a column or version of it, may be given by any alias of the dataset that is
    visible, in any spelling that the naming rules know. A run that is hidden stands for another run
    with its id that is visible: two teams may report one id (`headwater.schema.run_senders`).
    Raises QueryError for a malformed urn.
    """
    kind, parts = parse_urn(urn)
    if kind == "run":
        return _resolve_run(view, urn)
    if kind not in _URN_OF_KIND:
        return urn
    name = normalise(*parts[:2]) if parts else None
    if not view.visibility.includes(name.namespace if name else None):
        return urn
    hashed = f"dataset:{urn.partition(':')[2]}"
    dataset = dataset_urn(name.namespace, name.name) if name else hashed
    rows = view.read("read/nodes/canonical_datasets", urns=[dataset])
    if rows:
        canonical = parse_urn(rows[0]["canonical"]).parts
        name = Name(canonical[0], canonical[1]) if canonical else None
    if name is None or not parts:
        return rows[0]["canonical"] if rows and kind == "dataset" else urn
    return _URN_OF_KIND[kind](name.namespace, name.name, *parts[2:])


def _resolve_run(view: GraphView, urn: str) -> str:
    visible = view.visibility.regexes
    if visible is None or select_visible(view, [urn]):
        return urn
    rows = view.read(
        "read/nodes/runs_of_id", prefix=f"{urn}~", visible=visible, limit=_RUNS_OF_ID_MAX
    )
    return next(iter(select_visible(view, [row["urn"] for row in rows])), urn)


def require_node(view: GraphView, urn: str) -> Row:
    """Read the properties of one node, given by its urn or an alias.

    Raises NotFoundError if the graph has no such node that is visible.
    """
    kind = parse_urn(urn).kind
    rows = read_nodes(view, [urn]) or read_nodes(view, [resolve_urn(view, urn)])
    row = next(iter(rows.values()), None)
    if row is None:
        raise NotFoundError(
            f"there is no {kind} {urn!r}",
            hint="Check the spelling, find it with `search`, or use a key for its namespace.",
        )
    return row


def name_nodes(view: GraphView, urns: Iterable[str]) -> list[NodeName]:
    """Return the names of nodes in the order given; an unknown node is named by its urn."""
    requested = list(urns)
    cache = view.cache.current() if view.cache else None
    cached: Mapping[str, NodeName] = cache.names if cache else {}
    names = list(map(cached.get, requested))
    if all(names):
        return [name for name in names if name]
    unread = [
        urn for urn, name in zip(requested, names, strict=True) if not name and _is_nameless(urn)
    ]
    rows = read_nodes(view, unread) if unread else {}
    return [
        name or node_name(urn, rows.get(urn, {}))
        for urn, name in zip(requested, names, strict=True)
    ]


def _is_nameless(urn: str) -> bool:
    """Return True if a urn does not contain the name of its node."""
    if urn.startswith(HIDDEN):
        return False
    return urn.startswith("run:") or not parse_urn(urn).parts


def read_all_facets(view: GraphView, urns: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Read the newest facets of those of these nodes that are visible, by urn and facet name.

    Facets of a dataset may have been sent under any of its aliases. Mentions of hidden nodes are
    left out.
    """
    visible = select_visible(view, dict.fromkeys(urns))
    registers = read_registers(view, [urn for urn in visible if urn.startswith("dataset:")])
    others = [urn for urn in visible if not urn.startswith("dataset:")]
    if others:
        for row in view.read("read/nodes/facts", urns=others):
            registers[row["urn"]] = _newest_registers([row["facts"]])
    facets: dict[str, dict[str, Any]] = {}
    for urn, by_name in registers.items():
        newest = {
            key: json.loads(register[2]) for key, register in sorted(by_name.items()) if register[2]
        }
        facets[urn] = dict(view.visibility.prune(newest))
    return facets


def read_registers(view: GraphView, urns: Iterable[str]) -> dict[str, dict[str, list[Any]]]:
    """Read the facets of datasets, sent under any of their aliases, by canonical urn and facet
    name.

    Each is [instant, rank, JSON text]; the text of a deleted facet is empty.
    """
    facts_by_dataset: dict[str, list[str | None]] = {}
    datasets = list(urns)
    if datasets:
        for row in view.read("read/nodes/alias_groups", urns=datasets):
            facts_by_dataset.setdefault(row["canonical"], []).append(row["facts"])
    return {urn: _newest_registers(texts) for urn, texts in facts_by_dataset.items()}


def _newest_registers(texts: Iterable[str | None]) -> dict[str, list[Any]]:
    newest: dict[str, list[Any]] = {}
    for text in texts:
        facts = json.loads(text) if text else {}
        for name, register in (facts.get("facets") or {}).items():
            newest[name] = max(newest.get(name, register), register)
    return newest
