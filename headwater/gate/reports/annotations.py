"""Findings as GitHub shows them beside the code: `::error file=...,line=...::message`."""

from __future__ import annotations

from headwater.gate.sanitize import line
from headwater.gate.verdict import Finding, Report

# GitHub shows at most ten of each level for a step.
SHOWN_MAX = 10
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def commands(report: Report) -> list[str]:
    """One workflow command a line, the worst first."""
    shown = []
    for level in _COMMANDS:
        shown += [finding for finding in report.findings if finding.level == level][:SHOWN_MAX]
    return [_command(finding) for finding in shown]


def _command(finding: Finding) -> str:
    where = {"title": f"headwater gate: {finding.rule}"}
    if finding.file:
        where = {"file": finding.file, "line": str(max(finding.line, 1)), **where}
    properties = ",".join(f"{key}={_property(value)}" for key, value in where.items())
    return f"::{_COMMANDS[finding.level]} {properties}::{_data(line(finding.message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
