"""The report as JUnit XML: one test a finding, a failure if it breaks, an error if not assessed."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from headwater.gate.sanitize import one_line
from headwater.gate.verdict import Finding, Report

# Characters that XML 1.0 forbids, even as references.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(report: Report) -> bytes:
    """Return the XML document."""
    findings = report.findings
    errors = sum(finding.rule == "not-assessed" for finding in findings)
    failures = sum(finding.level == "error" for finding in findings) - errors
    counts = {"tests": str(max(len(findings), 1)), "failures": str(failures), "errors": str(errors)}
    suites = ElementTree.Element("testsuites", {"name": "headwater gate", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "headwater gate", **counts})
    for finding in findings:
        _add_case(suite, finding)
    if not findings:
        attributes = {"classname": "headwater.gate", "name": _xml_text(report.title)}
        ElementTree.SubElement(suite, "testcase", attributes)
    return bytes(ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add_case(suite: ElementTree.Element, finding: Finding) -> None:
    message = _xml_text(finding.message)
    file = _xml_text(finding.file) or "headwater.gate"
    case = ElementTree.SubElement(suite, "testcase", {"classname": file, "name": message})
    if finding.file:
        case.set("file", file)
        case.set("line", str(max(finding.line, 1)))
    if finding.level == "error":
        tag = "error" if finding.rule == "not-assessed" else "failure"
        attributes = {"type": finding.rule, "message": message}
        ElementTree.SubElement(case, tag, attributes).text = f"{file}:{finding.line}"


def _xml_text(text: str) -> str:
    return _FORBIDDEN.sub("�", one_line(text))
