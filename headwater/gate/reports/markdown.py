"""The report as a comment on a pull request.

The first line is a mark by which a later run finds its comment again. Everything that somebody else named stands in
code spans, where GitHub and GitLab read no markup, link nobody and load nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from headwater.gate.sanitize import line
from headwater.gate.verdict import BREAKING, FAILED, PASSED, Affected, AssessedChange, Report

MARK = "<!-- headwater-gate -->"
# GitHub takes 65,536 characters.
CHARACTERS_MAX = 60_000
# Looks like one, and ends no cell.
BAR = "\u2223"
ROWS_MAX = 50
_CELL_CHARACTERS_MAX = 300
_SIGNS = {PASSED: "✅", FAILED: "❌"}


def markdown(report: Report) -> str:
    """The comment, ended by a line break."""
    parts = [
        MARK,
        f"### {_SIGNS.get(report.judgement, '⛔')} Headwater gate: {report.judgement}",
        "",
    ]
    parts += [f"- {_prose(reason)}" for reason in report.reasons]
    if report.problems:
        parts.append("- not all of it can be assessed, which blocks")
    if report.allowed:
        parts.append(f"- **allowed all the same:** {code(report.allowed)}")
    if not report.judged and not report.problems:
        parts.append(f"Nothing that lineage knows changes against {code(report.base)}.")
    parts += _section(
        "What changes",
        ("where", "table", "change", "breaks", "may affect"),
        [_change(judged) for judged in report.judged],
    )
    parts += _section(
        "What is affected",
        ("severity", "asset", "refers to", "evidence", "owners"),
        [_affected(one) for one in report.affected],
    )
    problems = [(code(_where(one.file, one.line)), code(one.message)) for one in report.problems]
    parts += _section("What cannot be assessed", ("where", "why"), problems)
    if report.new:
        parts += [
            "",
            f"New, so that nothing reads them yet: {', '.join(code(name) for name in report.new[:ROWS_MAX])}.",
        ]
    text = "\n".join(parts).rstrip() + "\n"
    return text if len(text) <= CHARACTERS_MAX else _cut(text)


def _cut(text: str) -> str:
    whole_lines = text[: CHARACTERS_MAX - 200].rpartition("\n")[0]
    return f"{whole_lines}\n\nThe rest is left out here; the JSON report has all of it.\n"


def code(text: str, characters: int = _CELL_CHARACTERS_MAX) -> str:
    """A text as a code span that holds whatever is in it, also within a table."""
    shown = line(text)
    shown = shown if len(shown) <= characters else f"{shown[:characters]}…"
    ticks = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    # A code span keeps every character but the bar, which ends the cell of a table all the same. To escape it is not
    # safe either: a backslash before it in the text would escape the escape.
    shown = shown.replace("|", BAR)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _prose(text: str) -> str:
    """Our words with somebody's names after a colon."""
    said, colon, names = text.partition(": ")
    return f"{said}: {code(names)}" if colon else said


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    shown = [f"| {' | '.join(row)} |" for row in rows[:ROWS_MAX]]
    more = [f"\nand {len(rows) - ROWS_MAX} more"] if len(rows) > ROWS_MAX else []
    return [
        "",
        f"#### {title}",
        "",
        f"| {' | '.join(columns)} |",
        "|" + " --- |" * len(columns),
        *shown,
        *more,
    ]


def _change(judged: AssessedChange) -> Sequence[str]:
    delta = judged.asked.delta
    breaks = [one.name for one in judged.affected if one.severity == BREAKING]
    reads = [one.name for one in judged.affected if one.severity != BREAKING]
    return (
        code(_where(delta.file, delta.line)),
        code(delta.relation),
        code(judged.words),
        _names(breaks),
        _names(reads),
    )


def _affected(one: Affected) -> Sequence[str]:
    named = code(one.name) + f" ({one.kind.lower()}{', **certified**' if one.is_certified else ''})"
    return (
        f"**{one.severity}**" if one.severity == BREAKING else one.severity,
        named,
        _names(one.references),
        _names(one.evidence, 2),
        _names(one.owners),
    )


def _names(names: Iterable[str], most: int = 5) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(code(name) for name in unique[:most]) + more


def _where(file: str, number: int) -> str:
    return f"{file}:{number}" if file and number else file or "everything"
