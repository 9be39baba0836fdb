"""The affected assets of a report, put together from what several changes hit, without what may not be seen.

A job is one asset with the datasets it makes. A hidden asset is not named, nor are hidden columns and datasets in the
evidence of one that is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from headwater.cypher.driver.database import Row
from headwater.impact.model import DependencyModel, PropagatedChange, Severity
from headwater.impact.propagate import ImpactResult
from headwater.impact.report import EVIDENCE_MAX, Affected, Evidence, Report, is_certified
from headwater.lineage.node_visibility import hidden
from headwater.lineage.nodes import name_nodes, read_nodes
from headwater.lineage.view import GraphView


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


class Assets:
    """What is affected so far."""

    def __init__(self, view: GraphView, rows: Mapping[str, Row], scene: DependencyModel) -> None:
        self.scene = scene
        self._view = view
        self._rows = dict(rows)
        self._assets: dict[str, _Asset] = {}
        self._truncated = ""

    def take(self, found: ImpactResult) -> None:
        """All that one change hits."""
        self._truncated = self._truncated or found.truncated
        for urn, hit in found.hits.items():
            asset = self._asset(urn, hit.severity, hit.distance, hit.reader.kind)
            asset.path, asset.outputs = hit.reader.path, tuple(hit.reader.outputs)
            asset.references.update(hit.references)
            for judgement in hit.judgements:
                asset.evidence.update(dict.fromkeys(judgement.evidence))

    def answer(
        self, urn: str, severity: Severity, evidence: Evidence, trouble: PropagatedChange
    ) -> None:
        """An answer that cites something in trouble."""
        asset = self._asset(urn, severity, trouble.distance + 1, "ANSWER")
        asset.evidence[evidence] = None
        if evidence.kind == "COLUMN_PATH":
            asset.references[(trouble.place, trouble.column)] = None

    def report(self, *, truncated: str, notes: list[str]) -> Report:
        """What may be seen of it all, nearest first."""
        unread = [urn for urn in self._assets if urn.startswith("answer:")]
        self._rows.update(read_nodes(self._view, unread))
        nodes = [urn for urn, asset in self._assets.items() if asset.kind != "FILE"]
        named = {
            urn
            for asset in self._assets.values()
            for urn in _named(asset)
            if not urn.startswith(("file:", "table:"))
        }
        unseen = hidden(self._view, [*nodes, *sorted(named)])
        shown = [
            self._affected(asset, unseen)
            for urn, asset in self._assets.items()
            if urn not in unseen
        ]
        shown.sort(key=lambda one: (one.distance, one.severity, one.kind, one.name))
        hides = any(urn in unseen for urn in nodes)
        return Report(shown, hides, truncated or self._truncated, notes)

    def _asset(self, urn: str, severity: Severity, distance: int, kind: str) -> _Asset:
        asset = self._assets.setdefault(urn, _Asset(urn, severity, distance, kind))
        asset.distance = min(asset.distance, distance)
        if severity == "breaking":
            asset.severity = "breaking"
        return asset

    def _affected(self, asset: _Asset, unseen: set[str]) -> Affected:
        outputs = tuple(
            one for one in asset.outputs if one.startswith("dataset:") and one not in unseen
        )
        listed = [*self._tags(asset.urn), *(tag for one in outputs for tag in self._tags(one))]
        row = self._rows.get(asset.urn, {})
        urn = None if asset.kind == "FILE" else asset.urn
        namespace, name = (None, asset.path) if urn is None else self._name(urn)
        owners = [
            *(row.get("owners") or ()),
            *(who for one in outputs for who in self._rows.get(one, {}).get("owners") or ()),
        ]
        return Affected(
            urn=urn,
            kind=asset.kind,
            namespace=namespace,
            name=name,
            asset_type=_type(asset.kind, row),
            severity=asset.severity,
            references=_columns(asset.references, unseen),
            evidence=_shown(asset.evidence, unseen),
            distance=asset.distance,
            owners=tuple(dict.fromkeys(map(str, owners))),
            certified=is_certified(listed),
            outputs=() if outputs == (asset.urn,) else outputs,
        )

    def _tags(self, urn: str) -> list[str]:
        return list(self._rows.get(urn, {}).get("tags") or ())

    def _name(self, urn: str) -> tuple[str | None, str]:
        (node,) = name_nodes(self._view, [urn])
        return node.namespace, node.name


def _named(asset: _Asset) -> Iterable[str]:
    """The nodes that an asset as shown would name."""
    yield from (urn for evidence in asset.evidence for urn in evidence.path)
    yield from (place for place, _ in asset.references)
    yield from asset.outputs


def _columns(references: Iterable[tuple[str, str]], unseen: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for place, column in references if place not in unseen))


def _shown(evidence: Iterable[Evidence], unseen: set[str]) -> tuple[Evidence, ...]:
    """The evidence without what may not be seen; shown references before mere readings."""
    kept = [
        replace(one, path=tuple(urn for urn in one.path if urn not in unseen)) for one in evidence
    ]
    order = {"COLUMN_PATH": 0, "SQL_LINE": 1, "READS_ONLY": 2}
    return tuple(sorted(dict.fromkeys(kept), key=lambda one: order[one.kind])[:EVIDENCE_MAX])


def _type(kind: str, row: Row) -> str:
    """What an asset is, in the words of its producer: dbt_model, dag, spark_job, ... else its kind."""
    told = str(row.get("type") or "").lower()
    integration = str(row.get("integration") or "").lower()
    if kind == "JOB" and integration == "dbt" and told:
        return f"dbt_{told}"
    if kind == "JOB" and integration == "spark":
        return "spark_job"
    return told or kind.lower()
