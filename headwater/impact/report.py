"""The report of an assessment: the affected assets, with severity and evidence, and the risk.

The risk is *high* if anything breaks, if the effect on an asset is unknown, or if an affected asset
is certified (a tag `certified` or `canonical`). It is *medium* if there are only warnings, if a
hidden asset is affected, or if the report is cut short. It is *low* otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, Protocol

import msgspec

from headwater.impact.model import Consumer, Severity

CERTIFIED_TAGS = ("certified", "canonical")
EVIDENCE_MAX = 20
Risk = Literal["low", "medium", "high"]


class _CodeLine(Protocol):
    @property
    def line(self) -> int: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class Evidence:
    """The reason why an asset is affected.

    COLUMN_PATH: column lineage leads to it; `path` has the columns in order.
    SQL_LINE: its code names the column, in `file` or, if that is "", in the code that its
    producer sent; `path` has the columns that lead there.
    READS_ONLY: it reads the changed dataset; `path` has both, `unknown` the reasons for the
    doubt."""

    kind: Literal["COLUMN_PATH", "SQL_LINE", "READS_ONLY"]
    path: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    text: str = ""
    unknown: tuple[str, ...] = ()

    @classmethod
    def column_path(cls, path: Sequence[str]) -> Evidence:
        """Return the evidence of a path of columns."""
        return cls("COLUMN_PATH", path=tuple(path))

    @classmethod
    def line_of(cls, consumer: Consumer, line: _CodeLine, path: Sequence[str]) -> Evidence:
        """Return the evidence of a line in the code of a consumer."""
        return cls("SQL_LINE", path=tuple(path), file=consumer.path, line=line.line, text=line.text)

    @classmethod
    def reads_only(cls, path: Sequence[str], consumer: Consumer) -> Evidence:
        """Return the evidence of a consumer that reads the dataset."""
        unknown = consumer.code.unknown[:3] if consumer.code else ("its code is not known",)
        return cls("READS_ONLY", path=tuple(path), unknown=unknown)


def first_distinct(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Return the first of this evidence, as much as an asset shows at most."""
    return list(islice(dict.fromkeys(evidence), EVIDENCE_MAX))


@dataclass(frozen=True)
class Affected:
    """An asset that a change reaches.

    urn: None for a file that is not a job of the graph.
    references: the columns it reads through which it is affected.
    outputs: the datasets it makes.
    distance: the number of assets from the change to it, itself included; 0 for a writer of the
    changed dataset."""

    urn: str | None
    kind: str
    namespace: str | None
    name: str
    asset_type: str
    severity: Severity
    references: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    distance: int
    owners: tuple[str, ...] = ()
    certified: bool = False
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """The affected assets, nearest first.

    hidden_affected: an asset that the caller may not see is affected too.
    truncated: the bound that cut the report short, or "".
    notes: inconsistencies between the changes and the graph."""

    affected: list[Affected]
    hidden_affected: bool = False
    truncated: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def affected_count(self) -> int:
        return len(self.affected)

    @property
    def breaking_count(self) -> int:
        return sum(asset.severity == "breaking" for asset in self.affected)

    @property
    def unknown_count(self) -> int:
        return sum(one.severity == "unknown" for one in self.affected)

    @property
    def warning_count(self) -> int:
        return sum(one.severity == "warning" for one in self.affected)

    @property
    def certified_count(self) -> int:
        return sum(asset.certified for asset in self.affected)

    @property
    def risk_level(self) -> Risk:
        if self.breaking_count or self.unknown_count or self.certified_count:
            return "high"
        return "medium" if self.affected or self.hidden_affected or self.truncated else "low"

    @property
    def owners(self) -> list[str]:
        """Return the owners to notify."""
        owners: set[str] = set()
        for asset in self.affected:
            owners.update(asset.owners)
        return sorted(owners)


def report_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON."""
    return {
        "risk_level": report.risk_level,
        "affected_count": report.affected_count,
        "breaking_count": report.breaking_count,
        "unknown_count": report.unknown_count,
        "warning_count": report.warning_count,
        "certified_count": report.certified_count,
        "affected_assets": [_affected_json(asset) for asset in report.affected],
        "owners": report.owners,
        "hidden_affected": report.hidden_affected,
        "truncated": report.truncated or None,
        "notes": report.notes,
    }


def _affected_json(asset: Affected) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(asset)
    content["affected_references"] = content.pop("references")
    return content


def is_certified(tags: object) -> bool:
    """Return True if one of these tags certifies an asset."""
    if not isinstance(tags, list):
        return False
    return any(str(tag).casefold() in CERTIFIED_TAGS for tag in tags)
