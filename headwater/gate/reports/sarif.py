"""The report as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
import re
from typing import Any
from urllib.parse import quote

import headwater
from headwater.gate.sanitize import line
from headwater.gate.verdict import BLOCKED, Finding, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# Halves of characters that do not stand for a byte of a file's name, as others do.
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_RULES = {
    "breaking-change": "A change breaks something downstream that is shown to refer to what changes.",
    "certified-affected": "A change affects a certified asset.",
    "too-many-downstream": "A change affects more assets downstream than may be.",
    "not-assessed": "What a change affects cannot be assessed, which blocks.",
    "affected": "A change may affect something downstream: it reads the dataset.",
    "change": "A change that nothing downstream is known to read.",
}


def sarif(report: Report) -> dict[str, Any]:
    """The log, as JSON values."""
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()]
    driver = {"name": "headwater gate", "version": headwater.__version__, "rules": rules}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "invocations": [
                    {
                        "executionSuccessful": report.judgement != BLOCKED,
                        "exitCode": report.exit_code,
                    }
                ],
                "results": [_result(finding) for finding in report.findings],
                "columnKind": "unicodeCodePoints",
            }
        ],
    }


def _result(finding: Finding) -> dict[str, Any]:
    message = line(finding.message)
    known_by = hashlib.sha256(
        f"{finding.rule}\n{finding.file}\n{message}".encode(errors="replace")
    ).hexdigest()
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": list(_RULES).index(finding.rule),
        "level": finding.level,
        "message": {"text": message},
        "partialFingerprints": {"headwaterGate/v1": known_by},
    }
    if finding.file:
        # Percent-encoded, as a URI relative to the root of the repository.
        uri = quote(_NO_BYTE.sub("?", finding.file).encode(errors="surrogateescape"), safe="/")
        place = {
            "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": max(finding.line, 1)},
        }
        result["locations"] = [{"physicalLocation": place}]
    return result
