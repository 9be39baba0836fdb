"""Help prints every word of its texts: none is taken for markup, and defaults are shown."""

from __future__ import annotations

import re

import pytest
import typer.main
from typer.core import TyperOption
from typer.testing import CliRunner

from headwater.cli import app
from scripts.catalogue import all_commands

COMMANDS = dict(all_commands(typer.main.get_command(app)))


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")


def shown(*words: str) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return re.sub(r"\s+", " ", result.output)


@pytest.mark.parametrize(
    ("command", "default"),
    [
        ("lineage", "Folder of the spool and the local Neo4j. [default: (~/.headwater)]"),
        ("pipeline backfill", "with their reasons. [default: (`dead` in the home)]"),
        ("pipeline stream", "cannot be folded. [default: (TOPIC-dead, CHECKPOINT-dead)]"),
        (
            "ingest",
            (
                "Address of the API; its key is read from HEADWATER_API_KEY. "
                "[default: (HEADWATER_URL, or the home)]"
            ),
        ),
        ("lineage", "Number of jobs or runs to cross. [default: 10]"),
    ],
)
def test_a_default_is_shown(command: str, default: str) -> None:
    assert default in shown(*command.split())


def test_the_list_of_commands_cuts_no_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = CliRunner().invoke(app, ["--help"]).output
    assert listed.count("...") == 1, "COMMAND [ARGS]..."
    assert max(map(len, listed.splitlines())) <= 80
    words = re.sub(r"\s+", " ", listed)
    assert "Rank the possible causes of bad data: failures, inputs, schema, columns, code." in words


@pytest.mark.parametrize("command", COMMANDS)
def test_a_choice_is_read_in_any_case(command: str) -> None:
    # Answers print FAIL and DATASET, so the options take them too.
    choices = [one for one in COMMANDS[command].params if one.type_descriptor.is_choice]
    assert [one.name for one in choices if one.type_descriptor.case_sensitive] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_prints_every_word_of_its_texts(command: str) -> None:
    printed = shown(*command.split())
    one = COMMANDS[command]
    for text in (one.help, *(parameter.help for parameter in one.params)):
        assert re.sub(r"\s+", " ", text or "").strip() in printed
    for option in one.params:
        if isinstance(option, TyperOption) and isinstance(option.show_default, str):
            assert f"[default: ({option.show_default})" in printed
