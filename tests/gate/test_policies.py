"""What the branch asks of policies, and what becomes of their answers in the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headwater.code_analysis.model import MODEL, TableChange
from headwater.errors import QueryError
from headwater.gate.policies import (
    PolicyBreach,
    ProposedAction,
    evaluate_policies,
    proposed_actions,
)
from headwater.gate.reports.markdown import render_markdown
from headwater.gate.reports.sarif import render_sarif
from headwater.gate.resolve_datasets import DatasetChange
from headwater.gate.verdict import report_json
from headwater.governance.policies.files import PolicyFile
from tests.gate.report_builders import EVIL, PASSED

ORDERS, USERS, JOB = "dataset:db:orders", "dataset:db:users", "job:etl:load"
BREACH = PolicyBreach(
    "kept", ORDERS, "P1", "block", "it is kept", owners=("ann",), file="a", line=3
)


def change(type: str, urn: str = ORDERS, **more: Any) -> DatasetChange:
    planned = {"type": type, "urn": urn, **more}
    return DatasetChange(TableChange("orders", MODEL, planned, "models/o.sql", 7), ORDERS, planned)


def actions(*changes: DatasetChange) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.urn, one.action, one.columns) for one in proposed_actions(changes)]


def test_each_change_is_an_action() -> None:
    assert actions(change("table_drop")) == [(ORDERS, "drop", ())]
    assert actions(change("table_rename", to="o")) == [(ORDERS, "drop", ())]
    assert actions(change("job_delete", JOB)) == [(JOB, "delete", ())]
    assert actions(change("column_add", column="a")) == []
    assert actions(change("column_rename", **{"from": "a", "to": "b"})) == [
        (ORDERS, "change", ("a",))
    ]


def test_columns_of_one_dataset_are_one_action() -> None:
    two = [change("column_drop", column="a"), change("column_type_change", column="b")]
    assert actions(*two, two[0]) == [(ORDERS, "change", ("a", "b"))]
    # Changed rows concern the whole dataset.
    assert actions(*two, change("semantics_change")) == [(ORDERS, "change", ())]
    assert actions(change("semantics_change"), *two) == [(ORDERS, "change", ())]
    assert len(actions(*two, change("column_drop", USERS, column="a"))) == 2


class _BrokenApi:
    def breaches(
        self, files: tuple[PolicyFile, ...], action: ProposedAction
    ) -> tuple[PolicyBreach, ...]:
        assert (files, action.urn) == ((), ORDERS)
        raise QueryError("p.yaml:1: name: is missing", hint="Write it.")


def test_a_broken_file_blocks() -> None:
    found, problems = evaluate_policies((), [change("table_drop"), change("x")], _BrokenApi())
    assert found == []
    assert [one.message for one in problems] == ["policies: p.yaml:1: name: is missing. Write it"]


def test_only_a_policy_that_blocks_fails() -> None:
    warned = replace(BREACH, enforce="warn")
    report = replace(PASSED, breaches=(warned, replace(BREACH, enforce="audit")))
    assert (report.verdict, report.reasons) == ("passed", [])
    assert [(one.level, one.rule) for one in report.findings[1:]] == [
        ("warning", "policy-violated"),
        ("note", "policy-violated"),
    ]


def test_reports_name_the_policy_its_reason_and_its_place() -> None:
    report = replace(PASSED, breaches=(BREACH,))
    assert report.title == "failed: violated policies: kept"
    content = report_json(report)
    assert content["exitCode"] == 1
    assert content["policyViolations"] == [
        {
            "policy": "kept",
            "urn": ORDERS,
            "severity": "P1",
            "enforce": "block",
            "message": "it is kept",
            "unknown": None,
            "owners": ["ann"],
            "file": "a",
            "line": 3,
        }
    ]
    comment = render_markdown(report)
    assert "- violated policies: `kept`" in comment
    assert f"| `kept` | **block** | `{ORDERS}` | `it is kept` | `ann` |" in comment
    assert render_sarif(report)["runs"][0]["results"][1]["ruleId"] == "policy-violated"


def test_hostile_names_stay_in_code_spans() -> None:
    evil = PolicyBreach(EVIL, EVIL, EVIL, EVIL, EVIL, owners=(EVIL,))
    comment = render_markdown(replace(PASSED, breaches=(evil,)))
    # The row of the table, in which only its own bars end cells.
    row = next(line for line in comment.splitlines() if "onerror" in line and line[0] == "|")
    assert row.count("|") == 6
    assert "\x1b" not in comment
