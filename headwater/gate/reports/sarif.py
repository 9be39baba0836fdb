"""The report as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
import re
from typing import Any
from urllib.parse import quote

import headwater
from headwater.gate.sanitize import one_line
from headwater.gate.verdict import BLOCKED, Finding, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# Surrogates that do not represent a byte of a file name.
_LONE_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_RULES = {
    "breaking-change": "A change breaks an asset downstream that is shown to refer to it.",
    "certified-affected": "A change affects a certified asset.",
    "too-many-downstream": "A change affects more assets downstream than allowed.",
    "not-assessed": "The impact of a change cannot be assessed, which blocks.",
    "policy-violated": "A change violates a policy, or a policy cannot be assessed.",
    "approved": "A person approved what a change does.",
    "affected": "A change may affect an asset downstream that reads the dataset.",
    "change": "A change that no known asset downstream reads.",
}


def render_sarif(report: Report) -> dict[str, Any]:
    """Return the log as JSON values."""
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()]
    driver = {"name": "headwater gate", "version": headwater.__version__, "rules": rules}
    is_assessed = report.verdict != BLOCKED
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": is_assessed, "exitCode": report.exit_code}],
        "results": [_render_result(finding) for finding in report.findings],
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _render_result(finding: Finding) -> dict[str, Any]:
    message = one_line(finding.message)
    # The line is not part of it, so that a finding keeps its identity when code moves.
    identity = f"{finding.rule}\n{finding.file}\n{message}".encode(errors="replace")
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": list(_RULES).index(finding.rule),
        "level": finding.level,
        "message": {"text": message},
        "partialFingerprints": {"headwaterGate/v1": hashlib.sha256(identity).hexdigest()},
    }
    if finding.file:
        # Percent-encoded, as a URI relative to the root of the repository.
        path = _LONE_SURROGATE.sub("?", finding.file).encode(errors="surrogateescape")
        location = {
            "artifactLocation": {"uri": quote(path, safe="/"), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": max(finding.line, 1)},
        }
        result["locations"] = [{"physicalLocation": location}]
    return result
