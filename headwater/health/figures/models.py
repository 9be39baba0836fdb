"""The completeness of the lineage of model versions.

The completeness of a version is the share of the versions behind it, itself among them, whose
origin is known. The origin of raw data is the source itself. That of any other version is known if
its run is, and the run read something. Hidden versions count as unknown. A traversal that meets a
bound leaves the completeness below 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import RUNS_UP
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.view import GraphView

VERSIONS_MAX = 20
HOPS_MAX = 100
NODES_MAX = 2_000
EDGES_MAX = 20_000
SECONDS_MAX = 4.0


@dataclass(frozen=True)
class ModelVersion:
    """A version of a model: `known` of the `versions` behind it have a known origin."""

    urn: str
    dataset: str
    version: str
    created_at: datetime
    known: int
    versions: int

    @property
    def completeness(self) -> float:
        return self.known / self.versions


def model_versions(view: GraphView, *, limit: int = VERSIONS_MAX) -> list[ModelVersion]:
    """Return the newest model versions, newest first."""
    rows = view.read("read/figures/model_versions", visible=view.visibility.regexes, limit=limit)
    bounds = Bounds.within(SECONDS_MAX, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    request = TraversalRequest(RUNS_UP, bounds, prefetch=True, find_resume_points=False)
    traversals = traverse(view, request, {row["urn"]: [row["urn"]] for row in rows})
    found = []
    for row in rows:
        traversal = traversals[row["urn"]]
        edges = [(edge.source, edge.target) for edge in traversal.edges]
        known, versions = known_origins(traversal.nodes, edges)
        found.append(
            ModelVersion(
                urn=row["urn"],
                dataset=row["dataset"],
                version=row["version"],
                created_at=row["createdAt"],
                known=known,
                versions=versions + bool(traversal.truncated),
            )
        )
    return found


def known_origins(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Return the number of versions with a known origin, and of all versions."""
    upstream: dict[str, list[str]] = {}
    for source, target in edges:
        upstream.setdefault(target, []).append(source)
    known = total = 0
    for node in nodes:
        if node.startswith("run:"):
            continue
        total += 1
        runs = [one for one in upstream.get(node, ()) if one.startswith("run:")]
        has_run = any(upstream.get(one) for one in runs)
        known += node.startswith("source:") or has_run
    return known, total
