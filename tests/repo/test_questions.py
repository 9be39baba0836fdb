"""docs/reference/questions.md holds every question, and each of its examples is valid."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise

import pytest
from graphql import OperationDefinitionNode, build_schema, parse, validate
from typer.main import get_command

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import find_query
from headwater.cypher.sandbox.parameters import parse_parameters
from headwater.cypher.sandbox.run import require_read_only
from headwater.graphql.schema import sdl
from scripts.catalogue import all_commands
from scripts.questions import Question, questions
from tests.repo.repository import text

PAGE = text("docs/reference/questions.md")
SCHEMA = build_schema(sdl())
COMMANDS = dict(all_commands(get_command(app)))
FENCED = re.compile(r"^```(\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
BLOCKS: list[tuple[str, str]] = FENCED.findall(PAGE)
CALLS = [
    line[2:]
    for language, said in BLOCKS
    if language == "console"
    for line in said.splitlines()
    if line[:2] == "$ "
]
HEADWATER = [line for line in CALLS if line.startswith("headwater ")]


def blocks(language: str) -> list[str]:
    return [said for one, said in BLOCKS if one == language]


def test_every_query_field_is_on_the_page() -> None:
    operations = [one for said in blocks("graphql") for one in parse(said).definitions]
    assert all(isinstance(one, OperationDefinitionNode) for one in operations)
    asked = {field.name.value for one in operations for field in one.selection_set.selections}  # type: ignore[attr-defined]
    assert SCHEMA.query_type is not None
    assert SCHEMA.subscription_type is not None
    assert {*SCHEMA.query_type.fields, *SCHEMA.subscription_type.fields} - asked == set()


def test_every_question_is_on_the_page_with_its_answers() -> None:
    listed = questions()
    assert [one.title for one in listed] == re.findall(r"^## (.+)$", PAGE, re.MULTILINE), (
        "run scripts.questions"
    )
    assert len(listed) > 30
    for one, section in zip(listed, PAGE.split("\n## ")[1:], strict=True):
        expected = [*_expected(one)]
        assert [language for language, _ in FENCED.findall(section)] == expected, one.title
        assert one.without or (one.graphql and one.cypher and one.cli) or one.http, (
            f"{one.title}: why not every form?"
        )


def _expected(question: Question) -> list[str]:
    """Return the languages of the blocks that a question and its answers have."""
    if question.meanwhile:
        return ["graphql", "console", "text"]
    cypher = ["console"] if question.cypher.startswith("headwater ") else ["cypher", "text"]
    return [
        *(["graphql", "json"] if question.graphql else []),
        *(cypher if question.cypher else []),
        *(["console"] if question.cli else []),
        *["console" for _ in question.http.strip().splitlines()],
    ]


def test_nothing_is_left_without_an_answer() -> None:
    for (language, asked), (_, said) in pairwise([*BLOCKS, ("", "")]):
        if language in {"graphql", "cypher"}:
            assert said, asked
    for said in blocks("console"):
        lines = said.splitlines()
        assert len(lines) > 1 or lines[0].startswith("$ curl"), said
    assert not re.search(r"RUN:|AGO \d|Traceback|127\.0\.0\.1|/tmp/", PAGE)


@pytest.mark.parametrize(
    "asked", blocks("graphql"), ids=lambda said: re.sub(r"\W+", " ", said)[:40]
)
def test_graphql_on_the_page_is_valid(asked: str) -> None:
    assert validate(SCHEMA, parse(asked)) == []


@pytest.mark.parametrize("line", HEADWATER)
def test_commands_on_the_page_are_commands(line: str) -> None:
    words = shlex.split(line)[1:]
    name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
    context = COMMANDS[name].make_context(name, words[len(name.split()) :])
    if name == "cypher":
        parameters = dict(one.split("=", 1) for one in context.params["param"])
        assert parse_parameters(find_query(f"audit/{context.params['name']}"), parameters)


@pytest.mark.neo4j
def test_cypher_on_the_page_is_accepted(database: Database) -> None:
    assert len(blocks("cypher")) > 8
    for asked in blocks("cypher"):
        require_read_only(database, asked, {})
