"""The report as JUnit XML: a test for each change; it fails where something breaks, and errs where nobody can tell."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from headwater.gate.sanitize import line
from headwater.gate.verdict import Finding, Report

# What XML 1.0 cannot hold, not even as a reference.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> bytes:
    """The document."""
    findings = report.findings
    failures = sum(one.level == "error" and one.rule != "not-assessed" for one in findings)
    errors = sum(one.rule == "not-assessed" for one in findings)
    counts = {"tests": str(max(len(findings), 1)), "failures": str(failures), "errors": str(errors)}
    suites = ElementTree.Element("testsuites", {"name": "headwater gate", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "headwater gate", **counts})
    for finding in findings:
        _case(suite, finding)
    if not findings:
        ElementTree.SubElement(
            suite, "testcase", {"classname": "headwater.gate", "name": _text(report.title)}
        )
    return bytes(ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def _case(suite: ElementTree.Element, finding: Finding) -> None:
    message = _text(finding.message)
    where = _text(finding.file) or "headwater.gate"
    case = ElementTree.SubElement(suite, "testcase", {"classname": where, "name": message})
    if finding.file:
        case.set("file", where)
        case.set("line", str(max(finding.line, 1)))
    if finding.level == "error":
        kind = "error" if finding.rule == "not-assessed" else "failure"
        ElementTree.SubElement(
            case, kind, {"type": finding.rule, "message": message}
        ).text = f"{where}:{finding.line}"


def _text(text: str) -> str:
    return _FORBIDDEN.sub("�", line(text))
