"""Parsing SQL: dialects and bounds."""

from __future__ import annotations

import pytest

from headwater.code_analysis.model import UnreadableError
from headwater.code_analysis.sql.parse import (
    DEPTH_MAX,
    TEXT_LENGTH_MAX,
    TOKENS_MAX,
    dialect_of,
    parse_sql,
)


def test_dialects_by_the_names_that_producers_send() -> None:
    assert dialect_of(None, "POSTGRES") == "postgres"
    assert dialect_of("", "dbt", "snowflake://account") == "snowflake"
    assert dialect_of("dbt", "file") == ""


def test_statements_of_a_text_without_the_empty_ones() -> None:
    statements = parse_sql("select 1; -- end\n; drop table t;", "")
    assert [one.key for one in statements] == ["select", "drop"]


def test_an_unknown_dialect_is_guessed() -> None:
    assert len(parse_sql("select [a] from [t]", "")) == 1
    assert len(parse_sql("select `a` from `p-x.d.t`", "")) == 1


@pytest.mark.parametrize(
    ("text", "dialect", "problem"),
    [
        ("select from where", "", "cannot be read"),
        ("select a from t where (", "postgres", "cannot be read"),
        ("select 1", "klingon", "there is no dialect 'klingon'"),
        ("select '" + "x" * TEXT_LENGTH_MAX + "'", "", "longer than"),
        ("select " + "1," * TOKENS_MAX + "1", "", "more than"),
        ("select " + "(" * (DEPTH_MAX + 1) + "1" + ")" * (DEPTH_MAX + 1), "", "too deeply"),
    ],
)
def test_text_that_cannot_be_parsed(text: str, dialect: str, problem: str) -> None:
    with pytest.raises(UnreadableError, match=problem):
        parse_sql(text, dialect)


@pytest.mark.parametrize("kind", ["join", "left join", "full outer join"])
def test_joins_without_conditions_are_read_within_bounds(kind: str) -> None:
    """The parser doubles its work for each of these joins."""
    few = "select * from a " + " ".join(f"{kind} t{number}" for number in range(5))
    assert len(parse_sql(few, "spark")) == 1
    many = "select * from a " + " ".join(f"{kind} t{number}" for number in range(60))
    with pytest.raises(UnreadableError, match="steps to read"):
        parse_sql(many, "spark")
