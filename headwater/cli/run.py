"""The command that shows one run whole: `run show`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.errors import NotFoundError
from headwater.schema.urns import parse_urn

if TYPE_CHECKING:
    from rich.console import Console

HELP = "Show one run: its state, causes, inputs, outputs, offsets and steps."
Data = dict[str, Any]
CAUSES_MAX = 5
_COLUMNS = ("part", "name", "value")
_INPUT_COLUMNS = ("input", "version", "rows", "urn")
_OUTPUT_COLUMNS = ("output", "version", "status", "rows", "urn")
_STREAM_COLUMNS = ("topic", "use", "partition", "from", "next", "end of topic", "lag")
_STEP_COLUMNS = ("step", "rows in", "rows out", "from step", "keys", "seconds", "error")
_CAUSE_COLUMNS = ("weight", "kind", "reason", "look at")
# Times, and what the producer said of the run; absent values are left out.
_FACTS = (
    "status", "startedAt", "finishedAt", "failedAt", "durationSeconds", "nominalStart",
    "nominalEnd", "attempt", "attempts", "engine", "version", "triggeredBy", "testsPassed",
)  # fmt: skip


@question
def show(
    backend: Backend,
    run: Annotated[str, typer.Argument(help="A run by its id or urn.", metavar="RUN")],
) -> Result:
    """Show one run: its state and times, the possible causes if it failed, what it read and wrote,
    the offsets of its topics, and the steps that it recorded.

    For example: headwater run show 0198c2f4-7f0a-7000-8000-000000000001"""
    urn = resolve(backend, run, ("PIPELINE_RUN",))
    found = backend.ask("run_details", id=urn)["node"] if parse_urn(urn).kind == "run" else None
    if not found:
        raise NotFoundError(
            f"no run has the urn {urn}", hint="`headwater runs` lists the runs with their urns."
        )
    causes = _causes(backend, urn) if found["failedAt"] or found["error"] else []
    return Result(
        data={"run": found, "causes": causes},
        columns=_COLUMNS,
        rows=list(_rows(found, causes)),
        show=partial(_show, run=found, causes=causes),
    )


def _causes(backend: Backend, urn: str) -> list[Data]:
    found = backend.ask("root_cause", urn=urn, since=None, first=CAUSES_MAX)["rootCause"]
    # The run is no cause of itself.
    return [one for one in (found or {}).get("candidates", []) if one["urn"] != urn]


def _rows(run: Data, causes: list[Data]) -> Iterator[Data]:
    """Yield everything about the run as rows of one table."""
    for name, value in _facts(run):
        yield {"part": "run", "name": name, "value": value}
    parts = {
        "cause": [(one["kind"], one["reason"]) for one in causes],
        "input": [(one["input"], one["urn"]) for one in _inputs(run)],
        "output": [(one["output"], one["urn"]) for one in _outputs(run)],
        "offset": [
            (f"{one['topic']} {one['partition']}", f"{one['from']} {one['next']}")
            for one in _partitions(run)
        ],
        "step": [(one["step"], one["error"] or one["rows out"]) for one in _steps(run)],
    }
    for part, pairs in parts.items():
        for name, value in pairs:
            yield {"part": part, "name": name, "value": value}


def _facts(run: Data) -> Iterator[tuple[str, Any]]:
    for name in _FACTS:
        if run[name] is not None and (name, run[name]) != ("attempts", 1):
            yield name, run[name]
    if run["error"]:
        yield "error", run["error"]
    for name in ("failedTests", "extractionErrors", "tags"):
        if run[name]:
            yield name, ", ".join(run[name])
    for name in ("parents", "children"):
        for other in run[name]:
            yield name.removesuffix("s").replace("children", "child"), _named(other)
    if run["childFailures"]:
        yield "childFailures", run["childFailures"]
    for trace, link in zip(run["traceIds"], run["traceLinks"] or run["traceIds"], strict=False):
        yield "trace", trace if link == trace else f"{trace}  {link}"


def _named(run: Data) -> str:
    return f"{run['pipelineName'] or ''}  {run['runId']}  {run['status']}".strip()


def _inputs(run: Data) -> list[Data]:
    versions = [(one, one["version"] or "") for one in run["readArtifacts"]]
    versions += [(one, one["capturedAt"] or "") for one in run["readSources"]]
    return [
        {
            "input": _name(one["dataset"]),
            "version": version,
            "rows": _number(one["rowCount"]),
            "urn": one["urn"],
        }
        for one, version in versions
    ]


def _outputs(run: Data) -> list[Data]:
    return [
        {
            "output": _name(one["dataset"]),
            "version": one["version"] or "",
            "status": one["status"] or "",
            "rows": _number(one["rowCount"]),
            "urn": one["urn"],
        }
        for one in run["artifacts"]
    ]


def _partitions(run: Data) -> Iterator[Data]:
    for stream in run["streams"]:
        for one in stream["partitions"]:
            yield {
                "topic": _name(stream["dataset"]),
                "use": "write" if stream["isOutput"] else "read",
                "partition": one["partition"],
                "from": _number(one["begin"]),
                "next": _number(one["end"]),
                "end of topic": _number(one["latest"]),
                "lag": _number(one["lag"]),
            }


def _steps(run: Data) -> Iterator[Data]:
    for step in run["steps"]:
        origins = [str(one["fromStep"]) for one in step["inputs"] if one["fromStep"] is not None]
        yield {
            "step": f"{step['number']}. {step['name']}",
            "rows in": _sum(step["inputs"]),
            "rows out": _sum(step["outputs"]),
            "from step": ", ".join(origins),
            "keys": _keys(step["rows"]),
            "seconds": "" if step["seconds"] is None else f"{step['seconds']:.3f}",
            "error": step["error"] or "",
        }


def _sum(frames: list[Data]) -> str:
    """Return the number of rows of frames; empty if one of them was not measured."""
    counts = [one["rowCount"] for one in frames]
    if not counts or None in counts:
        return ""
    return str(sum(int(count) for count in counts))


def _keys(rows: Data | None) -> str:
    if rows is None:
        return ""
    return f"{rows['kept']} kept, {rows['dropped']} dropped, {rows['added']} added"


def _name(dataset: Data | None) -> str:
    return f"{dataset['namespace']} {dataset['name']}" if dataset else ""


def _number(value: Any) -> str:
    return "" if value is None else str(value)


def _show(out: Console, *, run: Data, causes: list[Data]) -> None:
    from headwater.cli import render

    title = f"{run['namespace'] or ''} {run['pipelineName'] or ''}".strip()
    out.print(f"[bold]{render.escape(title)}[/]  {render.escape(run['runId'])}")
    for name, value in _facts(run):
        out.print(f"  [dim]{name}[/] {render.escape(value)}")
    for columns, rows in (
        (_INPUT_COLUMNS, _inputs(run)),
        (_OUTPUT_COLUMNS, _outputs(run)),
        (_STREAM_COLUMNS, list(_partitions(run))),
        (_STEP_COLUMNS, list(_steps(run))),
        (_CAUSE_COLUMNS, [{**one, "look at": one["urn"]} for one in causes]),
    ):
        if rows:
            out.print()
            render.print_table(out, columns, rows, prose={"reason", "error"})


COMMANDS: dict[str, Callable[..., None]] = {"show": show}
