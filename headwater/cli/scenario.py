"""The command `scenario`: an incident on a real stack, from the fault to the repair."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.options import Json, settings_of

if TYPE_CHECKING:
    from rich.console import Console

    from headwater.cli.stack import Stack
    from headwater.scenarios.stage import Stage, Step, Target
    from headwater.scenarios.story import Story

LIST, ALL = "list", "all"
# What the command returns if a step did not find what was expected.
WRONG_EXIT_CODE = 1
SLOW_PAUSE_SECONDS = 4.0
_RECEIVERS = ("HEADWATER_ALERT_WEBHOOKS", "HEADWATER_ALERTMANAGER", "HEADWATER_ALERT_RECEIVERS")
ScenarioHome = Annotated[
    str | None,
    typer.Option(
        help="Folder of the stack; it is emptied first.",
        show_default="a temporary one",
        metavar="DIR",
    ),
]


class Speed(StrEnum):
    """How long a reader has for each step."""

    FAST = "fast"
    SLOW = "slow"


def scenario(
    name: Annotated[
        str, typer.Argument(help="The name of a scenario; `list` lists them, `all` plays all.")
    ],
    home: ScenarioHome = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Serve the graph afterwards, until Ctrl-C.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair/--no-repair",
            help="--no-repair leaves the fault, so that --keep shows it on the page.",
        ),
    ] = True,
    speed: Annotated[
        Speed,
        typer.Option(help="slow waits four seconds after each step.", case_sensitive=False),
    ] = Speed.FAST,
    as_json: Json = False,
) -> None:
    """Inject a fault into a real pipeline, and find, explain and repair it step by step.

    Exit code 1 means that a step did not find what the scenario declares.

    For example: headwater scenario churn-drift --speed slow"""
    from headwater.cli import render
    from headwater.scenarios import catalogue

    if name == LIST:
        _list(as_json=as_json)
        return
    names = catalogue.NAMES if name == ALL else (name,)
    stories = [catalogue.load(one) for one in names]
    # Programs read standard output; with --json it has nothing else.
    out = render.captured_console()[0] if as_json else render.console()
    pause_seconds = SLOW_PAUSE_SECONDS if speed is Speed.SLOW else 0.0
    played = []
    with running_stack(home, out, keep=keep) as (stack, target, folder):
        for story in stories:
            out.print(f"[bold]{story.name}: {story.title}[/]")
            stage = new_stage(story, target, folder / story.name, out, pause_seconds)
            with stage.workshop:
                played.append(_play(story, stage, repairs=repair))
        ok = all(one["ok"] for one in played)
        if as_json:
            render.print_json({"ok": ok, "scenarios": played})
        if keep:
            out.print(f"The page is at {stack.url}; Ctrl-C ends it.")
            stack.watch()
    if not ok:
        raise typer.Exit(WRONG_EXIT_CODE)


def _list(*, as_json: bool) -> None:
    from headwater.cli import render
    from headwater.scenarios import catalogue

    stories = [catalogue.load(one) for one in catalogue.NAMES]
    rows = [{"name": one.name, "what happens": one.fault, "from": one.origin} for one in stories]
    render.print_rows(("name", "what happens", "from"), rows, as_json=as_json)


def _play(story: Story, stage: Stage, *, repairs: bool) -> dict[str, Any]:
    from headwater.scenarios import investigation

    began = time.monotonic()
    ok = investigation.play(story, stage, repairs=repairs)
    return {
        "name": story.name,
        "title": story.title,
        "ok": ok,
        "seconds": round(time.monotonic() - began, 1),
        "steps": [_step_json(step) for step in stage.steps],
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "step": step.name,
        "text": step.text,
        "expected": step.expected,
        "found": step.found,
        "ok": step.ok,
        "seconds": round(step.seconds, 1),
        "lines": step.lines,
    }


def new_stage(
    story: Story, target: Target, folder: Path, out: Console, pause_seconds: float = 0.0
) -> Stage:
    """Return the stage of a scenario that prints each step."""
    from headwater.scenarios.stage import Stage, open_workshop

    workshop = open_workshop(story.name, folder, target, uses_spark=story.uses_spark)
    return Stage(
        story.truth,
        target,
        workshop,
        on_step=lambda step: print_step(out, step),
        pause_seconds=pause_seconds,
    )


def print_step(out: Console, step: Step) -> None:
    """Print a step with its lines; a wrong one with what was expected and found."""
    from headwater.cli import render

    mark = "[green]ok[/]" if step.ok else "[bold red]wrong[/]"
    out.print(f"[bold]{step.name}[/]  {render.escape(step.text)}  {mark}  {step.seconds:.0f} s")
    for line in step.lines:
        out.print(f"    {render.escape(line)}")
    if not step.ok:
        out.print(f"    expected  {render.escape(step.expected)}")
        out.print(f"    found     {render.escape(step.found)}")


@contextmanager
def running_stack(
    home: str | None, out: Console, *, keep: bool = False
) -> Iterator[tuple[Stack, Target, Path]]:
    """Start a whole Headwater in an empty home; its alerts go to this process and nowhere else.

    Yields the stack, the target of stories, and a folder for their files.
    """
    from headwater.cli.demo import empty_home
    from headwater.cli.stack import Stack
    from headwater.local.signals import interrupt_on_signals
    from headwater.scenarios.inbox import open_inbox
    from headwater.scenarios.stage import Target

    folder = Path(home or tempfile.mkdtemp(prefix="headwater-scenario-")).expanduser().resolve()
    empty_home(folder)
    settings = settings_of(str(folder), port=0)
    # The inbox starts a process before the stack does.
    interrupt_on_signals()
    try:
        with (
            open_inbox(folder / "inbox") as inbox,
            _environment(dict(zip(_RECEIVERS, (inbox.url, inbox.alertmanager, ""), strict=True))),
            Stack(settings, bolt_port=0, console=out) as stack,
        ):
            yield stack, Target(stack.url, inbox), folder / "scenarios"
    finally:
        if home is None and not keep:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set variables of the environment for the processes that start in the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


COMMANDS = {"scenario": scenario}
