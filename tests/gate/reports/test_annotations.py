"""Workflow commands that no name breaks out of."""

from __future__ import annotations

import re
from dataclasses import replace

from headwater.gate.changes import Problem
from headwater.gate.reports.annotations import render_annotations
from headwater.gate.verdict import (
    Report,
)
from tests.gate.report_builders import FAILED, HARMED, PASSED, affected, judged


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
