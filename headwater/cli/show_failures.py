"""Render failures, root causes and replay plans: trees and tables for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.markup import escape
from rich.tree import Tree

from headwater.cli.render import (
    Data,
    console,
    data_of,
    print_table,
    print_truncated,
    text_of,
    with_noun,
)
from headwater.lineage.questions.failure_impact import AffectedEntities, FailureImpact
from headwater.lineage.questions.failures import AffectedNodes, FailedRunPage
from headwater.lineage.questions.replay import ReplayPlan, Rerun
from headwater.lineage.questions.root_cause import RootCause
from headwater.schema.urns import parse_urn

_KINDS = ("datasets", "jobs", "runs", "artifacts", "answers")
_SECOND = len("2026-01-31T12:00:00")


def failures_data(
    page: FailedRunPage,
    downstream: Mapping[str, AffectedNodes],
    followed: Mapping[str, FailureImpact],
) -> Data:
    return {
        "failedRuns": [
            {
                "cursor": run.cursor,
                **{key: value for key, value in run.properties.items() if value is not None},
                "downstream": _affected_data(downstream[run.urn]),
                "partial": _affected_data(followed[run.urn].partial),
                "stale": _affected_data(followed[run.urn].stale),
                "resolution": data_of(followed[run.urn].resolution),
            }
            for run in page.runs
        ],
        "hasNextPage": page.has_next,
    }


def _affected_data(touched: AffectedNodes | AffectedEntities) -> Data:
    data: Data = data_of(touched)
    del data["reason"]
    return {**data, "truncated": touched.truncated}


def print_failures(page: FailedRunPage, followed: Mapping[str, FailureImpact]) -> None:
    """Print every failed run with its error, its effects and the owners to notify."""
    out = console()
    for run in page.runs:
        row, found = run.properties, followed[run.urn]
        title = (
            f"[bold red]FAIL[/] [bold]{escape(str(row.get('pipelineName')))}[/]  "
            f"{escape(str(row.get('runId')))}"
        )
        attempt = f"  [dim]attempt {row['attempt']}[/]" if row.get("attempt") else ""
        tree = Tree(f"{title}{attempt}  [dim]{text_of(row.get('failedAt'))[:_SECOND]}[/]")
        error = str(row.get("error") or "no reason was sent").strip().splitlines()[0]
        tree.add(f"[red]{escape(error[:300])}[/]")
        if found.resolution:
            tree.add(
                f"[green]resolved[/] {text_of(found.resolution.at)[:_SECOND]}  "
                f"{escape(_plain_urn(found.resolution.run))}"
            )
        _add_affected(
            tree, "partial: built from data that it wrote before it failed", found.partial
        )
        _add_affected(
            tree,
            "stale: waits for data that it did not write, or used the version before",
            found.stale,
        )
        out.print(tree)
        print_truncated(out, found.partial.truncated or found.stale.truncated)
    more = "; more exist, see --after" if page.has_next else ""
    out.print(f"[dim]{with_noun(len(page.runs), 'failed run')}{more}[/]")


def _add_affected(tree: Tree, title: str, touched: AffectedEntities) -> None:
    if not any(getattr(touched, kind) for kind in _KINDS):
        return
    branch = tree.add(f"[bold]{title}[/]")
    for kind in _KINDS:
        _add(branch, kind, getattr(touched, kind))
    if touched.owners:
        branch.add(f"notify {escape(', '.join(touched.owners))}")


def _add(tree: Tree, title: str, urns: Iterable[str]) -> None:
    if urns:
        branch = tree.add(f"[bold]{title}[/]")
        for urn in urns:
            branch.add(escape(_plain_urn(urn)))


def _plain_urn(urn: str) -> str:
    parts = parse_urn(urn).parts
    return "  ".join(parts) if parts else urn


def causes_data(found: RootCause) -> Data:
    data: Data = data_of(found)
    for one, shown in zip(found.candidates, data["candidates"], strict=True):
        shown["weight"] = one.weight
        for change, measure in zip(one.measures, shown["measures"], strict=True):
            measure |= {"deviations": change.deviations, "share": change.share}
    return {**data, "truncated": found.truncated}


def print_causes(found: RootCause) -> None:
    """Print one candidate a line, the likeliest first, and its column measures below."""
    shown = [
        {
            "weight": one.weight,
            "kind": one.kind,
            "reason": one.reason,
            "began": text_of(one.occurred_at)[:_SECOND],
            "distance": one.distance,
            "look at": one.run or one.urn,
        }
        for one in found.candidates
    ]
    print_table(["weight", "kind", "reason", "began", "distance", "look at"], shown)
    _print_measures(found)
    out = console()
    more = f"; {found.omitted_count} more, see --first" if found.omitted_count else ""
    out.print(
        f"[dim]{with_noun(len(found.candidates), 'candidate')} upstream of "
        f"{escape(', '.join(found.starts))}{more}[/]"
    )
    print_truncated(out, found.truncated)


def _print_measures(found: RootCause) -> None:
    """Print the column measures that left their baseline, with the baseline."""
    rows = []
    for one in found.candidates:
        for change in one.measures:
            spread = "" if change.deviation is None else f" ± {change.deviation:.4g}"
            rows.append(
                {
                    "version": one.urn,
                    "column": change.column,
                    "measure": change.measure,
                    "value": f"{change.value:.6g}",
                    "baseline": f"{change.mean:.6g}{spread} of {change.version_count}",
                    "change": "" if change.share is None else f"{100 * change.share:+.1f} %",
                    "deviations": ""
                    if change.deviations is None
                    else f"{abs(change.deviations):.1f}",
                }
            )
    if rows:
        print_table(list(rows[0]), rows)


def print_plan(plan: ReplayPlan) -> None:
    """Print the steps in order; runs of one step may run at the same time."""
    out = console()
    for number, step in enumerate(plan.steps, start=1):
        tree = Tree(f"[bold]step {number}[/]")
        for entry in step:
            _add_run(tree, entry)
        out.print(tree)
    for title, urns in (
        ("answers to produce again", plan.answers),
        ("jobs that read it next", plan.next_jobs),
    ):
        if urns:
            tree = Tree(f"[bold]{title}[/]")
            for urn in urns:
                tree.add(escape(_plain_urn(urn)))
            out.print(tree)
    for jobs in plan.cycles:
        out.print(
            f"[yellow]These jobs feed each other: "
            f"{escape(', '.join(_plain_urn(job) for job in jobs))}[/]"
        )
    if plan.owners:
        out.print(f"notify {escape(', '.join(plan.owners))}")
    runs = sum(len(step) for step in plan.steps)
    out.print(
        f"[dim]{with_noun(runs, 'run')} to replace in {with_noun(len(plan.steps), 'step')}[/]"
    )
    print_truncated(out, plan.truncated)


def _add_run(tree: Tree, entry: Rerun) -> None:
    flagged = (
        ("reads its own output", entry.reads_own_output),
        ("in a cycle", entry.in_cycle),
        ("superseded", entry.superseded),
    )
    flags = "".join(f"  [yellow]{words}[/]" for words, is_so in flagged if is_so)
    job = escape(_plain_urn(entry.job)) if entry.job else "[dim]no job is known[/]"
    branch = tree.add(f"[bold]{job}[/]  [dim]replaces {escape(_plain_urn(entry.run))}[/]{flags}")
    for one in entry.inputs:
        ready = (
            f"after {', '.join(_plain_urn(run) for run in one.wait_for)}"
            if one.wait_for
            else "ready"
        )
        branch.add(f"reads {escape(_plain_urn(one.dataset))}  [dim]{escape(ready)}[/]")
    for output in entry.outputs:
        good = f"start from {output.last_good}" if output.last_good else "no good version before"
        branch.add(f"writes {escape(_plain_urn(output.dataset))}  [dim]{escape(good)}[/]")
