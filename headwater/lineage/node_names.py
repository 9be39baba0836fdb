"""Names and kinds of nodes, as their urns and properties give them. No question to Neo4j."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headwater.lineage.hidden_nodes import HIDDEN
from headwater.schema.graph import LABELS, NODE_KINDS
from headwater.schema.urns import parse_urn

HIDDEN_KIND = "HIDDEN"


@dataclass(frozen=True)
class NodeName:
    """A node as a lineage shows it.

    `kind` is its label in capitals: DATASET, JOB, PIPELINE_RUN, and so on; HIDDEN for a stub.
    """

    urn: str
    kind: str
    namespace: str | None
    name: str


def kind_of(urn: str) -> str:
    """Return the kind of node that a urn names. Raises QueryError for a malformed urn."""
    return NODE_KINDS[LABELS[parse_urn(urn).kind]]


def node_names_of(urns: Iterable[str], rows: Mapping[str, Mapping[str, Any]]) -> list[NodeName]:
    """Return the names of nodes in the order given.

    `rows` holds the properties of the nodes whose urns do not spell their names.
    """
    return [node_name(urn, rows.get(urn, {})) for urn in urns]


def node_name(urn: str, row: Mapping[str, Any]) -> NodeName:
    """Return the name of one node; `row` holds its properties, where its urn alone is not
    enough."""
    if urn.startswith(HIDDEN):
        return NodeName(urn, HIDDEN_KIND, None, "hidden")
    kind, parts = parse_urn(urn)
    if kind == "run":
        run_id = row.get("runId") or (parts[0] if parts else urn)
        return NodeName(urn, kind_of(urn), row.get("namespace"), row.get("pipelineName") or run_id)
    if not parts:
        name = row.get("name") or row.get("answerId") or urn
        return NodeName(urn, kind_of(urn), row.get("namespace"), name)
    if kind == "answer":
        return NodeName(urn, kind_of(urn), None, parts[0])
    name = ".".join((parts[1], parts[2])) if kind == "column" else parts[1]
    return NodeName(urn, kind_of(urn), parts[0], name)
