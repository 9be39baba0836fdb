"""The command `watch`: a command or a webhook for each finding that opens, changes or ends."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.findings import Tier
from headwater.cli.options import Home, Profile, Url, api_address
from headwater.errors import QueryError, UnavailableError

if TYPE_CHECKING:
    from headwater.client.finding_watch import FindingChange
    from headwater.transport import HttpSender

COMMAND_SECONDS_MAX = 300.0
WEBHOOK_SECONDS_MAX = 20.0
_PAUSES = (1.0, 5.0)
_PREFIX = "HEADWATER_FINDING_"
# Returns True if the change was handled, False if it is to come again.
Action = Callable[[dict[str, Any]], bool]


def watch(
    run: Annotated[
        str | None,
        typer.Option(
            help="Run this shell command for each change: the finding as JSON on its standard "
            "input, and in variables HEADWATER_FINDING_ID, _CHANGE, _RULE, _TIER and others.",
            metavar="COMMAND",
        ),
    ] = None,
    webhook: Annotated[
        str | None,
        typer.Option(help="Post the finding as JSON to this address.", metavar="URL"),
    ] = None,
    rule: Annotated[
        str | None, typer.Option(help="Only findings of this rule, for example schema-drift.")
    ] = None,
    tier: Annotated[
        Tier | None, typer.Option(help="Only findings of this severity.", case_sensitive=False)
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only findings on nodes of this namespace.")
    ] = None,
    existing: Annotated[
        bool, typer.Option("--existing", help="Begin with the findings that are open already.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds after which a command is ended.", min=1.0)
    ] = COMMAND_SECONDS_MAX,
    url: Url = None,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Run a command or call a webhook for each finding that opens, changes or ends, until Ctrl-C.

    For example: headwater watch --rule schema-drift --run './retrain.sh'"""
    from headwater.cli import render
    from headwater.client.finding_watch import FindingWatch

    action = _action(run, webhook, timeout)
    address = api_address(home, url, profile)
    followed = FindingWatch(
        address,
        rule=rule,
        tier=tier.value if tier else None,
        namespace=namespace,
        with_existing=existing,
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _interrupt)

    def on_ready(count: int) -> None:
        findings = render.with_noun(count, "open finding")
        line = f"watching {address.url}: {findings}; Ctrl-C ends it"
        print(line, file=sys.stderr, flush=True)

    try:
        for change in followed.changes(on_ready):
            if isinstance(change, UnavailableError):
                render.warn(f"{change.message}; connecting again")
            elif action(_content(change, address.url)):
                followed.done(change)
    except ImportError as error:
        raise QueryError(
            f"watch needs the package {error.name}", hint="pip install 'headwater[server]'"
        ) from error


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _action(run: str | None, webhook: str | None, timeout: float) -> Action:
    """Return what to do with each change. Raises QueryError unless exactly one is given."""
    from headwater.transport import HttpSender

    if (run is None) == (webhook is None):
        raise QueryError(
            "watch needs either --run COMMAND or --webhook URL",
            hint="For example --run 'cat >> findings.jsonl'.",
        )
    if run is not None:
        return lambda content: _run_command(run, content, timeout)
    assert webhook is not None
    if not webhook.startswith(("http://", "https://")):
        raise QueryError("--webhook must begin with http:// or https://")
    sender = HttpSender(timeout_seconds=WEBHOOK_SECONDS_MAX, pauses=_PAUSES)
    return lambda content: _post(sender, webhook, content)


def _content(change: FindingChange, url: str) -> dict[str, Any]:
    """Return a change as JSON: the fields of the finding, and how it changed."""
    finding = dict(change.finding or {})
    if finding.get("runbook"):
        finding["runbook"] = f"{url}{finding['runbook']}"
    return {"id": change.id, "change": change.kind, **finding}


def _run_command(command: str, content: Mapping[str, Any], timeout: float) -> bool:
    """Run a shell command. It counts as handled also if it fails: it never runs twice."""
    from headwater.cli import render

    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.PIPE,
        env={**os.environ, **_variables(content)},
        start_new_session=True,
    )
    try:
        process.communicate(json.dumps(content).encode() + b"\n", timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        render.warn(f"the command for {content['id']} was ended after {timeout:g} s")
        return True
    except KeyboardInterrupt:
        _end(process)
        raise
    if process.returncode:
        render.warn(f"the command for {content['id']} ended with code {process.returncode}")
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command with everything that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _variables(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a command. A shell does not read their values as commands."""
    values = {
        "ID": content["id"],
        "CHANGE": content["change"],
        "RULE": content["id"].split(":", 2)[1],
        "TIER": content.get("severity"),
        "TITLE": content.get("title"),
        "URN": content.get("urn"),
        "SINCE": content.get("firstSeen"),
        "RESOLVED": content.get("resolvedAt"),
        "ROOT": content.get("root"),
        "OWNERS": ",".join(content.get("owners") or ()),
        "RUNBOOK": content.get("runbook"),
    }
    return {
        f"{_PREFIX}{name}": str(value or "").replace("\0", "") for name, value in values.items()
    }


def _post(sender: HttpSender, url: str, content: Mapping[str, Any]) -> bool:
    """Post a change. Return False if the receiver does not take it: it then comes again."""
    from headwater.cli import render

    identity = ("id", "change", "severity", "firstSeen", "resolvedAt")
    change = json.dumps([content.get(name) for name in identity])
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": hashlib.sha256(change.encode()).hexdigest(),
    }
    try:
        response = sender.post(url, json.dumps(content).encode(), headers)
    except UnavailableError as error:
        render.warn(f"the webhook does not answer: {error.message}")
        return False
    if not response.is_success:
        render.warn(f"the webhook answered {response.status}: {response.text(200)}")
    return response.is_success


COMMANDS = {"watch": watch}
