"""The affected assets of a report, merged over several changes, without hidden nodes.

A job is one asset with the datasets it makes. A hidden asset is not named. Hidden columns and
datasets are removed from the evidence of visible assets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from headwater.cypher.driver.database import Row
from headwater.impact.model import DependencyModel, PropagatedChange, Severity, worse
from headwater.impact.propagate import ImpactResult
from headwater.impact.report import EVIDENCE_MAX, Affected, Evidence, Report, is_certified
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.nodes import name_nodes, read_nodes
from headwater.lineage.view import GraphView

_EVIDENCE_ORDER = {"COLUMN_PATH": 0, "SQL_LINE": 1, "READS_ONLY": 2}


@dataclass
class _Asset:
    urn: str
    severity: Severity
    distance: int
    kind: str
    path: str = ""
    outputs: tuple[str, ...] = ()
    references: dict[tuple[str, str], None] = field(default_factory=dict)
    evidence: dict[Evidence, None] = field(default_factory=dict)

    def named_urns(self) -> Iterable[str]:
        """Yield the nodes that the asset names beside itself."""
        for evidence in self.evidence:
            yield from evidence.path
        yield from (table for table, _ in self.references)
        yield from self.outputs


class AffectedAssets:
    """The affected assets of all changes so far."""

    def __init__(self, view: GraphView, rows: Mapping[str, Row], model: DependencyModel) -> None:
        self.model = model
        self._view = view
        self._rows = dict(rows)
        self._assets: dict[str, _Asset] = {}
        self._truncated = ""

    def add_result(self, result: ImpactResult) -> None:
        """Add all consumers that one change affects."""
        self._truncated = self._truncated or result.truncated
        for urn, affected in result.affected.items():
            consumer = affected.consumer
            asset = self._asset(urn, affected.severity, affected.distance, consumer.kind)
            asset.path, asset.outputs = consumer.path, tuple(consumer.outputs)
            asset.references.update(affected.references)
            asset.evidence.update(affected.evidence)

    def add_answer(
        self, urn: str, severity: Severity, evidence: Evidence, change: PropagatedChange
    ) -> None:
        """Add an answer that cites an affected column or dataset."""
        asset = self._asset(urn, severity, change.distance + 1, "ANSWER")
        asset.evidence[evidence] = None
        if evidence.kind == "COLUMN_PATH":
            asset.references[(change.table, change.column)] = None

    def report(self, *, truncated: str, notes: list[str]) -> Report:
        """Return the visible assets, nearest first."""
        answers = [urn for urn in self._assets if urn.startswith("answer:")]
        self._rows.update(read_nodes(self._view, answers))
        nodes = [urn for urn, asset in self._assets.items() if asset.kind != "FILE"]
        named: set[str] = set()
        for asset in self._assets.values():
            named.update(asset.named_urns())
        in_graph = [urn for urn in sorted(named) if not urn.startswith(("file:", "table:"))]
        unseen = find_hidden(self._view, [*nodes, *in_graph])
        visible = [asset for urn, asset in self._assets.items() if urn not in unseen]
        affected = [self._affected(asset, unseen) for asset in visible]
        affected.sort(key=lambda asset: (asset.distance, asset.severity, asset.kind, asset.name))
        hides = any(urn in unseen for urn in nodes)
        return Report(affected, hides, truncated or self._truncated, notes)

    def _asset(self, urn: str, severity: Severity, distance: int, kind: str) -> _Asset:
        asset = self._assets.setdefault(urn, _Asset(urn, severity, distance, kind))
        asset.distance = min(asset.distance, distance)
        asset.severity = worse(asset.severity, severity)
        return asset

    def _affected(self, asset: _Asset, unseen: set[str]) -> Affected:
        datasets = [urn for urn in asset.outputs if urn.startswith("dataset:")]
        outputs = tuple(urn for urn in datasets if urn not in unseen)
        row = self._rows.get(asset.urn, {})
        tags = self._listed(asset.urn, "tags")
        owners = self._listed(asset.urn, "owners")
        for output in outputs:
            tags += self._listed(output, "tags")
            owners += self._listed(output, "owners")
        urn = None if asset.kind == "FILE" else asset.urn
        namespace, name = (None, asset.path) if urn is None else self._name(urn)
        return Affected(
            urn=urn,
            kind=asset.kind,
            namespace=namespace,
            name=name,
            asset_type=_asset_type(asset.kind, row),
            severity=asset.severity,
            references=_visible_columns(asset.references, unseen),
            evidence=_visible_evidence(asset.evidence, unseen),
            distance=asset.distance,
            owners=tuple(dict.fromkeys(map(str, owners))),
            certified=is_certified(tags),
            outputs=() if outputs == (asset.urn,) else outputs,
        )

    def _listed(self, urn: str, key: str) -> list[str]:
        """Return a property of a node that is a list."""
        return list(self._rows.get(urn, {}).get(key) or ())

    def _name(self, urn: str) -> tuple[str | None, str]:
        (node,) = name_nodes(self._view, [urn])
        return node.namespace, node.name


def _visible_columns(references: Iterable[tuple[str, str]], unseen: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for table, column in references if table not in unseen))


def _visible_evidence(evidence: Iterable[Evidence], unseen: set[str]) -> tuple[Evidence, ...]:
    """Return the evidence without hidden nodes; references come before mere readers."""
    visible: dict[Evidence, None] = {}
    for item in evidence:
        path = tuple(urn for urn in item.path if urn not in unseen)
        visible[replace(item, path=path)] = None
    ordered = sorted(visible, key=lambda item: _EVIDENCE_ORDER[item.kind])
    return tuple(ordered[:EVIDENCE_MAX])


def _asset_type(kind: str, row: Row) -> str:
    """Return the type that the producer reports (dbt_model, dag, spark_job), or the kind."""
    reported = str(row.get("type") or "").lower()
    integration = str(row.get("integration") or "").lower()
    if kind == "JOB" and integration == "dbt" and reported:
        return f"dbt_{reported}"
    if kind == "JOB" and integration == "spark":
        return "spark_job"
    return reported or kind.lower()
