"""The report as a comment on a pull request.

The first line is a mark by which a later run finds its comment. All names from the repository and
the graph stand in code spans, in which GitHub and GitLab read no markup, notify nobody and load
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from headwater.gate.policies import BLOCK, PolicyBreach
from headwater.gate.sanitize import one_line
from headwater.gate.verdict import (
    BREAKING,
    FAILED,
    PASSED,
    UNKNOWN,
    WARNING,
    Affected,
    AssessedChange,
    Report,
    describe_approval,
)

MARK = "<!-- headwater-gate -->"
# GitHub accepts 65,536 characters.
CHARACTERS_MAX = 60_000
# Looks like a bar, and does not end a table cell.
BAR = "\u2223"
ROWS_MAX = 50
_CELL_CHARACTERS_MAX = 300
_SYMBOLS = {PASSED: "✅", FAILED: "❌"}
_BLOCKED_SYMBOL = "⛔"
_CHANGE_COLUMNS = ("where", "table", "change", "breaks", "unknown", "may affect")
_BREACH_COLUMNS = ("policy", "does", "on", "message", "owners")
_AFFECTED_COLUMNS = ("severity", "asset", "refers to", "evidence", "owners")


def render_markdown(report: Report) -> str:
    """Return the comment, ended by a line break."""
    symbol = _SYMBOLS.get(report.verdict, _BLOCKED_SYMBOL)
    lines = [MARK, f"### {symbol} Headwater gate: {report.verdict}", ""]
    lines += [f"- {_render_reason(reason)}" for reason in report.reasons]
    if report.problems:
        lines.append("- some changes cannot be assessed, which blocks")
    if report.unassessed:
        names = _join_names(report.unassessed)
        lines.append(f"- the code of {names} is not known, so the effect is unknown, which blocks")
    if report.allow_reason:
        lines.append(f"- **allowed in spite of this:** {code_span(report.allow_reason)}")
    lines += [
        f"- approved: {code_span(describe_approval(urn, approval))}"
        for urn, approval in report.approvals
    ]
    if not report.assessed and not report.problems:
        lines.append(f"No table in the lineage changes against {code_span(report.base)}.")
    changes = [_change_row(assessed) for assessed in report.assessed]
    lines += _section("Changes", _CHANGE_COLUMNS, changes)
    affected = [_affected_row(asset) for asset in report.affected]
    lines += _section("Affected assets", _AFFECTED_COLUMNS, affected)
    breaches = [_breach_row(breach) for breach in report.breaches]
    lines += _section("Policies", _BREACH_COLUMNS, breaches)
    problems = [
        (_render_position(problem.file, problem.line), code_span(problem.message))
        for problem in report.problems
    ]
    lines += _section("Not assessed", ("where", "reason"), problems)
    if report.new_tables:
        names = ", ".join(code_span(name) for name in report.new_tables[:ROWS_MAX])
        lines += ["", f"New tables, which nothing reads yet: {names}."]
    text = "\n".join(lines).rstrip() + "\n"
    return text if len(text) <= CHARACTERS_MAX else _truncate(text)


def _truncate(text: str) -> str:
    complete_lines = text[: CHARACTERS_MAX - 200].rpartition("\n")[0]
    return f"{complete_lines}\n\nThe rest is left out here; the JSON report has all of it.\n"


def code_span(text: str, limit: int = _CELL_CHARACTERS_MAX) -> str:
    """Return a code span that holds any text, also within a table."""
    shown = one_line(text)
    if len(shown) > limit:
        shown = f"{shown[:limit]}…"
    longest_run = max((len(run) for run in re.findall("`+", shown)), default=0)
    ticks = "`" * (longest_run + 1)
    # A code span keeps every character but the bar, which ends the table cell. An escape is not
    # safe either: a backslash before it in the text would escape the escape.
    shown = shown.replace("|", BAR)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _render_reason(text: str) -> str:
    """Return our own words as they are, and names after a colon as a code span."""
    words, colon, names = text.partition(": ")
    return f"{words}: {code_span(names)}" if colon else words


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a titled table; nothing without rows."""
    if not rows:
        return []
    lines = ["", f"#### {title}", "", f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    lines += [f"| {' | '.join(row)} |" for row in rows[:ROWS_MAX]]
    if len(rows) > ROWS_MAX:
        lines.append(f"\nand {len(rows) - ROWS_MAX} more")
    return lines


def _change_row(assessed: AssessedChange) -> Sequence[str]:
    source = assessed.change.source
    return (
        _render_position(source.file, source.line),
        code_span(source.table),
        code_span(assessed.description),
        _join_names(assessed.names(BREAKING)),
        _join_names(assessed.names(UNKNOWN)),
        _join_names(assessed.names(WARNING)),
    )


def _affected_row(asset: Affected) -> Sequence[str]:
    certified = ", **certified**" if asset.is_certified else ""
    return (
        asset.severity if asset.severity == WARNING else f"**{asset.severity}**",
        f"{code_span(asset.name)} ({asset.kind.lower()}{certified})",
        _join_names(asset.references),
        _join_names(asset.evidence, 2),
        _join_names(asset.owners),
    )


def _breach_row(breach: PolicyBreach) -> Sequence[str]:
    unknown = f"cannot be assessed: {breach.unknown}" if breach.unknown else ""
    return (
        code_span(breach.policy),
        "**block**" if breach.enforce == BLOCK else code_span(breach.enforce),
        code_span(breach.urn),
        code_span(unknown or breach.message),
        _join_names(breach.owners),
    )


def _join_names(names: Iterable[str], limit: int = 5) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - limit} more" if len(unique) > limit else ""
    return ", ".join(code_span(name) for name in unique[:limit]) + more


def _render_position(file: str, number: int) -> str:
    position = f"{file}:{number}" if file and number else file or "everything"
    return code_span(position)
