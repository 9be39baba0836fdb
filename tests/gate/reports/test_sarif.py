"""SARIF 2.1.0, by its rules."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from headwater.gate.reports.sarif import render_sarif
from headwater.gate.verdict import (
    Report,
)
from tests.gate.report_builders import BLOCKED, FAILED, HARMED, PASSED, judged

STRING, NUMBER = str, int


RESULT_KEYS = {"ruleId", "ruleIndex", "level", "message", "partialFingerprints", "locations"}


@pytest.mark.parametrize("report", [Report("main"), PASSED, FAILED, BLOCKED, HARMED])
def test_sarif_has_the_shape_that_2_1_0_asks_for(report: Report) -> None:
    log = json.loads(json.dumps(render_sarif(report)))
    assert (log["version"], set(log)) == ("2.1.0", {"$schema", "version", "runs"})
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "headwater gate"
    assert all(isinstance(rule["shortDescription"]["text"], STRING) for rule in rules)
    assert isinstance(run["invocations"][0]["executionSuccessful"], bool)
    assert len(run["results"]) == len(report.findings)
    for result in run["results"]:
        assert set(result) <= RESULT_KEYS
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        for location in result.get("locations", ()):
            physical = location["physicalLocation"]
            # RFC 3986: all characters are escaped, and it stays within the repository.
            assert re.fullmatch(r"(?!/)[\w.~/%-]+", physical["artifactLocation"]["uri"], re.ASCII)
            assert physical["region"]["startLine"] >= 1


def test_sarif_names_the_file_and_knows_a_finding_again() -> None:
    spaced = replace(PASSED, assessed=(judged(file="models/or ders größe.sql"),))
    (result,) = render_sarif(spaced)["runs"][0]["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "models/or%20ders%20gr%C3%B6%C3%9Fe.sql"
    moved = replace(
        spaced.assessed[0],
        change=replace(
            spaced.assessed[0].change, source=replace(spaced.assessed[0].change.source, line=9)
        ),
    )
    (repeated,) = render_sarif(replace(spaced, assessed=(moved,)))["runs"][0]["results"]
    assert repeated["partialFingerprints"] == result["partialFingerprints"]
