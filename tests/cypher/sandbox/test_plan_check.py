"""Statements that the planner of Neo4j would take long for are refused, without a server."""

from __future__ import annotations

import pytest

from headwater.cypher.sandbox.plan_check import (
    ALTERNATIVES_MAX,
    GROUPS_MAX,
    PARTS_MAX,
    PARTS_OF_STATEMENT_MAX,
)
from headwater.cypher.sandbox.policy import PROCEDURES
from headwater.cypher.sandbox.statement_check import Statement
from headwater.errors import QueryError


def check(text: str) -> None:
    Statement(text, {}).require_bounded(PROCEDURES)


def test_the_planner_is_not_given_an_expression_that_it_doubles() -> None:
    conditions = [f"(n.a{number} = 1 OR n.b{number} = 2)" for number in range(6)]
    with pytest.raises(QueryError, match="more than 4 XOR"):
        check(f"MATCH (n) WHERE {' XOR '.join(conditions)} RETURN n")
    check(f"MATCH (n) WHERE {' xor '.join(conditions[:5])} RETURN n.`xor`")


@pytest.mark.parametrize(
    "labels",
    [
        "&".join(f"(A{number}|B{number})" for number in range(11)),
        "|".join(f"A{number}" for number in range(12)),
        ":".join(f"(A{number} /* */ | `B|{number}`)" for number in range(11)),
    ],
)
def test_too_many_alternatives_for_the_planner(labels: str) -> None:
    with pytest.raises(QueryError, match="AND or OR between labels"):
        check(f"MATCH (n:{labels}) RETURN n")


def test_alternatives_within_the_limit() -> None:
    check(f"MATCH (n:{'&'.join(f'(A{number}|B{number})' for number in range(5))}) RETURN n")
    check(f"RETURN {' || '.join(['n.name'] * 30)} AS text")


@pytest.mark.parametrize("kind", ["EXISTS", "COUNT", "COLLECT"])
def test_deeply_nested_subqueries(kind: str) -> None:
    def nested(depth: int) -> str:
        inner = "".join(f"{kind} {{ MATCH (n{at})-->(n{at + 1}) WHERE " for at in range(depth))
        return f"MATCH (n0) WHERE {inner}true{' RETURN 1 }' * depth} RETURN n0"

    with pytest.raises(QueryError, match="nested more than 8 deep"):
        check(nested(9))
    check(nested(8))


@pytest.mark.parametrize("word", ["OR", "AND"])
@pytest.mark.parametrize(
    "test",
    [
        "n:A",
        "(n:A)",
        "NOT n:A",
        "NOT (n:A AND n.b = 1)",
        "n IS A",
        "(n):A",
        "NOT ((n)) : A",
        "(n) IS A",
        "n.b IS NULL = startNode(r):A",
    ],
)
def test_joined_labels(word: str, test: str) -> None:
    def joined(words: int) -> str:
        return f"MATCH (n) WHERE {f' {word} '.join([test] * (words + 1))} RETURN n"

    with pytest.raises(QueryError, match="AND or OR between labels"):
        check(joined(ALTERNATIVES_MAX + 1))
    check(joined(ALTERNATIVES_MAX))
    with pytest.raises(QueryError, match="AND or OR between labels"):
        check(joined(1).replace("(n)", f"(n:{'|'.join('A' * (ALTERNATIVES_MAX + 1))})"))


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (n:" + "&".join(f"(!(!A{at}&!B{at}))" for at in range(12)) + ") RETURN n",
        "MATCH (n) WHERE "
        + " AND ".join(f"NOT (NOT n:A{at} AND NOT n:B{at})" for at in range(12))
        + " RETURN n",
        "MATCH (n) WHERE " + " AND ".join(f"n:!(!A{at}&!B{at})" for at in range(12)) + " RETURN n",
        "MATCH (n) WHERE NOT (" + " AND ".join(f"n:!A{at}" for at in range(12)) + ") RETURN n",
    ],
)
def test_negated_labels_are_alternatives_too(statement: str) -> None:
    with pytest.raises(QueryError, match="AND or OR between labels"):
        check(statement)


def test_values_joined_by_or_are_no_alternatives() -> None:
    check(f"MATCH (n) WHERE {' OR '.join(['n.name IS NULL', 'n.b IS NOT NULL'] * 20)} RETURN n")


def test_deeply_nested_conditions() -> None:
    def nested(depth: int) -> str:
        return f"MATCH (n) WHERE {'n.a = 1 AND (n.c = 2 OR ' * depth}true{')' * depth} RETURN n"

    with pytest.raises(QueryError, match=f"nested more than {GROUPS_MAX} deep"):
        check(nested(GROUPS_MAX + 1))
    with pytest.raises(QueryError, match=f"nested more than {GROUPS_MAX} deep"):
        check(f"MATCH (n) WHERE {'(' * 9}true{')' * 9} RETURN n")
    check(nested(GROUPS_MAX))
    check(f"RETURN {'toUpper(' * 9}'a'{')' * 9} AS text")


@pytest.mark.parametrize(
    "relationship", ["--", "-->", "<--", "-[r]-", " -[:FEEDS*1..3]-> ", "<-[r:FEEDS]-"]
)
def test_long_paths(relationship: str) -> None:
    def path(parts: int, node: str = "()") -> str:
        return f"MATCH {relationship.join([node] * parts)} RETURN 1"

    for node in ("()", "(:Job {urn: 'x'})", "(WHERE 1 = 1)"):
        with pytest.raises(QueryError, match=f"more than {PARTS_MAX} parts"):
            check(path(PARTS_MAX + 1, node))
        check(path(PARTS_MAX, node))


def test_patterns_of_many_paths_and_clauses() -> None:
    for text in (
        f"MATCH {', '.join(['(:Job)'] * 13)} RETURN 1",
        f"MATCH (n) {' '.join(['MATCH (n)-->()'] * 6)} RETURN 1",
        f"MATCH (n) {' '.join(['OPTIONAL MATCH (n)-->()'] * 6)} RETURN 1",
        f"MATCH (n) WHERE {' OR '.join(['(n)-->()'] * 12)} RETURN 1",
        f"MATCH (n) RETURN EXISTS {{ {'-->'.join(['()'] * 14)} }}",
        f"MATCH (a) WHERE EXISTS {{ (a)-->() }} MATCH {'-->'.join(['()'] * 12)} RETURN 1",
    ):
        with pytest.raises(QueryError, match=f"more than {PARTS_MAX} parts"):
            check(text)


def test_a_statement_of_many_patterns() -> None:
    def patterns(count: int) -> str:
        return " ".join(["MATCH (n)-->(m) WITH m AS n"] * count) + " RETURN n"

    with pytest.raises(QueryError, match=f"the statement more than {PARTS_OF_STATEMENT_MAX}"):
        check(patterns(PARTS_OF_STATEMENT_MAX // 2 + 1))
    check(patterns(PARTS_OF_STATEMENT_MAX // 2))


def test_arithmetic_and_arguments_are_no_patterns() -> None:
    check(f"RETURN {' - '.join(['(1)'] * 20)} AS a, {'(1) <- 1 AND ' * 14} true AS b")
    check(f"RETURN coalesce({', '.join(['n.name'] * 20)}) AS name")


@pytest.mark.parametrize("word", ["with", "Call", "RETURN", "union", "UNWIND", "match", "xor"])
@pytest.mark.parametrize(
    "name",
    [
        "(n:{})",
        "(n:A|{})",
        "(n IS {})",
        "({})",
        "({}:A)",
        "(n {{{}: 1}})",
        "(n)-[:{}]->()",
        "(n)-[{}]->()",
        "(n)-[*]->() WHERE n.{} = 1",
        "(n) WHERE ${} = 1",
        "(n) WHERE 2 * {}.a = 1",
        "(n) WHERE true AND {}.a",
        "(n) WHERE CASE {} WHEN 1 THEN true END",
    ],
)
def test_words_of_cypher_are_no_names(word: str, name: str) -> None:
    with pytest.raises(QueryError, match="is a word of Cypher and no name here") as error:
        check(f"MATCH {name.format(word)} RETURN 1")
    assert error.value.hint == f"Write `{word}`."
    check(f"MATCH {name.format(f'`{word}`')} RETURN 1")


def test_words_of_cypher_where_they_belong() -> None:
    check("MATCH (n) WITH * MATCH (m) WITH DISTINCT * WHERE n.a STARTS WITH 'b' RETURN *")
    check("MATCH (n) RETURN * UNION DISTINCT MATCH (n) RETURN * UNION ALL MATCH (n) RETURN *")
    check(
        "MATCH (n) WITH n LIMIT $limit RETURN n UNION MATCH (n) RETURN n.limit AS n UNION RETURN 1"
    )
    check("MATCH (n) WITH n, 1 AS limit MATCH (m) WHERE n.in OR n.a RETURN 1")
    check("CALL { MATCH (n) RETURN n } CALL (n) { WITH n OPTIONAL MATCH (n) RETURN 1 } RETURN 2")
    check("RETURN CASE WHEN 1 = 2 AND true OR [1] = [] XOR false THEN 3 ELSE 4 END AND 5 > 3")


@pytest.mark.parametrize("test", ["STARTS WITH", "ends with"])
def test_a_test_of_text_ends_no_pattern(test: str) -> None:
    condition = f"EXISTS {{ (n)-->() }} AND n.a {test} 'b' AND (n)-->()"
    with pytest.raises(QueryError, match=f"more than {PARTS_MAX} parts"):
        check(f"MATCH (n) WHERE {' AND '.join([condition] * PARTS_MAX)} RETURN 1")
    labels = " OR ".join([f"n.a {test} 'b' = n:A"] * (ALTERNATIVES_MAX + 2))
    with pytest.raises(QueryError, match="AND or OR between labels"):
        check(f"MATCH (n) WHERE {labels} RETURN 1")


def test_an_inline_condition_ends_no_other() -> None:
    condition = "any(x IN labels(n) WHERE n:A)"
    joined = " OR ".join([condition] * (ALTERNATIVES_MAX + 2))
    with pytest.raises(QueryError, match="AND or OR between labels"):
        check(f"MATCH (n) WHERE {joined} RETURN 1")
