"""Rule `failed-check`: a check of the data failed.

Reports are read in the order of their times. A check of severity `warn` or `info` is none. Checks
that began to fail in the same report are one finding. Each check ends when it passes, or when a
newer version got checks and none failed. The finding ends with the last of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from headwater.health.findings.datasets.history import Check, DatasetHistory, Report
from headwater.health.findings.datasets.spells import Spell, episodes_of
from headwater.health.findings.models import Episode

RULE = "failed-check"
_MILD = frozenset({"warn", "warning", "info"})
_READERS_MAX = 20


def detect_failed_check(history: DatasetHistory, _: datetime) -> Iterator[Episode]:
    """Yield the episodes in which checks of the dataset failed."""
    if history.is_gone:
        return
    for episode in episodes_of(RULE, history.urn, _spells(history), "checks"):
        readers = [reader.job for reader in history.current_readers]
        blast = {"readers": readers[:_READERS_MAX], "readerCount": len(readers)}
        yield replace(episode, evidence={**episode.evidence, **blast})


def _spells(history: DatasetHistory) -> Iterator[Spell]:
    made = {version.urn: version.created_at for version in history.versions}
    failing: dict[tuple[str, ...], tuple[Spell, str]] = {}
    for report in history.reports:
        failed = [check for check in report.checks if not check.success]
        for key, (spell, version) in sorted(failing.items()):
            if _passes(key, version, report, made):
                del failing[key]
                ended_by = report.run or history.urn
                yield replace(spell, resolved_at=report.at, resolved_by=ended_by)
        for check in failed:
            key = (check.name, check.column)
            if key in failing:
                spell, _ = failing[key]
                failing[key] = (replace(spell, last_seen=report.at), report.version)
            elif check.severity not in _MILD:
                failing[key] = (_spell(history, report, check), report.version)
    for spell, _ in failing.values():
        yield spell


def _passes(
    key: tuple[str, ...], version: str, report: Report, made: Mapping[str, datetime]
) -> bool:
    """Return True if a report shows that a failing check is over."""
    for check in report.checks:
        if (check.name, check.column) == key:
            return check.success
    if not report.checks or not all(check.success for check in report.checks):
        return False
    return version in made and report.version in made and made[report.version] > made[version]


def _spell(history: DatasetHistory, report: Report, check: Check) -> Spell:
    began_with = report.run or f"{history.urn}@{report.at.isoformat()}"
    item = (check.name, check.column)
    return Spell(began_with, item, report.at, report.at, _evidence(report, check))


def _evidence(report: Report, check: Check) -> dict[str, Any]:
    return {
        "check": check.name,
        "column": check.column or None,
        "expected": check.expected or None,
        "actual": check.actual or None,
        "severity": check.severity or None,
        "run": report.run or None,
        "job": report.job or None,
        "version": report.version or None,
    }
