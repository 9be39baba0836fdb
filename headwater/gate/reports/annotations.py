"""Findings as GitHub workflow commands, shown beside the code.

`::error file=...,line=...::message`."""

from __future__ import annotations

from headwater.gate.sanitize import one_line
from headwater.gate.verdict import Finding, Report

# GitHub shows at most ten of each level for a step.
SHOWN_MAX = 10
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render_annotations(report: Report) -> list[str]:
    """Return one workflow command a finding, the worst first."""
    shown: list[Finding] = []
    for level in _COMMANDS:
        shown += [finding for finding in report.findings if finding.level == level][:SHOWN_MAX]
    return [_render_command(finding) for finding in shown]


def _render_command(finding: Finding) -> str:
    properties = {"title": f"headwater gate: {finding.rule}"}
    if finding.file:
        properties = {"file": finding.file, "line": str(max(finding.line, 1)), **properties}
    joined = ",".join(f"{key}={_escape_property(text)}" for key, text in properties.items())
    return f"::{_COMMANDS[finding.level]} {joined}::{_escape(one_line(finding.message))}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
