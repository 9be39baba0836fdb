"""The verdict, its reasons and its findings."""

from __future__ import annotations

import html
import json
from dataclasses import replace

import pytest

from headwater.gate.reports.markdown import render_markdown
from headwater.gate.resolve_datasets import GateApproval
from headwater.gate.verdict import (
    BREAKING,
    UNKNOWN,
    WARNING,
    AssessedChange,
    Report,
    describe,
    report_json,
)
from tests.gate.report_builders import BLOCKED, FAILED, HARMED, PASSED, affected, judged


def test_verdicts_and_exit_codes() -> None:
    empty = Report("main")
    assert [(one.verdict, one.exit_code) for one in (empty, PASSED, FAILED, BLOCKED)] == [
        ("passed", 0),
        ("passed", 0),
        ("failed", 1),
        ("blocked", 2),
    ]
    # A break comes before a problem.
    both = replace(FAILED, problems=BLOCKED.problems)
    assert (both.verdict, both.exit_code) == ("failed", 1)
    allowed = replace(both, allow_reason="agreed")
    assert (allowed.verdict, allowed.exit_code) == ("failed", 0)


def test_an_unknown_effect_blocks_unless_it_is_allowed() -> None:
    report = replace(
        PASSED, assessed=(judged(affected("blind", UNKNOWN), affected("board", WARNING)),)
    )
    assert (report.verdict, report.exit_code, report.unassessed) == ("blocked", 2, ["blind"])
    assert report.title == "blocked: the effect on blind is unknown"
    (finding,) = report.findings
    assert (finding.level, finding.rule) == ("error", "not-assessed")
    assert finding.message == (
        "orders: column amount is dropped: has an unknown effect on blind, may affect board"
    )
    assert report_json(report)["unassessedAssets"] == ["blind"]
    allowed = replace(report, allows_unknown=True)
    assert (allowed.verdict, allowed.exit_code, allowed.unassessed) == ("passed", 0, [])
    assert allowed.title == "passed: nothing downstream is shown to break"
    assert [finding.level for finding in allowed.findings] == ["warning"]
    # Something that breaks comes first.
    broken = replace(report, assessed=(judged(affected("a"), affected("blind", UNKNOWN)),))
    assert (broken.verdict, broken.exit_code) == ("failed", 1)


def test_an_asset_counts_once_at_its_worst() -> None:
    assert [(one.name, one.severity) for one in FAILED.affected] == [
        ("board", BREAKING),
        ("other", WARNING),
    ]
    assert FAILED.reasons == ["1 asset downstream would break"]


@pytest.mark.parametrize(("limit", "reasons"), [(2, 0), (1, 1), (0, 1)])
def test_more_downstream_than_may_be(limit: int, reasons: int) -> None:
    two = judged(affected("a", WARNING), affected("b", WARNING))
    report = replace(PASSED, assessed=(two,), downstream_max=limit)
    assert len(report.reasons) == reasons
    assert report.exit_code == reasons


def approved(one: AssessedChange, *policies: str) -> AssessedChange:
    approvals = tuple(
        GateApproval(policy, "Agreed.", "ann", "2026-01-01T00:00:00Z") for policy in policies
    )
    return replace(one, change=replace(one.change, approvals=approvals))


def test_a_steward_approves_each_reason_to_fail() -> None:
    one = judged(affected("a"), affected("gold", WARNING, certified=True))
    report = replace(PASSED, assessed=(one,), downstream_max=1)
    orders = "dataset:db:orders"
    assert (report.exit_code, len(report.reasons)) == (1, 3)
    rules = ["breaking-change", "certified-affected", "too-many-downstream"]
    assert report.approvals_needed == [(orders, rule) for rule in rules]
    for number in range(3):
        part = replace(report, assessed=(approved(one, *rules[: number + 1]),))
        assert len(part.reasons) == 2 - number
        assert part.approvals_needed == [(orders, rule) for rule in rules[number + 1 :]]
    assert (part.verdict, part.exit_code) == ("passed", 0)
    assert part.title == "passed: what breaks downstream is approved"
    assert [finding.level for finding in part.findings] == ["warning", "note", "note", "note"]
    assert part.findings[1].message == (
        "breaking-change on dataset:db:orders is approved by ann at 2026-01-01T00:00:00Z: Agreed."
    )
    assert "- approved: `breaking-change on" in render_markdown(part)
    other = replace(part, assessed=(*part.assessed, judged(affected("b"), name="users")))
    # An approval of one dataset lets no change of another pass.
    assert other.reasons == ["1 asset downstream would break"]
    assert other.approvals_needed == [("dataset:db:users", "breaking-change")]
    unrelated = replace(report, assessed=(approved(one, "retention"),))
    assert (len(unrelated.reasons), unrelated.approvals) == (3, [])


def test_a_certified_asset_fails_at_any_severity() -> None:
    report = replace(PASSED, assessed=(judged(affected("gold", WARNING, certified=True)),))
    assert (report.reasons, report.exit_code) == (["certified: gold"], 1)
    own = judged()
    own = replace(own, change=replace(own.change, is_certified=True))
    assert replace(PASSED, assessed=(own,)).certified_assets == ["orders"]
    added = judged(type="column_add")
    added = replace(added, change=replace(added.change, is_certified=True))
    assert replace(PASSED, assessed=(added,)).certified_assets == []


def test_findings_have_a_message_and_a_place() -> None:
    report = replace(FAILED, problems=BLOCKED.problems, downstream_max=1)
    assert [(one.level, one.rule, one.file, one.line) for one in report.findings] == [
        ("error", "breaking-change", "models/orders.sql", 7),
        ("error", "not-assessed", "models/x.sql", 3),
        ("error", "too-many-downstream", "models/orders.sql", 7),
    ]
    assert (
        report.findings[0].message
        == "orders: column amount is dropped: breaks board, may affect board, other"
    )
    assert PASSED.findings[0].level == "warning"
    assert replace(PASSED, assessed=(judged(),)).findings[0].level == "note"


def test_every_change_in_words() -> None:
    assert describe({"type": "column_rename", "from": "a", "to": "b"}) == "column a is renamed to b"
    assert (
        describe({"type": "column_type_change", "column": "a", "to": "int"})
        == "column a changes its type to int"
    )
    assert (
        describe({"type": "column_add", "column": "a", "nullable": False})
        == "column a is added, never null"
    )
    assert (
        describe({"type": "semantics_change", "description": "w"})
        == "its rows have another meaning (w)"
    )
    assert [
        describe({"type": kind, "to": "u"}) for kind in ("table_drop", "table_rename", "job_delete")
    ] == [
        "it is dropped",
        "it is renamed to u",
        "the job that makes it is deleted",
    ]


def test_json_has_the_whole_report() -> None:
    content = json.loads(json.dumps(report_json(FAILED)))
    assert (content["verdict"], content["exitCode"], content["reasons"]) == (
        "failed",
        1,
        ["1 asset downstream would break"],
    )
    assert content["changes"][0]["change"] == {"type": "column_drop", "column": "amount"}
    assert content["affected"][0] == {
        "urn": "job:etl:board",
        "kind": "JOB",
        "name": "board",
        "severity": "breaking",
        "references": ["amount"],
        "evidence": ["its SQL line 3: amount"],
        "certified": False,
        "owners": ["team"],
    }
    assert html.escape(json.dumps(report_json(HARMED)))
