"""A game day: an unannounced fault, and the time until somebody names its cause.

The player's answer comes through two files in the folder of the game: `answer.json`, written by the
command `game-day answer`, and `verdict.json`, written by the game. A wrong answer does not end it.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from headwater.errors import NotFoundError, ServerError
from headwater.scenarios import catalogue
from headwater.scenarios.stage import POLL_SECONDS, Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Truth

# The namespace does not name the story.
NAMESPACE = "estate"
ANSWER_FILE, VERDICT_FILE = "answer.json", "verdict.json"
_VERDICT_SECONDS = 30.0
_CANDIDATES_MAX = 50
_JOB = "query Job($runId: ID!) { run(runId: $runId) { job { urn } } }"
_INPUTS = """
query Inputs($id: ID!) { node(id: $id) { ... on Job { inputs { urn droppedAt } } } }
"""


@dataclass(frozen=True)
class Score:
    """The result of a game day.

    right: False if the game ended with a wrong answer.
    impact_seconds: from the fault until its finding named who is affected.
    answer_seconds: from the fault until the last answer.
    """

    scenario: str
    seed: int
    cause: str
    right: bool
    attempts: tuple[str, ...]
    impact_seconds: float
    answer_seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the score for programs."""
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "cause": self.cause,
            "right": self.right,
            "attempts": list(self.attempts),
            "impactSeconds": round(self.impact_seconds, 1),
            "answerSeconds": round(self.answer_seconds, 1),
        }


def choose(seed: int) -> Story:
    """Return the story of a seed."""
    return catalogue.load(random.Random(seed).choice(catalogue.NAMES))


def play(
    story: Story,
    stage: Stage,
    seed: int,
    read_answer: Callable[[Stage], str],
    folder: Path,
    *,
    attempts_max: int | None = None,
) -> Score:
    """Let the fault happen, and wait for the right answer.

    Args:
        story: The fault.
        stage: The running Headwater.
        seed: The number that chose the story, for the score.
        read_answer: Waits for an answer.
        folder: Where the verdicts are written.
        attempts_max: The game ends with this many answers, also wrong ones.
    """
    stage.play(story.prepare)
    began = time.monotonic()
    stage.play(story.inject)
    stage.wait(stage.findings, _names_affected)
    impact_seconds = time.monotonic() - began
    attempts: list[str] = []
    while True:
        answer = read_answer(stage)
        attempts.append(answer)
        is_right = is_cause(stage.truth, answer) or is_cause(stage.truth, stage.short(answer))
        _replace(folder / VERDICT_FILE, {"answer": answer, "right": is_right})
        if is_right or len(attempts) == attempts_max:
            return Score(
                scenario=story.name,
                seed=seed,
                cause=answer,
                right=is_right,
                attempts=tuple(attempts),
                impact_seconds=impact_seconds,
                answer_seconds=time.monotonic() - began,
            )


def _names_affected(listed: list[dict[str, Any]]) -> bool:
    return any(one["affected"]["consumers"] for one in listed)


def is_cause(truth: Truth, answer: str) -> bool:
    """Return True if an answer names the cause, as a urn, as kind:name, or by its name."""
    as_service = answer.replace(f"job:{quote(f'service://{NAMESPACE}', safe='/')}:", "service:", 1)
    names = {answer, answer.replace(f":{NAMESPACE}:", ":", 1), as_service}
    accepted = truth.answers | {node.partition(":")[2] for node in truth.answers}
    return bool(names & accepted)


def read_of_alert(stage: Stage) -> str:
    """Return the answer that the alert gives: the node of the root cause, or a dataset before it.

    A job that failed without a dropped input is named itself.
    """
    listed = stage.wait(stage.findings, _has_one_root)
    roots = [one for one in listed if one["root"] == one["id"]]
    if not roots:
        raise ServerError("no finding of the fault was made", hint="Read detect.log in the home.")
    first = min(roots, key=lambda one: (one["severity"], one["firstSeen"]))
    node = stage.short(first["urn"])
    if is_cause(stage.truth, node):
        return node
    if first["urn"].startswith("job:"):
        job = stage.backend.ask_text(_INPUTS, {"id": first["urn"]})["node"]
        dropped = [one["urn"] for one in job["inputs"] if one["droppedAt"]]
        return stage.short(dropped[0]) if dropped else node
    asked = stage.backend.ask("root_cause", urn=first["urn"], since=None, first=_CANDIDATES_MAX)
    candidates = asked["rootCause"]["candidates"]
    runs = [one["run"]["urn"] for one in candidates if one["kind"] == "CODE_CHANGED" and one["run"]]
    if not runs:
        return stage.short(candidates[0]["urn"]) if candidates else node
    run = stage.backend.ask_text(_JOB, {"runId": runs[0].removeprefix("run:")})["run"]
    return stage.short(run["job"]["urn"])


def _has_one_root(listed: list[dict[str, Any]]) -> bool:
    return len({one["root"] for one in listed}) == 1


def read_of_file(folder: Path) -> Callable[[Stage], str]:
    """Return a reader that waits until `game-day answer` writes an answer."""
    file = folder / ANSWER_FILE

    def read(stage: Stage) -> str:
        del stage
        while not file.exists():
            time.sleep(POLL_SECONDS)
        answer = str(json.loads(file.read_text(encoding="utf-8"))["answer"])
        file.unlink()
        return answer

    return read


def send_answer(folder: Path, answer: str) -> bool:
    """Give an answer to the game in a folder. Return True if it is right."""
    if not folder.is_dir():
        raise NotFoundError(
            f"no game day runs in {folder.parent}", hint="Start one with `headwater game-day`."
        )
    verdict = folder / VERDICT_FILE
    verdict.unlink(missing_ok=True)
    _replace(folder / ANSWER_FILE, {"answer": answer})
    deadline = time.monotonic() + _VERDICT_SECONDS
    while not verdict.exists():
        if time.monotonic() > deadline:
            raise NotFoundError(
                "the game day does not take answers yet, or has ended",
                hint="Answer after the fault was found, while `headwater game-day` runs.",
            )
        time.sleep(POLL_SECONDS)
    return bool(json.loads(verdict.read_text(encoding="utf-8"))["right"])


def _replace(file: Path, content: dict[str, Any]) -> None:
    """Replace a file atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.part")
    part.write_text(json.dumps(content), encoding="utf-8")
    part.replace(file)
