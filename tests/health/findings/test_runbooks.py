"""Every rule has a runbook, and the commands in runbooks and in the guide for people on call exist."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from typing import Any

import pytest
from typer.main import get_command

from headwater.cli import app
from headwater.health.findings.runbooks import RUNBOOKS, runbook, runbook_url
from scripts.catalogue import all_commands, audits, bare
from tests.repo.repository import text

COMMAND = re.compile(r"`(headwater [^`]+)`")
COMMANDS = dict(all_commands(get_command(app)))
STEPS_MAX = 4


def commands(page: str) -> list[str]:
    """Return the commands of a page or of the text of a runbook."""
    return [" ".join(found.split()) for found in COMMAND.findall(page)]


def texts(rule: str) -> str:
    found = runbook(rule)
    assert found is not None
    return "\n".join([found.meaning, *found.check, *found.end, *found.prevent, found.call])


def parse(command: str) -> tuple[str, dict[str, Any]]:
    """Parse a command as a shell and the program would, without running it.

    Return its name and the values of its parameters.
    """
    words = shlex.split(command)[1:]
    for size in (2, 1):
        name = " ".join(words[:size])
        if name in COMMANDS:
            return name, COMMANDS[name].make_context(name, words[size:]).params
    raise AssertionError(f"there is no command {command!r}")


@pytest.mark.parametrize("rule", sorted(RUNBOOKS))
def test_every_rule_has_a_runbook_of_a_few_steps(rule: str) -> None:
    found = runbook(rule)
    assert found is not None
    assert 40 < len(found.meaning) < 500
    for steps in (found.check, found.end, found.prevent):
        assert 1 <= len(steps) <= STEPS_MAX
        assert all(step.endswith((".", "?")) for step in steps), steps
    assert found.call.endswith(".")
    assert commands(texts(rule)), "no command shows whether it is true"


@pytest.mark.parametrize("rule", sorted(RUNBOOKS))
def test_the_commands_of_a_runbook_exist(rule: str) -> None:
    for command in commands(texts(rule)):
        check(command)


def test_the_commands_of_the_guide_exist() -> None:
    found = commands(text("docs/how-to/on-call.md"))
    assert len(found) > 10
    for command in found:
        check(command)


def check(command: str) -> None:
    """Fail if the command, one of its options, or the query that it names does not exist."""
    name, given = parse(command)
    if name == "cypher":
        queries = {bare(query): query for query in audits()}
        query = queries.get(given["name"])
        assert query is not None, command
        named = {param.partition("=")[0] for param in given["param"] or ()}
        assert named <= {parameter.name for parameter in query.parameters}, command


def test_no_page_is_left_without_its_rule() -> None:
    folder = files("headwater.health.findings").joinpath("runbook_pages")
    assert {file.name.removesuffix(".toml") for file in folder.iterdir()} == RUNBOOKS.keys()


def test_an_unknown_rule_has_no_runbook() -> None:
    assert runbook("../rules") is None
    assert runbook("no-such-rule") is None


def test_the_address_of_a_runbook() -> None:
    assert runbook_url("failed-run") == "/runbooks/failed-run"
    address = "https://headwater.example.com/runbooks/failed-run"
    assert runbook_url("failed-run", "https://headwater.example.com") == address
    assert runbook_url("failed-run", "https://headwater.example.com/") == address


def test_the_checks_see_a_wrong_command() -> None:
    with pytest.raises(AssertionError):
        check("headwater no-such-command")
    with pytest.raises(Exception, match="No such option"):
        check("headwater runs --no-such-option")
    with pytest.raises(AssertionError):
        check("headwater cypher failed_runs --param nothing=1")
