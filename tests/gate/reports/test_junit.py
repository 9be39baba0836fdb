"""JUnit XML: counts and cases."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from headwater.gate.reports.junit import render_junit
from headwater.gate.verdict import (
    Report,
)
from tests.gate.report_builders import BLOCKED, FAILED, HARMED, PASSED


@pytest.mark.parametrize("report", [Report("main"), PASSED, FAILED, BLOCKED, HARMED])
def test_junit_counts_its_cases(report: Report) -> None:
    root = ElementTree.fromstring(render_junit(report))
    (suite,) = root
    cases = suite.findall("testcase")
    assert root.tag == "testsuites"
    assert int(suite.attrib["tests"]) == len(cases) >= 1
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
    assert int(suite.attrib["errors"]) == len(report.problems)
    assert all(case.attrib["name"] and case.attrib["classname"] for case in cases)
