"""The command `game-day`: an unannounced fault, and the time until its cause is named."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated, Any

import typer

from headwater.cli.options import Json
from headwater.errors import QueryError

_SEEDS = 1_000_000
WRONG_EXIT_CODE = 1
_FOLDER = "game-day"
# Where a game runs, so that an answer finds it.
DEFAULT_HOME = "~/.headwater-game-day"


def game_day(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="`answer NODE`: name the cause.", metavar="[answer NODE]"),
    ] = None,
    home: Annotated[
        str, typer.Option(help="Folder of the stack; it is emptied first.", metavar="DIR")
    ] = DEFAULT_HOME,
    auto: Annotated[
        bool, typer.Option("--auto", help="Answer with the root cause that Headwater names.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Play the fault of this seed again.", show_default="random")
    ] = None,
    as_json: Json = False,
) -> None:
    """Inject a fault without saying which, and measure the time until its cause is named.

    Exit code 1 means that the answer was wrong.

    For example: headwater game-day answer job:load_orders"""
    from headwater.scenarios import game_day as game

    folder = Path(home).expanduser() / _FOLDER
    if words:
        if len(words) != 2 or words[0] != "answer":
            raise QueryError(
                f"game-day takes no argument {' '.join(words)!r}",
                hint="Write `headwater game-day answer NODE`.",
            )
        is_right = game.send_answer(folder, words[1])
        print("right" if is_right else "wrong; the game goes on")
        if not is_right:
            raise typer.Exit(WRONG_EXIT_CODE)
        return
    score = _play(home, folder, auto=auto, seed=seed, as_json=as_json)
    _print(score, as_json=as_json)
    if not score["right"]:
        raise typer.Exit(WRONG_EXIT_CODE)


def _instruction(home: str, seed: int, *, auto: bool) -> str:
    if auto:
        return f"Headwater names its cause; --seed {seed} plays it again."
    return f"Name its cause: headwater game-day answer NODE --home {home}"


def _play(
    home: str, folder: Path, *, auto: bool, seed: int | None, as_json: bool
) -> dict[str, Any]:
    from headwater.cli import render
    from headwater.cli.scenario import running_stack
    from headwater.scenarios import game_day as game
    from headwater.scenarios.stage import Stage, open_workshop

    chosen = random.randrange(_SEEDS) if seed is None else seed
    story = game.choose(chosen)
    out = render.captured_console()[0] if as_json else render.console()
    with running_stack(home, out) as (stack, target, files):
        folder.mkdir(mode=0o700, exist_ok=True)
        out.print(f"The page is at {stack.url}. The nights pass; then something goes wrong.")
        out.print(_instruction(home, chosen, auto=auto), soft_wrap=True)
        read = game.read_of_alert if auto else game.read_of_file(folder)
        opened = open_workshop(
            game.NAMESPACE, files / game.NAMESPACE, target, uses_spark=story.uses_spark
        )
        with opened as workshop:
            stage = Stage(story.truth, target, workshop)
            attempts_max = 1 if auto else None
            score = game.play(story, stage, chosen, read, folder, attempts_max=attempts_max)
        found = stage.backend.ask("service_levels", ids=["M3", "M4"], days=1)["serviceLevels"]
    # The runs of a scenario began hours before the fault was sent, so only the targets mean much.
    return {**score.as_json(), "targetSeconds": {one["id"]: one["target"] for one in found}}


def _print(score: dict[str, Any], *, as_json: bool) -> None:
    from headwater.cli import render

    if as_json:
        render.print_json(score)
        return
    verdict = "right" if score["right"] else "wrong"
    print(f"It was {score['scenario']} (seed {score['seed']}): {score['cause']} is {verdict}.")
    targets = score["targetSeconds"]
    impact, answer = score["impactSeconds"], score["answerSeconds"]
    print(f"affected known after   {impact:.1f} s (M3 promises {targets['M3']:.0f} s)")
    print(f"root cause named after {answer:.1f} s (M4 promises {targets['M4']:.0f} s)")
    print(f"answers                {', '.join(score['attempts'])}")


COMMANDS = {"game-day": game_day}
