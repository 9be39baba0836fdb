"""Hostile names in tables: no formula, no markup, no further column, no terminal command."""

from __future__ import annotations

import csv
import io

import pytest

from headwater.cells import one_line, text_of
from headwater.cli.output.tables import delimited, markdown

HOSTILE = [
    '=HYPERLINK("http://evil","x")',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "＝1",
    "a|b",
    "a,b",
    'a"b',
    "a\nb",
    "a\tb",
    "`code`",
    "![x](http://evil/x.png)",
    "<script>alert(1)</script>",
    "@team/all",
    "\x1b[31mred\x1b[0m",
    "\u202eright to left",
    "\x00\x07",
    "",
]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_every_name_stays_in_its_cell(delimiter: str) -> None:
    rows = [{"name": name, "count": -3, "owners": ["a", "b"], "none": None} for name in HOSTILE]
    text = delimited(["name", "count", "owners", "none"], rows, delimiter=delimiter)
    header, *read = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    assert header == ["name", "count", "owners", "none"]
    assert [row[1:] for row in read] == [["-3", "a, b", ""]] * len(HOSTILE)
    for name, (cell, *_) in zip(HOSTILE, read, strict=True):
        assert cell.removeprefix("'") == text_of(name).replace("\r", "\n")
        assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝"))
        assert "\x1b" not in cell


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_reads_no_markup(name: str) -> None:
    *_, line = markdown(["name", "count"], [{"name": name, "count": 1}]).splitlines()
    assert line.endswith(" | 1 |")
    cell = line.removeprefix("| ").removesuffix(" | 1 |")
    assert "|" not in cell
    assert cell == "" or (cell.startswith("`") and cell.endswith("`"))


def test_a_header_is_written_once() -> None:
    rows = [{"a": 1}]
    assert delimited(["a"], rows) == "a\n1\n"
    assert delimited(["a"], rows, has_header=False) == "1\n"
    assert markdown(["a"], rows, has_header=False) == "| 1 |\n"


def test_a_name_on_one_line() -> None:
    assert one_line("a\r\n\u2028b\x1b") == "a b\ufffd"
