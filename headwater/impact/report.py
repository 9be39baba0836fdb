"""What an assessment answers: who is affected, how badly, on what evidence, and the risk that this adds up to.

The risk is *high* when anything breaks or anything affected is certified (a tag `certified` or `canonical`), *medium*
when there are warnings only, or something out of sight is affected, *low* when nothing is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import msgspec

from headwater.impact.model import Consumer, Severity

CERTIFIED = ("certified", "canonical")
EVIDENCE_MAX = 20
Risk = Literal["low", "medium", "high"]


class _Line(Protocol):
    @property
    def line(self) -> int: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class Evidence:
    """Why an asset is affected.

    COLUMN_PATH: column lineage leads to it, `path` are the columns in order. SQL_LINE: its code says so, in `file` or,
    where that is "", in what its producer sent; `path` are the columns that lead there. READS_ONLY: it reads what
    changes, `path` are both; `unknown` is what keeps one from knowing more."""

    kind: Literal["COLUMN_PATH", "SQL_LINE", "READS_ONLY"]
    path: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    text: str = ""
    unknown: tuple[str, ...] = ()

    @classmethod
    def column_path(cls, path: Sequence[str]) -> Evidence:
        return cls("COLUMN_PATH", path=tuple(path))

    @classmethod
    def line_of(cls, reader: Consumer, at: _Line, path: Sequence[str]) -> Evidence:
        return cls("SQL_LINE", path=tuple(path), file=reader.path, line=at.line, text=at.text)

    @classmethod
    def reads_only(cls, path: Sequence[str], reader: Consumer) -> Evidence:
        return cls(
            "READS_ONLY", path=tuple(path), unknown=reader.code.unknown[:3] if reader.code else ()
        )


@dataclass(frozen=True)
class Affected:
    """An asset that a change reaches. `urn` is None for a file that is no job of the graph. `references` are the
    columns of what it reads that it is affected by; `outputs` the datasets it makes; `distance` the assets from the
    change to it, itself included, 0 for one that writes what changes."""

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
    """`affected` nearest first. `hidden_affected`: something that may not be seen is affected too. `truncated`: which
    bound cut it short; "" when it is whole. `notes` say what is odd about the changes."""

    affected: list[Affected]
    hidden_affected: bool = False
    truncated: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def affected_count(self) -> int:
        return len(self.affected)

    @property
    def breaking_count(self) -> int:
        return sum(one.severity == "breaking" for one in self.affected)

    @property
    def warning_count(self) -> int:
        return self.affected_count - self.breaking_count

    @property
    def certified_count(self) -> int:
        return sum(one.certified for one in self.affected)

    @property
    def risk_level(self) -> Risk:
        if self.breaking_count or self.certified_count:
            return "high"
        return "medium" if self.affected or self.hidden_affected or self.truncated else "low"

    @property
    def owners(self) -> list[str]:
        """Whom to tell."""
        return sorted({owner for one in self.affected for owner in one.owners})


def report_json(report: Report) -> dict[str, Any]:
    """The report as JSON, with the names of seed 001."""
    return {
        "risk_level": report.risk_level,
        "affected_count": report.affected_count,
        "breaking_count": report.breaking_count,
        "warning_count": report.warning_count,
        "certified_count": report.certified_count,
        "affected_assets": [_affected(one) for one in report.affected],
        "owners": report.owners,
        "hidden_affected": report.hidden_affected,
        "truncated": report.truncated or None,
        "notes": report.notes,
    }


def _affected(one: Affected) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(one)
    found["affected_references"] = found.pop("references")
    return found


def is_certified(tags: object) -> bool:
    """Whether one of these tags says so."""
    return (
        any(str(tag).casefold() in CERTIFIED for tag in tags) if isinstance(tags, list) else False
    )
