"""Commands about failures: `failed-runs`, `root-cause`, `replay-plan`."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.cli.options import Home, Json, graph_view
from headwater.cli.query import time_of


def failed_runs(
    home: Home = None,
    since: Annotated[
        str | None, typer.Option(help="Only failures at or after this time (ISO 8601).")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only failures before this time (ISO 8601).")
    ] = None,
    pipeline: Annotated[str | None, typer.Option(help="Only runs of the job of this name.")] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only runs of jobs in this namespace.")
    ] = None,
    first: Annotated[int, typer.Option(help="Maximum number of results.")] = 20,
    after: Annotated[str | None, typer.Option(help="Continue after this cursor.")] = None,
    as_json: Json = False,
) -> None:
    """List failed runs, newest first, with partial data, stale data, and owners to notify."""
    from headwater.cli import render, show_failures
    from headwater.lineage.pagination import page_request
    from headwater.lineage.questions.failure_impact import failure_impact
    from headwater.lineage.questions.failures import FailureFilter, affected_nodes
    from headwater.lineage.questions.failures import failed_runs as found_runs

    view = graph_view(home)
    filter = FailureFilter(
        time_of("--since", since), time_of("--until", until), pipeline or "", namespace or ""
    )
    page = found_runs(view, filter, page_request(first, after))
    urns = [run.urn for run in page.runs]
    followed = failure_impact(view, urns)
    if as_json:
        render.print_json(show_failures.failures_data(page, affected_nodes(view, urns), followed))
    else:
        show_failures.print_failures(page, followed)


def root_cause(
    urn: Annotated[str, typer.Argument(help="The bad version, dataset, answer or run, by urn.")],
    home: Home = None,
    since: Annotated[
        str | None, typer.Option(help="Only causes since this time, when the data was still good.")
    ] = None,
    first: Annotated[int, typer.Option(help="Maximum number of candidates.")] = 20,
    as_json: Json = False,
) -> None:
    """Rank the possible causes of bad data: failures, inputs, schema, columns, code."""
    from headwater.cli import render, show_failures
    from headwater.lineage.questions.root_cause import root_cause as found_cause

    found = found_cause(graph_view(home), urn, since=time_of("--since", since), first=first)
    if as_json:
        render.print_json(show_failures.causes_data(found))
    else:
        show_failures.print_causes(found)


def replay_plan(
    urn: Annotated[
        str,
        typer.Argument(help="The corrupt run, or a version or dataset that it wrote, by urn."),
    ],
    home: Home = None,
    since: Annotated[
        str | None, typer.Option(help="For a dataset: versions since this time are corrupt.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the runs to replace after a corrupt run, step by step, and the version to start from."""
    from headwater.cli import render, show_failures
    from headwater.lineage.questions.replay import replay_plan as found_plan

    plan = found_plan(graph_view(home), urn, since=time_of("--since", since))
    if as_json:
        render.print_json({**render.data_of(plan), "truncated": plan.truncated})
    else:
        show_failures.print_plan(plan)


COMMANDS = {"failed-runs": failed_runs, "root-cause": root_cause, "replay-plan": replay_plan}
