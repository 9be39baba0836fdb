"""The risk of a report, and its JSON."""

from __future__ import annotations

import json

import pytest

from headwater.code_analysis.model import References
from headwater.impact.model import Consumer, Severity
from headwater.impact.report import Affected, Evidence, Report, is_certified, report_json


def affected(name: str, severity: Severity = "warning", *, certified: bool = False) -> Affected:
    evidence = (Evidence("READS_ONLY", ("dataset:db:t", f"job:etl:{name}")),)
    return Affected(
        f"job:etl:{name}", "JOB", "etl", name, "job", severity, ("x",), evidence, 1,
        owners=("team:b", f"team:{name}"), certified=certified,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("report", "risk"),
    [
        (Report([]), "low"),
        (Report([affected("a")]), "medium"),
        (Report([], hidden_affected=True), "medium"),
        (Report([], truncated="time"), "medium"),
        (Report([affected("a", "breaking")]), "high"),
        (Report([affected("a", certified=True)]), "high"),
    ],
)
def test_the_risk(report: Report, risk: str) -> None:
    assert report.risk_level == risk


def test_counts_owners_and_json() -> None:
    report = Report([affected("a", "breaking"), affected("c")], notes=["a note"])
    content = json.loads(json.dumps(report_json(report)))
    assert (content["affected_count"], content["breaking_count"], content["warning_count"]) == (
        2,
        1,
        1,
    )
    assert content["owners"] == ["team:a", "team:b", "team:c"]
    assert content["affected_assets"][0]["affected_references"] == ["x"]
    assert (content["truncated"], content["notes"]) == (None, ["a note"])


def test_evidence_of_a_reader_has_the_first_reasons_for_the_doubt() -> None:
    code = References(unknown=("a", "b", "c", "d"))
    reader = Consumer("job:etl:j", load_code=lambda: code)
    assert Evidence.reads_only(("t", "j"), reader).unknown == ("a", "b", "c")
    unknown_code = Evidence.reads_only(("t", "j"), Consumer("job:etl:j"))
    assert unknown_code.unknown == ("its code is not known",)


def test_tags_that_certify() -> None:
    assert is_certified(["x", "Certified"])
    assert is_certified(["canonical"])
    assert not is_certified(["x"])
    assert not is_certified(None)
