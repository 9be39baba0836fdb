"""Render findings for people, from the JSON that programs get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.tree import Tree

from headwater.cells import text_of
from headwater.cli.render import (
    Data,
    escape,
    plain_urn,
    print_more,
    print_table,
    second_of,
    with_noun,
)

_STYLES = {"P1": "bold red", "P2": "yellow", "P3": "dim"}
_EVIDENCE_MAX = 20
_COUNTS = (
    ("answers", "answer"),
    ("critical", "critical"),
    ("datasets", "dataset"),
    ("jobs", "job"),
)


def affected_words(affected: Mapping[str, Any]) -> str:
    """Return the numbers of affected nodes in words: 2 answers, 1 critical, 3 datasets."""
    words = [
        with_noun(affected[name], word, "critical" if word == "critical" else "")
        for name, word in _COUNTS
        if affected[name]
    ]
    more = "over " if words and affected.get("truncated") else ""
    return more + ", ".join(words) if words else "nobody"


def print_findings(
    out: Console,
    *,
    columns: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    count: int | None,
    end_cursor: str | None,
) -> None:
    """Print one finding a line, and how to see one of them."""
    if not rows:
        out.print("No findings.")
        return
    has_end = any(row["resolved"] for row in rows)
    print_table(out, [one for one in columns if one != "resolved" or has_end], rows)
    out.print(
        f"[dim]{with_noun(len(rows), 'finding')}; "
        "`headwater findings show ID` shows the evidence and what to do[/]"
    )
    if end_cursor:
        print_more(out, end_cursor, count)


def print_finding(out: Console, *, finding: Data, consequences: Sequence[Data], count: int) -> None:
    """Print what is wrong, since when, why, whom it affects, and what to do."""
    style = _STYLES.get(finding["severity"], "bold")
    tree = Tree(
        f"[{style}]{finding['severity']}[/] [bold]{escape(finding['title'])}[/]  "
        f"{escape(plain_urn(finding['urn']))}"
    )
    tree.add(_times(finding))
    _add_evidence(tree, finding["evidence"])
    _add_causes(tree, finding, consequences, count)
    affected = finding["affected"]
    branch = tree.add(f"affected: {affected_words(affected)}")
    for one in affected["consumers"]:
        owners = f"  [dim]{escape(', '.join(one['owners']))}[/]" if one["owners"] else ""
        critical = "  [bold]critical[/]" if one["isCritical"] else ""
        branch.add(f"{escape(plain_urn(one['urn']))}{critical}{owners}")
    if finding["owners"]:
        tree.add(f"owned by {escape(', '.join(finding['owners']))}")
    tree.add(f"what to do: {escape(finding['runbook'])}")
    tree.add(f"[dim]{escape(finding['id'])}[/]")
    out.print(tree)


def _times(finding: Data) -> str:
    since = f"since {second_of(finding['firstSeen'])}"
    if finding["resolvedAt"] is None:
        return f"[bold]open[/] {since}, last seen {second_of(finding['lastSeen'])}"
    by = finding["resolvedBy"]
    ended = f"  by {escape(plain_urn(by))}" if by else ""
    return f"[green]resolved[/] {second_of(finding['resolvedAt'])} {since}{ended}"


def _add_evidence(tree: Tree, evidence: Mapping[str, Any]) -> None:
    if not evidence:
        return
    branch = tree.add("[bold]evidence[/]")
    for name, value in list(evidence.items())[:_EVIDENCE_MAX]:
        if isinstance(value, list):
            items = branch.add(f"{escape(name)}: {len(value)}")
            for item in value[:_EVIDENCE_MAX]:
                items.add(escape(_line(item)))
        else:
            branch.add(f"{escape(name)}: {escape(_line(value))}")


def _line(value: Any) -> str:
    """Return a value of the evidence on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_line(item)}" for name, item in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else text_of(value)


def _add_causes(tree: Tree, finding: Data, consequences: Iterable[Data], count: int) -> None:
    cause = finding["cause"]
    if cause:
        branch = tree.add("[bold]caused by[/]")
        branch.add(_short(cause))
        branch.add(f"[dim]{escape(cause['id'])}[/]")
    elif finding["root"] != finding["id"]:
        tree.add("caused by a finding that the key may not see")
    shown = list(consequences)
    if shown:
        branch = tree.add(f"[bold]causes {with_noun(count, 'other finding')}[/]")
        for one in shown:
            branch.add(_short(one))


def _short(one: Data) -> str:
    state = "resolved " if one["resolvedAt"] else ""
    return (
        f"{one['severity']} {escape(one['rule'])}  {escape(plain_urn(one['urn']))}  "
        f"[dim]{state}since {second_of(one['firstSeen'])}[/]"
    )
