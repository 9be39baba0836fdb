"""Render failures, root causes and replay plans for people, from the JSON that programs get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.tree import Tree

from headwater.cli.render import (
    Data,
    escape,
    plain_urn,
    print_stale,
    print_table,
    print_truncated,
    second_of,
    with_noun,
)

_KINDS = ("datasets", "jobs", "runs", "artifacts", "answers")
_ERROR_CHARACTERS_MAX = 300


def print_failures(out: Console, *, records: Sequence[Data], has_next: bool) -> None:
    """Print every failed run with its error, its effects and the owners to notify."""
    for run in records:
        out.print(_failure_tree(run))
        print_truncated(
            out, {"truncated": run["partial"]["truncated"] or run["stale"]["truncated"]}
        )
    more = "; more exist, see --after" if has_next else ""
    out.print(f"[dim]{with_noun(len(records), 'failed run')}{more}[/]")


def _failure_tree(run: Data) -> Tree:
    title = f"[bold red]FAIL[/] [bold]{escape(run.get('pipelineName'))}[/]  {escape(run['runId'])}"
    attempt = f"  [dim]attempt {run['attempt']}[/]" if run.get("attempt") else ""
    tree = Tree(f"{title}{attempt}  [dim]{second_of(run.get('failedAt'))}[/]")
    lines = str(run.get("error") or "no reason was sent").strip().splitlines()
    tree.add(f"[red]{escape((lines or [''])[0][:_ERROR_CHARACTERS_MAX])}[/]")
    if run["owners"]:
        tree.add(f"owned by {escape(', '.join(run['owners']))}")
    resolution = run["resolution"]
    if resolution:
        by = escape(plain_urn(resolution["run"])) if resolution["run"] else ""
        tree.add(f"[green]resolved[/] {second_of(resolution['at'])}  {by}")
    _add_affected(tree, "partial: built from data that it wrote before it failed", run["partial"])
    _add_affected(
        tree,
        "stale: waits for data that it did not write, or used the version before",
        run["stale"],
    )
    return tree


def _add_affected(tree: Tree, title: str, affected: Data) -> None:
    if not any(affected[kind] for kind in _KINDS):
        return
    branch = tree.add(f"[bold]{title}[/]")
    for kind in _KINDS:
        _add(branch, kind, affected[kind])
    if affected["owners"]:
        branch.add(f"notify {escape(', '.join(affected['owners']))}")


def _add(tree: Tree, title: str, urns: Iterable[str]) -> None:
    if urns:
        branch = tree.add(f"[bold]{title}[/]")
        for urn in urns:
            branch.add(escape(plain_urn(urn)))


def print_causes(
    out: Console, *, found: Data, columns: Sequence[str], rows: Sequence[dict[str, Any]]
) -> None:
    """Print one candidate a line, the likeliest first, and its column measures below."""
    if rows:
        print_table(out, columns, rows, prose={"reason"})
    _print_measures(out, found["candidates"])
    print_stale(out, found["stale"])
    more = f"; {found['omittedCount']} more, see --first" if found["omittedCount"] else ""
    if found["stale"]:
        more += f"; {with_noun(len(found['stale']), 'dataset')} out of date"
    out.print(
        f"[dim]{with_noun(len(found['candidates']), 'candidate')} upstream of "
        f"{escape(', '.join(found['starts']))}{more}[/]"
    )
    print_truncated(out, found)


def _print_measures(out: Console, candidates: Sequence[Data]) -> None:
    """Print the column measures that left their baseline, with the baseline."""
    rows: list[Data] = []
    for candidate in candidates:
        rows += [_measure_row(candidate["urn"], change) for change in candidate["measures"]]
    if rows:
        print_table(out, list(rows[0]), rows)


def _measure_row(version: str, change: Data) -> Data:
    deviation, share = change["baselineDeviation"], change["share"]
    spread = "" if deviation is None else f" ± {deviation:.4g}"
    distance = change["deviations"]
    return {
        "version": version,
        "column": change["column"],
        "measure": change["measure"],
        "value": f"{change['value']:.6g}",
        "baseline": f"{change['baselineMean']:.6g}{spread} of {change['versionCount']}",
        "change": "" if share is None else f"{100 * share:+.1f} %",
        "deviations": "" if distance is None else f"{abs(distance):.1f}",
    }


def print_plan(out: Console, *, plan: Data) -> None:
    """Print the steps in order; runs of one step may run at the same time."""
    for number, step in enumerate(plan["steps"], start=1):
        tree = Tree(f"[bold]step {number}[/]")
        for entry in step:
            _add_run(tree, entry)
        out.print(tree)
    for title, urns in (
        ("answers to produce again", plan["answers"]),
        ("jobs that read it next", plan["nextJobs"]),
    ):
        if urns:
            tree = Tree(f"[bold]{title}[/]")
            for urn in urns:
                tree.add(escape(plain_urn(urn)))
            out.print(tree)
    for jobs in plan["cycles"]:
        out.print(
            f"[yellow]These jobs feed each other: {escape(', '.join(map(plain_urn, jobs)))}[/]"
        )
    if plan["owners"]:
        out.print(f"notify {escape(', '.join(plan['owners']))}")
    steps = plan["steps"]
    runs = sum(map(len, steps))
    out.print(f"[dim]{with_noun(runs, 'run')} to replace in {with_noun(len(steps), 'step')}[/]")
    print_truncated(out, plan)


def _add_run(tree: Tree, entry: Data) -> None:
    flagged = (
        ("reads its own output", entry["readsOwnOutput"]),
        ("in a cycle", entry["inCycle"]),
        ("superseded", entry["superseded"]),
    )
    flags = "".join(f"  [yellow]{words}[/]" for words, is_so in flagged if is_so)
    job = escape(plain_urn(entry["job"])) if entry["job"] else "[dim]no job is known[/]"
    run = escape(plain_urn(entry["run"]))
    branch = tree.add(f"[bold]{job}[/]  [dim]replaces {run}[/]{flags}")
    for one in entry["inputs"]:
        waits = ", ".join(map(plain_urn, one["waitFor"]))
        ready = f"after {waits}" if waits else "ready"
        branch.add(f"reads {escape(plain_urn(one['dataset']))}  [dim]{escape(ready)}[/]")
    for output in entry["outputs"]:
        good = f"start from {output['lastGood']}" if output["lastGood"] else ""
        branch.add(
            f"writes {escape(plain_urn(output['dataset']))}  "
            f"[dim]{escape(good or 'no good version before')}[/]"
        )
