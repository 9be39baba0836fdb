"""The questions that everybody asks in an incident, each compared with the ground truth.

What is broken, who was told, why, who is affected, what has to run again, and is it repaired.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause

CANDIDATES_MAX = 50
_SHOWN = 6


def play(story: Story, stage: Stage, *, repairs: bool = True) -> bool:
    """Play a story with all its steps. Return True if each found what was expected.

    Without repairs it ends with the last question, and the fault stays.
    """
    prepare(story, stage)
    inject(story, stage)
    root = find(stage)
    if root is not None:
        check_alert(stage, root)
        check_causes(stage)
        check_consumers(stage, root)
        check_replay(stage)
        story.examine(stage)
        if repairs:
            repair(story, stage, root)
    return stage.ok


def prepare(story: Story, stage: Stage) -> None:
    """Let the regular nights run. Their events are sent together with those of the fault.

    A fault may be some nights old. Without the runs since then, the jobs would count as missing.
    A story with steps before its fault has these runs, so its events are sent at once.
    """
    with stage.step("prepare", "regular nights") as step:
        if story.before_fault is None:
            story.prepare(stage.workshop)
        else:
            stage.play(story.prepare)
        runs = sum(len(runs) for runs in stage.workshop.runs.values())
        step.lines.append(
            f"{len(stage.workshop.runs)} jobs ran {runs} times on {stage.workshop.engine}"
        )
    if story.before_fault is not None:
        story.before_fault(stage)


def inject(story: Story, stage: Stage) -> None:
    """Let the fault happen."""
    with stage.step("inject", story.fault):
        stage.play(story.inject)


def find(stage: Stage) -> Mapping[str, Any] | None:
    """Wait for the findings, and return that of the root cause."""
    truth = stage.truth
    with stage.step("finding", "what is broken, and what broke it") as step:
        listed = stage.wait(
            stage.findings,
            lambda one: stage.found(one) >= truth.findings and _root(stage, one) is not None,
        )
        step.expected, step.found = sorted(truth.findings), sorted(stage.found(listed))
        root = _root(stage, listed)
        roots = {one["root"] for one in listed}
        step.ok = step.found == step.expected and root is not None and roots == {root["id"]}
        for one in sorted(listed, key=lambda one: (one["id"] not in roots, one["firstSeen"])):
            mark = "root cause" if one["id"] in roots else "follows"
            step.lines.append(
                f"{one['severity']} {one['rule']} {stage.short(one['urn'])} "
                f"since {one['firstSeen'][:19]}: {mark}"
            )
    return root


def _root(stage: Stage, listed: list[dict[str, Any]]) -> dict[str, Any] | None:
    found = [one for one in listed if (one["rule"], stage.short(one["urn"])) == stage.truth.root]
    return found[0] if found else None


def check_alert(stage: Stage, root: Mapping[str, Any]) -> None:
    """Wait for the message about the root cause."""
    inbox, truth = stage.target.inbox, stage.truth
    with stage.step("alert", "one alert for all of it") as step:
        message = stage.wait(
            lambda: inbox.newest(root["id"], "firing"),
            lambda one: one is not None and _open_count(one) == len(truth.findings),
        )
        step.expected = {"tier": truth.tier, "findings": len(truth.findings)}
        if message is not None:
            step.found = {"tier": message["tier"], "findings": _open_count(message)}
            step.lines.append(f"{message['tier']} {message['title']}")
            step.lines.append(f"to {', '.join(message['owners']) or 'nobody known'}")
            runbook = (message.get("links") or {}).get("runbook")
            step.lines += [f"runbook {runbook}"] if runbook else []
        if inbox.alertmanager:
            step.expected["inAlertmanager"] = len(truth.findings)
            group = stage.wait(
                lambda: inbox.group(root["id"]), lambda one: len(one) >= len(truth.findings)
            )
            step.found = {**(step.found or {}), "inAlertmanager": len(group)}
            step.lines.append(f"Alertmanager shows one group with {len(group)} alerts")
        step.ok = step.found == step.expected


def _open_count(message: Mapping[str, Any]) -> int:
    return len([one for one in message["findings"] if one["resolvedAt"] is None])


def check_causes(stage: Stage) -> None:
    """Ask for the root cause of the symptom."""
    truth = stage.truth
    with stage.step("root-cause", f"why {truth.symptom} is wrong") as step:
        urn = stage.workshop.urn(truth.symptom)
        found = stage.backend.ask("root_cause", urn=urn, since=None, first=CANDIDATES_MAX)
        candidates = found["rootCause"]["candidates"]
        step.expected = [f"{one.kind}: {', '.join(one.words)}" for one in truth.causes]
        matched = [one for one in truth.causes if _matches(candidates, one)]
        step.found = [f"{one.kind}: {', '.join(one.words)}" for one in matched]
        step.ok = step.found == step.expected
        step.lines += [f"{one['kind']} {one['reason']}" for one in candidates[:_SHOWN]]


def _matches(candidates: list[dict[str, Any]], cause: Cause) -> bool:
    texts = [_text(one) for one in candidates if one["kind"] == cause.kind]
    return any(_has_words(text, cause.words) for text in texts)


def _has_words(text: str, words: tuple[str, ...]) -> bool:
    return all(word in text for word in words)


def _text(candidate: Mapping[str, Any]) -> str:
    values = (candidate["reason"], candidate["before"], candidate["after"], candidate["urn"])
    return " ".join(str(value) for value in values)


def check_consumers(stage: Stage, root: Mapping[str, Any]) -> None:
    """Compare the consumers that the finding names with the real ones."""
    truth = stage.truth
    with stage.step("consumers", "who is affected") as step:
        found = {stage.short(one["urn"]): one for one in root["affected"]["consumers"]}
        step.expected, step.found = sorted(truth.consumers), sorted(found)
        step.ok = step.found == step.expected
        for name, one in found.items():
            step.lines.append(f"{name}  {', '.join(one['owners'])}".rstrip())


def check_replay(stage: Stage) -> None:
    """Ask which jobs have to run again, and in which order."""
    truth = stage.truth
    if not truth.replay:
        return
    with stage.step("replay-plan", "what has to run again, and in which order") as step:
        start, since = stage.workshop.replay_start
        found = stage.backend.ask("replay_plan", urn=start, since=since)["replayPlan"]
        steps = [_jobs_of(stage, one) for one in found["steps"]]
        step.expected, step.found = [list(jobs) for jobs in truth.replay], steps
        step.ok = step.found == step.expected
        for number, one in enumerate(found["steps"], 1):
            step.lines.append(f"{number}. {', '.join(_jobs_of(stage, one))}")
            for run in one["runs"]:
                step.lines += [
                    f"   {stage.short(out['dataset']['urn'])}: last good {out['lastGood']['urn']}"
                    for out in run["outputs"]
                    if out["lastGood"]
                ]

        after = sorted(stage.short(one["urn"]) for one in found["nextJobs"])
        step.lines += [f"then, at their next times: {', '.join(after)}"] if after else []


def _jobs_of(stage: Stage, step: Mapping[str, Any]) -> list[str]:
    return sorted({stage.short(run["job"]["urn"]) for run in step["runs"] if run["job"]})


def repair(story: Story, stage: Stage, root: Mapping[str, Any]) -> None:
    """Repair, and wait until no finding is open and the alert has ended."""
    with stage.step("repair", story.repaired):
        stage.play(story.repair)
    with stage.step("validate", "no finding is open, and the alert has ended") as step:
        listed = stage.wait(stage.findings, lambda one: not one)
        message = stage.wait(
            lambda: stage.target.inbox.newest(root["id"], "resolved"), lambda one: one is not None
        )
        step.expected = {"open": [], "alert": "resolved"}
        status = message["status"] if message else "firing"
        step.found = {"open": sorted(stage.found(listed)), "alert": status}
        step.ok = step.found == step.expected
        step.lines.append(f"alert {status}, {len(listed)} findings open")
    story.verify(stage)


def compare_tables(stage: Stage, what: str, pairs: Mapping[str, tuple[Any, Any]]) -> None:
    """Record a step that compares values of the files: name -> (expected, found)."""
    with stage.step("data", what) as step:
        step.expected = {name: expected for name, (expected, _) in pairs.items()}
        step.found = {name: found for name, (_, found) in pairs.items()}
        step.ok = step.found == step.expected
        step.lines += [f"{name}: {found}" for name, found in step.found.items()]
