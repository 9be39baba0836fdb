"""`:param` lines before a statement, as cypher-shell takes them."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cli.shell_parameters import parse_shell_statement
from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import find_query
from headwater.cypher.sandbox.run import run_audit, run_text
from headwater.cypher.shell_text import cypher_literal, shell_text
from headwater.errors import QueryError
from tests.canonical import empty
from tests.run_builders import run, write_events


@pytest.mark.parametrize(
    "value", [True, False, None, 0, -3, 0.5, 1e-7, "", "a\\b'\n\t\"", "it's $limit // no", "=> ;x"]
)
def test_scalars_become_parameters(value: Any) -> None:
    found = parse_shell_statement(f":param a => {cypher_literal(value)}\nRETURN $a")
    assert found == ("\nRETURN $a", {"a": value})


def test_a_number_that_python_cannot_hold_is_refused() -> None:
    with pytest.raises(QueryError, match="`a` is a number of 5,000 digits"):
        parse_shell_statement(f":param a => {'9' * 5_000}\nRETURN $a")


def test_other_values_replace_their_parameters() -> None:
    text = """// A question with its parameters.
:param since => datetime('2026-01-31')
:param names => ['a', "b"];
:param limit => 5

MATCH (r) // not $since
WHERE r.at >= $since AND r.name IN $names AND r.text <> '$since' AND r.`$names` = $`since`
RETURN r.sincerely, $sinceThen LIMIT $limit;"""
    found = parse_shell_statement(text)
    assert found.parameters == {"limit": 5}
    assert found.text.split("\n") == [
        "// A question with its parameters.",
        *("", "", "", ""),
        "MATCH (r) // not $since",
        (
            "WHERE r.at >= (datetime('2026-01-31')) AND r.name IN (['a', \"b\"]) "
            "AND r.text <> '$since' AND r.`$names` = (datetime('2026-01-31'))"
        ),
        "RETURN r.sincerely, $sinceThen LIMIT $limit;",
    ]


def test_a_given_parameter_and_the_last_line_win() -> None:
    text = ":param a => 1\n:param b => [1]\n:param a => 2\n:param `b c` => 3\nRETURN $a, $b"
    assert parse_shell_statement(text, given={"b"}) == (
        "\n\n\n\nRETURN $a, $b",
        {"a": 2, "b c": 3},
    )


def test_a_label_at_the_start_of_a_line_is_no_command() -> None:
    text = "MATCH (n\n:Job)\nRETURN n"
    assert parse_shell_statement(text) == (text, {})


@pytest.mark.parametrize("line", [":begin", ":param", ":param a", ":param a =>", ":use system"])
def test_other_commands_are_refused(line: str) -> None:
    with pytest.raises(QueryError, match=r"line 2: .* is not `:param NAME => VALUE`") as refused:
        parse_shell_statement(f"\n{line}\nRETURN 1")
    assert "datetime" in refused.value.hint


def test_a_time_without_quotes_is_refused() -> None:
    with pytest.raises(QueryError, match="is the subtraction 2026-01-31, not a time") as refused:
        parse_shell_statement(":param since => 2026-01-31\nRETURN $since")
    assert "datetime('2026-01-31')" in refused.value.hint


@pytest.mark.neo4j
def test_printed_queries_of_the_library_run_as_statements(database: Database) -> None:
    empty(database)
    write_events(database, run("r1", "load", ["raw"], ["clean"], status="FAIL"))
    for name in ("cost", "run_inputs_outputs", "stale_datasets", "unfinished_runs", "unowned"):
        found = parse_shell_statement(shell_text(find_query(name)))
        run_text(database, found.text, found.parameters)
    given = {"since": "2026-01-01"}
    found = parse_shell_statement(shell_text(find_query("failed_runs"), given))
    rows = run_text(database, found.text, found.parameters).rows
    assert rows == run_audit(database, "failed_runs", given).rows
    assert [row["runId"] for row in rows] == ["r1"]
