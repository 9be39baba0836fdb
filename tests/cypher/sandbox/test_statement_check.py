"""The words of a statement from outside: parsed exactly, or refused, without a server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cypher.sandbox.policy import PROCEDURES
from headwater.cypher.sandbox.statement_check import (
    GROWTH_MAX,
    STEPS_MAX,
    Statement,
)
from headwater.cypher.sandbox.tokens import DEPTH_MAX, TEXT_CHARACTERS_MAX
from headwater.errors import QueryError

GAPS = st.sampled_from(
    [" ", "\n", "\t", "/* x */", "/**/", "/* ' */", "// so\n", '// "\n', "\r\n", "/* `*/"]
)
BEFORE = st.sampled_from(
    [
        "",
        "RETURN '/*' AS a, ",
        'RETURN "//" AS a, ',
        "RETURN `'` AS a, ",
        "RETURN '\\\\' AS a, ",
        "/* '*/ ",
        '// "\n',
    ]
)
ENDINGS = st.sampled_from(["", " '", ' "', " `", " */", " // '", "''"])


def check(text: str, **parameters: object) -> None:
    Statement(text, parameters).require_bounded(PROCEDURES)


@given(BEFORE, st.lists(GAPS, min_size=1, max_size=4), ENDINGS, st.booleans())
def test_nothing_around_it_hides_a_file(
    before: str, gaps: list[str], ending: str, small: bool
) -> None:
    words = f"LOAD{''.join(gaps)}CSV FROM 'file:///x' AS l"
    with pytest.raises(QueryError):
        check(before + (words.lower() if small else words) + ending)


@given(
    BEFORE,
    st.lists(GAPS, min_size=1, max_size=4),
    st.sampled_from(["db.info()", "dbms.x", "`db`.labels()"]),
)
def test_nothing_around_it_hides_a_call(before: str, gaps: list[str], procedure: str) -> None:
    with pytest.raises(QueryError):
        check(f"{before}CALL{''.join(gaps)}{procedure}")


@given(st.text(max_size=80))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    refusals = []
    try:
        check(text)
    except QueryError as refusal:
        refusals.append(refusal)
    assert all(refusal.hint for refusal in refusals)


@given(st.text(max_size=40))
def test_quoted_text_is_no_word(text: str) -> None:
    if text.isprintable() and "\\" not in text and "'" not in text:
        check(
            f"MATCH (n) WHERE n.name = '{text} LOAD CSV reduce( CALL dbms.x()' RETURN "
            f"n.name AS name"
        )


def test_growth_is_bounded_by_its_result() -> None:
    doubling = "WITH s + s AS s "
    times = GROWTH_MAX.bit_length() - 1
    check("WITH 'x' AS s " + doubling * times + "RETURN s")
    with pytest.raises(QueryError, match="too many steps"):
        check("WITH 'x' AS s " + doubling * (times + 1) + "RETURN s")
    check("RETURN " + " + ".join(f"n.p{number}" for number in range(100)) + " AS all")
    check(
        "MATCH (n) WHERE n.status IN ['A', 'B', 'C'] " + "WITH n, [1, 2, 3] AS l " * 20 + "RETURN n"
    )


def test_too_long_or_too_deep_statements_are_refused() -> None:
    check("RETURN " + "(" * DEPTH_MAX + "1" + ")" * DEPTH_MAX)
    with pytest.raises(QueryError, match="nested"):
        check("RETURN " + "([" * DEPTH_MAX + "1" + "])" * DEPTH_MAX)
    with pytest.raises(QueryError, match="longer"):
        check("RETURN 1 //" + "x" * TEXT_CHARACTERS_MAX)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a|b)*",
        "(.*){3}",
        "a*a*a*a*c",
        ".*orders.*",
        r"a\\*b*",
        "a{2,}b*",
        "(a|a)" * 9,
        "a?" * 9 + "a" * 9,
        "a{0,100}a{0,100}a{0,100}c",
        "a{2,1000}",
        "a{1,20}" * 8 + "c",
        "a{0,9}" * 3 + "c",
        "a?" * 5 + "a{1,20}c",
        "a{x}",
        "(?=a*)b",
        r"(a)\1",
        "x" * 201,
        5,
        None,
    ],
)
def test_a_pattern_that_could_take_for_ever_is_refused(pattern: object) -> None:
    with pytest.raises(QueryError, match="=~"):
        check("MATCH (n) WHERE n.name =~ $pattern RETURN n", pattern=pattern)


def test_the_refusal_of_a_pattern_names_a_search_that_is_allowed() -> None:
    with pytest.raises(QueryError) as raised:
        check("MATCH (d:Dataset) WHERE d.name =~ '(?i).*order.*' RETURN d.name")
    search = "toLower(d.name) CONTAINS 'order'"
    assert search in raised.value.hint
    check(f"MATCH (d:Dataset) WHERE {search} RETURN d.name")


OPTION = "CYPHER statefulShortestPlanningMode=all_if_possible"


@pytest.mark.parametrize(
    "prefix",
    [
        "CYPHER",
        "CYPHER planner=dp",
        "cypher /* so */ connectComponentsPlanner=greedy planner=dp",
        "CYPHER 5",
        "CYPHER 25 planner=dp",
        f"{OPTION} planner=dp",
        f"{OPTION} CYPHER planner=dp",
        OPTION.replace("all_if", "into_if"),
    ],
)
def test_options_of_the_planner_are_refused(prefix: str) -> None:
    with pytest.raises(QueryError, match="option of the planner"):
        check(f"{prefix} MATCH (n) RETURN n")


@pytest.mark.parametrize("prefix", ["EXPLAIN", "profile", f"{OPTION} EXPLAIN"])
def test_plans_are_refused(prefix: str) -> None:
    with pytest.raises(QueryError, match="returns a plan"):
        check(f"{prefix} MATCH (n) RETURN n")


def test_the_option_of_long_traversals_is_allowed() -> None:
    check(f"{OPTION}\nMATCH (n) RETURN n")
    check(f"{OPTION.lower()} MATCH (n) WHERE n.name = 'a' RETURN n")


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "raw.*",
        r".*\.csv",
        "(?i)raw_(a|b|c)",
        "[a-z]{2,5}_v[0-9]+",
        "(?is)a?b?c?",
        "a{3}",
        "a{3}" * 8,
        "[a-z]{2,20}-[0-9]{1,20}",
    ],
)
def test_a_pattern_with_one_unbounded_repeat_is_allowed(pattern: str) -> None:
    check("MATCH (n) WHERE n.name =~ $pattern RETURN n", pattern=pattern)


@pytest.mark.parametrize(
    "source",
    [
        "nodes(p)",
        "relationships(p)[1..]",
        "labels(n)",
        "range(1, 100)",
        "[n.name, n.urn, 'x']",
        "n.tags",
        "`n`.tags",
    ],
)
@pytest.mark.parametrize(
    "loop", ["[x IN %s WHERE x > 1 | x.name]", "[x IN %s | 1]", "any(x IN %s WHERE x > 1)"]
)
def test_loops_over_short_lists(loop: str, source: str) -> None:
    check(f"MATCH p = (n)-->() RETURN {loop % source} AS value")


@pytest.mark.parametrize(
    "source",
    [
        "l",
        "$names",
        "nodes(p) + l",
        "(nodes(p))",
        "nodes(p)[0..2] + l",
        "split(n.name, '')",
        "keys($names)",
        "coalesce(l, nodes(p))",
        "m.tags",
        "`m`.tags",
        "$names.tags",
        "nodes(p)[0].tags + l",
        f"[{', '.join(['1'] * 101)}]",
    ],
)
@pytest.mark.parametrize(
    "loop", ["[x IN %s WHERE x > 1]", "[`x` IN %s | 1]", "none(x IN %s WHERE x > 1)"]
)
def test_loops_over_lists_of_any_length(loop: str, source: str) -> None:
    with pytest.raises(QueryError, match="a list of any length"):
        check(
            "MATCH p = (n)-->() WITH p, collect(n) AS l WITH p, l, {tags: l} AS m "
            f"RETURN {loop % source} AS value"
        )
    check("MATCH (n) WITH collect(n) AS l RETURN COLLECT { UNWIND l AS x RETURN x.name } AS names")


def test_ranges_in_expressions() -> None:
    with pytest.raises(QueryError, match="range in an expression"):
        check("RETURN [x IN range(1, 101) | x] AS value")


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)—(b) RETURN a",
        "MATCH (a)-‐＞(b) RETURN a",
        "RETURN\u00a01 AS x",
        "RETURN ١ AS x",
        "MATCH (größe) RETURN größe",
    ],
)
def test_signs_outside_of_ascii(text: str) -> None:
    with pytest.raises(QueryError, match="outside ASCII"):
        check(text)


def test_quoted_signs_outside_of_ascii() -> None:
    check("MATCH (`größe`) WHERE `größe`.name = '—' /* — */ RETURN `größe`.name // ١")


@pytest.mark.parametrize(
    "function", ["toStringList", "toFloatList", "tointegerlist", "toBooleanList"]
)
def test_conversions_of_lists(function: str) -> None:
    # A million numbers take nine seconds, and no limit on time ends it.
    with pytest.raises(QueryError, match=f"{function} takes a list of any length"):
        check(f"MATCH (n) WITH collect(n.x) AS l RETURN {function}(l)")
    with pytest.raises(QueryError, match="takes a list of any length"):
        check(f"MATCH (n) WITH n, collect(n.x) AS l RETURN {function}({function}(n.tags))")
    check(f"MATCH (n) RETURN {function}(n.tags), {function}([1, 2])")


@pytest.mark.parametrize(
    "step",
    [
        "l = m",
        "l <> m",
        "l <= m",
        "l > m",
        "3 IN l",
        "CASE l WHEN m THEN 1 END",
        "l IS :: LIST",
        "l IS NOT TYPED LIST",
        "nullIf(l, m)",
        "size(tail(l))",
        "head(reverse(l))",
        "valueType(l)",
        "last(l[1..])",
        "n.x CONTAINS 'a'",
        "replace(n.x, 'a', 'b')",
        "btrim(n.x, 'a')",
    ],
)
def test_steps_through_lists(step: str) -> None:
    def steps(count: int) -> str:
        start = "MATCH (n) WITH n, collect(n.x) AS l, collect(n.y) AS m RETURN "
        return start + ", ".join([f"{step} AS `{at}`" for at in range(count)])

    with pytest.raises(QueryError, match="steps that may go through a list or text"):
        check(steps(STEPS_MAX + 1))
    check(steps(STEPS_MAX // 2))


def test_arrows_are_no_steps_through_lists() -> None:
    path = f"MATCH (a){'-->()<--()' * 5}-->(b) WITH b AS a"
    check(f"{' '.join([path] * 3)} RETURN a")


SEARCHES = ["n.x CONTAINS {}", "split(n.x, {})", "replace(n.x, {}, 'b')", "btrim(n.x, {})"]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    "needle",
    [
        "n.y",
        "$long",
        "$short + n.y",
        "toLower(n.y)",
        "left(n.y, 201)",
        "left(n.y, n.z)",
        "'a' + n.y",
        f"'{'a' * 201}'",
        "$list[0]",
        "coalesce(n.y, 'a')",
        "$map.a",
        "left('a', 1) || n.y",
    ],
)
def test_what_is_searched_for_is_short(search: str, needle: str) -> None:
    # 20 times btrim with texts of 120,000 characters kept Neo4j busy for minutes.
    parameters = {"long": "a" * 201, "short": "a", "list": ["a"], "map": {"a": "a"}}
    with pytest.raises(QueryError, match="searches for a text of any length"):
        check(f"MATCH (n) RETURN {search.format(needle)}", **parameters)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    "needle", ["'a'", "$short", "$none", "toLower($short)", "toUpper(left(n.y, 200))", "$`short`"]
)
def test_a_short_text_may_be_searched_for(search: str, needle: str) -> None:
    check(f"MATCH (n) RETURN {search.format(needle)} AND true", short="a" * 200, none=None)


def test_trims_without_characters_and_names_are_no_searches() -> None:
    check("MATCH (n) RETURN btrim(n.x), n.contains = 1, n.split, trim(BOTH 'x' FROM n.y)")
