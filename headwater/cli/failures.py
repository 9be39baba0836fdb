"""Commands about failures: `failed-runs`, `root-cause`, `replay-plan`."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from headwater.cli.namespace_notes import note_namespace
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.client.times import instant_of
from headwater.errors import QueryError, UnavailableError
from headwater.schema.urns import parse_urn

WATCH_SECONDS_MIN = 1.0
# Failures that a watch remembers, so that each is printed once.
_REMEMBERED_MAX = 10_000
_FAILURE_COLUMNS = (
    "failedAt", "namespace", "pipelineName", "runId", "attempt", "error", "owners", "resolvedAt",
    "partialDatasets", "staleDatasets", "staleAnswers", "notify", "urn",
)  # fmt: skip
_CAUSE_COLUMNS = ("weight", "kind", "reason", "began", "distance", "look at")
_PLAN_COLUMNS = (
    "step", "job", "run", "inputs", "waitFor", "outputs", "lastGood", "owners", "superseded",
)  # fmt: skip


@question
def failed_runs(
    backend: Backend,
    since: Annotated[
        str | None,
        typer.Option(help="Only failures at or after this time: 2h, yesterday, ISO 8601."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only failures before this time: 2h, yesterday, ISO 8601.")
    ] = None,
    pipeline: Annotated[str | None, typer.Option(help="Only runs of the job of this name.")] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only runs of jobs in this namespace.")
    ] = None,
    first: Annotated[int, typer.Option(help="Maximum number of results.")] = 20,
    after: Annotated[str | None, typer.Option(help="Continue after this cursor.")] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Print further failures as they come, until Ctrl-C.")
    ] = False,
    interval: Annotated[
        float, typer.Option(help="With --watch: seconds between two looks.", min=WATCH_SECONDS_MIN)
    ] = 5.0,
) -> Result | Iterator[Result]:
    """List failed runs, newest first, with partial data, stale data, and owners to notify.

    For example: headwater failed-runs --since 2h --format csv --output failures.csv"""
    variables = {
        "since": _iso(instant_of("--since", since)),
        "until": _iso(instant_of("--until", until)),
        "pipeline": pipeline,
        "namespace": namespace,
        "first": first,
    }
    if watch:
        return _watched(backend, variables, interval)
    return ask_failures(backend, **variables, after=after)


def ask_failures(backend: Backend, **variables: Any) -> Result:
    """Return a page of failed runs, and the number of events that may hold further ones."""
    from headwater.cli import render

    # Counted first: an event that is folded in between is then counted although its run is listed.
    waiting = backend.count_waiting_events()
    found = backend.ask("failed_runs", **variables)["failedRuns"]
    notes = [] if found["edges"] else [note_namespace(backend, variables.get("namespace"))]
    if waiting:
        events = render.with_noun(waiting, "event still waits", "events still wait")
        notes.append(f"{events} to be folded: further failures may follow")
    listed = _failures(found)
    data = {**listed.data, "waitingEvents": waiting}
    return replace(listed, data=data, note="; ".join(filter(None, notes)))


def _watched(backend: Backend, variables: dict[str, Any], interval: float) -> Iterator[Result]:
    """Yield the failures that match, and then each further one, oldest first."""
    from headwater.cli import render

    # Background jobs of a shell may inherit an ignored SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    printed: dict[tuple[str, str], None] = {}
    is_reachable = True
    while True:
        try:
            found = backend.ask("failed_runs", **variables, after=None)["failedRuns"]
            if not is_reachable:
                render.warn("the connection is back")
            is_reachable = True
        except UnavailableError as error:
            # The first look must succeed; later a restart of the server ends no watch.
            if not printed and is_reachable:
                raise
            if is_reachable:
                render.warn(f"{error.message}; trying again")
            is_reachable = False
            time.sleep(interval)
            continue
        edges = [edge for edge in found["edges"] if _key(edge["node"]) not in printed]
        printed |= dict.fromkeys(_key(edge["node"]) for edge in edges)
        for key in list(printed)[:-_REMEMBERED_MAX]:
            del printed[key]
        if edges:
            page = {"hasNextPage": False, "endCursor": None}
            yield _failures({"edges": edges[::-1], "pageInfo": page})
        time.sleep(interval)


def _key(run: dict[str, Any]) -> tuple[str, str]:
    """Return what makes a failure another one: a run that is tried again may fail again."""
    return run["urn"], run["failedAt"] or ""


def _failures(found: dict[str, Any]) -> Result:
    from headwater.cli import render, show_failures

    records = [_failure(cursor, run) for cursor, run in render.cursors(found)]
    page = found["pageInfo"]
    return Result(
        data={"failedRuns": records, "hasNextPage": page["hasNextPage"]},
        columns=_FAILURE_COLUMNS,
        rows=[_failure_row(one) for one in records],
        records=records,
        show=partial(show_failures.print_failures, records=records, has_next=page["hasNextPage"]),
    )


def _failure(cursor: str, run: dict[str, Any]) -> dict[str, Any]:
    """Return a failed run with urns in place of nodes, without empty properties."""
    nodes = ("downstream", "partial", "stale", "resolved", "resolvedAt", "resolvedBy")
    resolution = None
    if run["resolved"]:
        by = run["resolvedBy"]
        resolution = {"at": run["resolvedAt"], "run": by["urn"] if by else None}
    return {
        "cursor": cursor,
        **{key: value for key, value in run.items() if key not in nodes and value is not None},
        "downstream": _urns_of(run["downstream"]),
        "partial": _urns_of(run["partial"]),
        "stale": _urns_of(run["stale"]),
        "resolution": resolution,
    }


def _urns_of(affected: dict[str, Any]) -> dict[str, Any]:
    """Return affected entities with urns in place of nodes."""
    return {key: _plain(value) for key, value in affected.items()}


def _plain(value: Any) -> Any:
    is_nodes = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return [one["urn"] for one in value] if is_nodes else value


def _failure_row(one: dict[str, Any]) -> dict[str, Any]:
    partial_, stale = one["partial"], one["stale"]
    return {
        **one,
        "resolvedAt": one["resolution"]["at"] if one["resolution"] else None,
        "partialDatasets": partial_["datasets"],
        "staleDatasets": stale["datasets"],
        "staleAnswers": stale["answers"],
        "notify": sorted({*one["owners"], *partial_["owners"], *stale["owners"]}),
    }


def _iso(instant: Any) -> str | None:
    return instant.isoformat() if instant else None


@question
def root_cause(
    backend: Backend,
    node: Annotated[
        str, typer.Argument(help="The bad version, dataset, answer or run: its name or urn.")
    ],
    since: Annotated[
        str | None,
        typer.Option(
            help="Only causes since this time, when the data was still good: 2d, yesterday, ISO."
        ),
    ] = None,
    first: Annotated[int, typer.Option(help="Maximum number of candidates.")] = 20,
) -> Result:
    """Rank the possible causes of bad data: failures, inputs, schema, columns, code.

    For example: headwater root-cause churn-q1 --since yesterday"""
    from headwater.cli import render, show_failures

    urn = resolve(backend, node, ("DATASET", "ANSWER", "PIPELINE_RUN"))
    instant = _iso(instant_of("--since", since))
    found = backend.ask("root_cause", urn=urn, since=instant, first=first)["rootCause"]
    found["stale"] = render.stale_data(found)
    for one in found["candidates"]:
        one["run"] = one["run"]["urn"] if one["run"] else ""
    rows = [
        {
            **one,
            "began": (one["occurredAt"] or "")[:19],
            "look at": one["run"] or one["urn"],
        }
        for one in found["candidates"]
    ]
    return Result(
        data=found,
        columns=_CAUSE_COLUMNS,
        rows=rows,
        records=found["candidates"],
        show=partial(show_failures.print_causes, found=found, columns=_CAUSE_COLUMNS, rows=rows),
    )


@question
def replay_plan(
    backend: Backend,
    node: Annotated[
        str,
        typer.Argument(
            help="The corrupt run by its id, or a version or dataset that it wrote, by name or urn."
        ),
    ],
    since: Annotated[
        str | None,
        typer.Option(help="For a dataset: versions since this time are corrupt: 2d, ISO 8601."),
    ] = None,
) -> Result:
    """List the runs to replace after a corrupt run, step by step, and the version to start from.

    For example: headwater replay-plan delays --since yesterday"""
    from headwater.cli import render, show_failures

    urn = resolve(backend, node, ("PIPELINE_RUN", "DATASET"))
    if since is None and parse_urn(urn).kind == "dataset":
        raise QueryError(
            f"--since is required for the dataset {urn}",
            hint="Add for example --since yesterday, or name the corrupt run: "
            "`headwater failed-runs` lists them.",
        )
    instant = _iso(instant_of("--since", since))
    found = backend.ask("replay_plan", urn=urn, since=instant)["replayPlan"]
    plan = {
        **found,
        "steps": [[_rerun(run) for run in step["runs"]] for step in found["steps"]],
        "cycles": [render.urns(jobs) for jobs in found["cycles"]],
        **{name: render.urns(found[name]) for name in ("corruptRuns", "nextJobs", "answers")},
    }
    return Result(
        data=plan,
        columns=_PLAN_COLUMNS,
        rows=_plan_rows(plan),
        show=partial(show_failures.print_plan, plan=plan),
    )


def _plan_rows(plan: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for number, step in enumerate(plan["steps"], start=1):
        rows += [_plan_row(number, entry) for entry in step]
    return rows


def _plan_row(number: int, entry: dict[str, Any]) -> dict[str, Any]:
    waits: dict[str, None] = {}
    for one in entry["inputs"]:
        waits |= dict.fromkeys(one["waitFor"])
    return {
        **entry,
        "step": number,
        "inputs": [one["dataset"] for one in entry["inputs"]],
        "waitFor": list(waits),
        "outputs": [one["dataset"] for one in entry["outputs"]],
        "lastGood": [one["lastGood"] for one in entry["outputs"] if one["lastGood"]],
    }


def _rerun(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run to replace with urns in place of nodes."""
    return {
        **run,
        "run": run["run"]["urn"] if run["run"] else "",
        "job": run["job"]["urn"] if run["job"] else "",
        "inputs": [_plan_input(one) for one in run["inputs"]],
        "outputs": [_plan_output(one) for one in run["outputs"]],
    }


def _plan_input(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "dataset": one["dataset"]["urn"],
        "versions": one["versionUrns"],
        "waitFor": _plain(one["waitFor"]),
    }


def _plan_output(one: dict[str, Any]) -> dict[str, Any]:
    version, good = one["version"], one["lastGood"]
    return {
        "dataset": one["dataset"]["urn"],
        "version": version["urn"] if version else None,
        "lastGood": good["urn"] if good else None,
    }


COMMANDS = {"failed-runs": failed_runs, "root-cause": root_cause, "replay-plan": replay_plan}
