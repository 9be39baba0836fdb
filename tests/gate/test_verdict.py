"""The verdict and its five forms, also with names that mean harm."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from headwater.code_analysis.model import MODEL, TableChange
from headwater.gate.changes import Problem
from headwater.gate.reports.annotations import render_annotations
from headwater.gate.reports.junit import render_junit
from headwater.gate.reports.markdown import BAR, CHARACTERS_MAX, MARK, code_span, render_markdown
from headwater.gate.reports.sarif import render_sarif
from headwater.gate.resolve_datasets import DatasetChange
from headwater.gate.sanitize import one_line
from headwater.gate.verdict import (
    BREAKING,
    WARNING,
    Affected,
    AssessedChange,
    Report,
    describe,
    report_json,
)

EVIL = (
    "a`b``|c\n::error::x\r##[add-mask]x <img src=x onerror=alert(1)> [y](http://evil) @everyone 100%,"
    "\u202e\x00\x1b[31m\ud800"
)


def affected(name: str, severity: str = BREAKING, *, certified: bool = False) -> Affected:
    return Affected(
        f"job:etl:{name}",
        "JOB",
        name,
        severity,
        ("amount",),
        ("its SQL line 3: amount",),
        certified,
        ("team",),
    )


def judged(
    *downstream: Affected, name: str = "orders", file: str = "models/orders.sql", **change: Any
) -> AssessedChange:
    said = {"type": "column_drop", "column": "amount", **change}
    delta = TableChange(name, MODEL, said, file, 7)
    return AssessedChange(DatasetChange(delta, f"dataset:db:{name}", said), downstream)


PASSED = Report(
    "main", files=("models/orders.sql",), assessed=(judged(affected("board", WARNING)),)
)
FAILED = replace(
    PASSED,
    assessed=(judged(affected("board"), affected("board", WARNING), affected("other", WARNING)),),
)
BLOCKED = replace(PASSED, problems=(Problem("models/x.sql", "it cannot be read", 3),))
HARMED = Report(
    EVIL,
    assessed=(
        judged(affected(EVIL), name=EVIL, file=f"models/{EVIL}.sql", column=EVIL, description=EVIL),
    ),
    problems=(Problem(EVIL, EVIL, 1),),
    new_tables=(EVIL,),
    allow_reason=EVIL,
)


def test_verdicts_and_exit_codes() -> None:
    empty = Report("main")
    assert [(one.verdict, one.exit_code) for one in (empty, PASSED, FAILED, BLOCKED)] == [
        ("passed", 0),
        ("passed", 0),
        ("failed", 1),
        ("blocked", 2),
    ]
    # What is known to break is said before what is not known.
    both = replace(FAILED, problems=BLOCKED.problems)
    assert (both.verdict, both.exit_code) == ("failed", 1)
    allowed = replace(both, allow_reason="agreed")
    assert (allowed.verdict, allowed.exit_code) == ("failed", 0)


def test_an_asset_counts_once_at_its_worst() -> None:
    assert [(one.name, one.severity) for one in FAILED.affected] == [
        ("board", BREAKING),
        ("other", WARNING),
    ]
    assert FAILED.reasons == ["1 asset downstream would break"]


@pytest.mark.parametrize(("most", "reasons"), [(2, 0), (1, 1), (0, 1)])
def test_more_downstream_than_may_be(most: int, reasons: int) -> None:
    two = judged(affected("a", WARNING), affected("b", WARNING))
    report = replace(PASSED, assessed=(two,), downstream_max=most)
    assert len(report.reasons) == reasons
    assert report.exit_code == reasons


def test_a_certified_asset_fails_whatever_its_severity() -> None:
    report = replace(PASSED, assessed=(judged(affected("gold", WARNING, certified=True)),))
    assert (report.reasons, report.exit_code) == (["certified: gold"], 1)
    own = judged()
    own = replace(own, change=replace(own.change, is_certified=True))
    assert replace(PASSED, assessed=(own,)).certified_assets == ["orders"]
    added = judged(type="column_add")
    added = replace(added, change=replace(added.change, is_certified=True))
    assert replace(PASSED, assessed=(added,)).certified_assets == []


def test_findings_say_what_and_where() -> None:
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


def test_one_line_stays_one_line() -> None:
    assert one_line("a\nb\u2028c\x1b[0m\u202e") == "a\\u000ab\\u2028c\\u001b[0m\\u202e"
    assert "##[" not in one_line("x ##[error]y")
    assert len(one_line("x" * 5_000)) == 1_001


def test_annotations_are_commands_that_nothing_breaks_out_of() -> None:
    (command,) = render_annotations(FAILED)
    assert command == (
        "::error file=models/orders.sql,line=7,title=headwater gate%3A breaking-change"
        "::orders: column amount is dropped: breaks board, may affect board, other"
    )
    for command in render_annotations(HARMED):
        assert re.fullmatch(r"::(error|warning|notice) [^\n\r]*?::[^\n\r]*", command)
        properties = command.removeprefix("::error ").partition("::")[0]
        assert [part.partition("=")[0] for part in properties.split(",")] == [
            "file",
            "line",
            "title",
        ]
    assert render_annotations(Report("main", problems=(Problem("", "whole"),))) == [
        "::error title=headwater gate%3A not-assessed::whole"
    ]
    many = replace(PASSED, assessed=tuple(judged(affected(str(n))) for n in range(30)))
    assert sum(one.startswith("::error") for one in render_annotations(many)) == 10


def spans(text: str) -> str:
    """Markdown without what stands in code spans, as CommonMark reads them."""
    return re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", text)


def test_the_comment_says_it_all() -> None:
    text = render_markdown(replace(FAILED, problems=BLOCKED.problems, new_tables=("fresh",)))
    assert text.startswith(f"{MARK}\n### ❌ Headwater gate: failed\n")
    assert (
        "| `models/orders.sql:7` | `orders` | `column amount is dropped` | `board` | `board`, `other` |"
        in text
    )
    assert "| **breaking** | `board` (job) | `amount` | `its SQL line 3: amount` | `team` |" in text
    assert "| `models/x.sql:3` | `it cannot be read` |" in text
    assert "`fresh`" in text
    assert "No table in the lineage changes against `main`." in render_markdown(Report("main"))


def test_names_that_mean_harm_stay_in_code_spans() -> None:
    text = render_markdown(HARMED)
    outside = spans(text)
    for harm in ("<img", "evil", "@everyone", "error", "add-mask"):
        assert harm not in outside.replace("cannot", "")
    assert text.count("\n### ") == 1
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert {row.count("|") for row in rows} == {6, 3}


@pytest.mark.parametrize("text", ["`", "``", "a`", "`a", " ", "", "a|b", "\\|"])
def test_a_code_span_holds_any_text(text: str) -> None:
    shown = code_span(text)
    ticks = re.match("`+", shown)
    assert ticks is not None
    inner = shown[len(ticks[0]) : -len(ticks[0])]
    assert ticks[0] not in re.findall("`+", inner)
    assert "|" not in inner
    assert inner.strip(" ").replace(BAR, "|") == text.strip(" ")


def test_a_comment_is_never_longer_than_github_takes() -> None:
    wide = [
        judged(*(affected(f"{'x' * 290}{n}") for n in range(20)), name="y" * 300) for _ in range(60)
    ]
    text = render_markdown(replace(PASSED, assessed=tuple(wide)))
    assert len(text) <= CHARACTERS_MAX
    assert "left out" in text


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
            place = location["physicalLocation"]
            # RFC 3986: no character in it needs escaping any more, and it leads nowhere but into the repository.
            assert re.fullmatch(r"(?!/)[\w.~/%-]+", place["artifactLocation"]["uri"], re.ASCII)
            assert place["region"]["startLine"] >= 1


def test_sarif_names_the_file_and_knows_a_finding_again() -> None:
    spaced = replace(PASSED, assessed=(judged(file="models/or ders größe.sql"),))
    (result,) = render_sarif(spaced)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "models/or%20ders%20gr%C3%B6%C3%9Fe.sql"
    moved = replace(
        spaced.assessed[0],
        change=replace(
            spaced.assessed[0].change, source=replace(spaced.assessed[0].change.source, line=9)
        ),
    )
    (again,) = render_sarif(replace(spaced, assessed=(moved,)))["runs"][0]["results"]
    assert again["partialFingerprints"] == result["partialFingerprints"]


@pytest.mark.parametrize("report", [Report("main"), PASSED, FAILED, BLOCKED, HARMED])
def test_junit_counts_what_it_holds(report: Report) -> None:
    root = ElementTree.fromstring(render_junit(report))
    (suite,) = root
    cases = suite.findall("testcase")
    assert root.tag == "testsuites"
    assert int(suite.attrib["tests"]) == len(cases) >= 1
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
    assert int(suite.attrib["errors"]) == len(report.problems)
    assert all(case.attrib["name"] and case.attrib["classname"] for case in cases)


def test_json_is_the_whole_report() -> None:
    said = json.loads(json.dumps(report_json(FAILED)))
    assert (said["verdict"], said["exitCode"], said["reasons"]) == (
        "failed",
        1,
        ["1 asset downstream would break"],
    )
    assert said["changes"][0]["change"] == {"type": "column_drop", "column": "amount"}
    assert said["affected"][0] == {
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
