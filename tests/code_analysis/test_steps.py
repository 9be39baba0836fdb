"""The bound on the work of reading code: lines that each use twice what the one before made."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from headwater.code_analysis.dbt.references import references_in_model
from headwater.code_analysis.model import ColumnLookup, FileContents, References, no_columns
from headwater.code_analysis.notebooks import references_in_notebook
from headwater.code_analysis.pyspark.references import references_in_python
from headwater.code_analysis.sql.ddl import read_statements
from headwater.code_analysis.sql.outputs import parse_query
from headwater.code_analysis.sql.references import references_in_sql
from headwater.code_analysis.sql.script import read_script
from headwater.code_analysis.steps import STEPS_MAX, Steps
from headwater.importers.report import ImportReport
from headwater.importers.sql.importer import SqlOptions, read_sql
from headwater.importers.sql.logs import SqlFile
from headwater.importers.sql.names import NameRules

TOO_MANY = f"the code takes more than {STEPS_MAX} steps to read"
JOIN = "select * from {before} a, {before} b"
# The first query, each further one, and the last one. `{before}` is the query before.
LINEAR = {
    "stars": ("select * from s", JOIN, "select * from {before}"),
    "one column of stars": ("select * from s", JOIN, "select z from {before}"),
    "named columns": (
        "select x, y from s",
        "select a.x, b.y, a.x + b.x as z{number} from {before} a join {before} b on a.x = b.x",
        "select x, y from {before}",
    ),
    "unions": (
        "select x from s",
        "select x from {before} union all select x from {before}",
        "select x from {before}",
    ),
    "unions of different width": (
        "select * from s",
        "select * from {before} union all select *, * from {before}",
        "select * from {before}",
    ),
    "filters": (
        "select * from s",
        "select * from {before} where k in (select k from {before})",
        "select * from {before}",
    ),
    "scalar queries": (
        "select x from s",
        "select (select max(x) from {before}) + (select min(x) from {before}) as x",
        "select * from {before}",
    ),
    "nested queries": (
        "select * from s",
        "select * from (select * from (select * from {before}) p) q, {before}",
        "select * from {before}",
    ),
    "recursive queries": (
        "select * from s",
        "select * from {before} a, {before} b union all select * from c{number} x, c{number} y",
        "select * from {before}",
    ),
}
# Their columns have places of their own, so that they double indeed.
DOUBLING = {
    "named": ("select x, y from s", JOIN, "select * from {before}"),
    "exceptions": (
        "select * from s",
        "select a.* except (x{number}), b.* from {before} a, {before} b",
        "select * from {before}",
    ),
    "aggregates": (
        "select * from s",
        "select (select max(k) from {before}) m, * from (select * from {before}) q, {before}",
        "select * from {before}",
    ),
}

# The first line of a script, each further one, and the last one.
SCRIPTS = {
    "texts": ("n = 'a'", "n = n + n", ""),
    "lists": ("n = ['a']", "n = [n, n]", ""),
    "texts of SQL": ("n = 'select a from t'", "n = n + ' union ' + n", "spark.sql(n)"),
    "f-strings": (f"n = '{'a' * 9_000}'", "spark.sql(f'select {{n}} from t')", ""),
    "columns of a list": (
        f"n = {['c'] * 300}\ndf = spark.table('t')",
        "df = df.select(n)",
        "",
    ),
    "columns of a frame": (
        "df = spark.table('t')",
        "df = df.withColumn('c{number}', F.lit(1))",
        "",
    ),
    "columns of no frame": (f"n = {['c'] * 300}", "f.select(n)", ""),
    "a long name of a column": (f"n = '{'c' * 9_000}'", "f.select(n)", ""),
    "a list that is run": (f"n = {['select 1'] * 300}", "f.sql(n)", ""),
    "a long name of a table": (f"n = '{'t.' * 9_000}t'", "df = spark.table(n)", ""),
    "a table of many parts": (f"df = spark.table('{'t.' * 9_000}t')", "df.x", ""),
    "a template": (
        f"n = 'select 1 {{# {'c' * 9_000} #}}'",
        "spark.sql(n)",
        "",
    ),
    "joined frames": ("df = spark.table('t')", "df = df.union(spark.table('t{number}'))", ""),
    "written frames": (
        "df = spark.table('t')",
        "df = df.union(spark.table('t{number}'))\ndf.write.saveAsTable('o{number}')",
        "",
    ),
}


def chain(shape: tuple[str, str, str], length: int) -> str:
    """Return a query whose WITH has `length` queries, each of which reads the one before."""
    first, further, last = shape
    named = [f"c0 as ({first})"]
    for number in range(1, length):
        query = further.format(before=f"c{number - 1}", number=number)
        named.append(f"c{number} as ({query})")
    recursive = "recursive " if "from c{number}" in further else ""
    return f"with {recursive}{', '.join(named)} {last.format(before=f'c{length - 1}')}"


def read(sql: str, columns: ColumnLookup = no_columns) -> tuple[References, int]:
    """Return the references of SQL, and the steps that they took."""
    steps = Steps()
    found = references_in_sql(sql, dialect="spark", columns=columns, steps=steps)
    return found, steps.count


@pytest.mark.parametrize("name", LINEAR)
def test_a_chain_takes_steps_by_its_length(name: str) -> None:
    short, short_steps = read(f"insert into t {chain(LINEAR[name], 20)}")
    long, long_steps = read(f"insert into t {chain(LINEAR[name], 40)}")
    # The named columns grow by one a link in one shape; in the others a link adds the same steps.
    assert long_steps < 5 * short_steps
    assert long_steps < 20_000
    for found in (short, long):
        assert found.unknown == ()
        assert found.tables == {("s",)}
        assert {flow.source for flow in found.flows} == {("s",)}


@pytest.mark.parametrize("name", DOUBLING)
def test_columns_that_double_are_unknown(name: str) -> None:
    sql = chain(DOUBLING[name], 40)
    found, steps = read(f"insert into t {sql}")
    assert found.unknown == (TOO_MANY,)
    # The step that exceeds the bound is not taken.
    assert steps <= 3 * STEPS_MAX
    assert read(chain(DOUBLING[name], 5))[0].unknown == ()


def test_known_columns_that_double_are_unknown() -> None:
    sql = chain(LINEAR["stars"], 40)
    assert read(sql, lambda _: ["k", "v"])[0].unknown == (TOO_MANY,)


def test_statements_of_one_text_share_the_steps() -> None:
    sql = chain(DOUBLING["named"], 14)
    assert read(sql)[0].unknown == ()
    assert read(f"{sql}; {sql}; {sql}; {sql}; {sql}")[0].unknown == (TOO_MANY,)


@pytest.mark.parametrize("name", [*LINEAR, *DOUBLING])
def test_the_columns_that_a_chain_defines(name: str) -> None:
    sql = chain({**LINEAR, **DOUBLING}[name], 40)
    assert len(parse_query(sql, "spark").columns) <= 40
    contents = FileContents()
    read_statements(f"create view v as {sql}", contents, "v.sql", "spark")
    assert list(contents.tables) == ["v"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_whose_values_double_is_unknown(name: str) -> None:
    first, further, last = SCRIPTS[name]

    def script(length: int) -> str:
        lines = (further.format(number=number) for number in range(length))
        return "\n".join([first, *lines, last])

    steps = Steps()
    found = references_in_python(script(2_000), steps=steps)
    assert found.unknown == (TOO_MANY,)
    # The step that exceeds the bound is not taken.
    assert steps.count <= 2 * STEPS_MAX
    assert references_in_python(script(5)).unknown == ()


def test_the_sql_of_a_script_shares_its_steps() -> None:
    sql = chain(DOUBLING["named"], 14)
    assert references_in_python(f"spark.sql('{sql}')").unknown == ()
    assert references_in_python(f"spark.sql('{sql}')\n" * 5).unknown == (TOO_MANY,)


@pytest.mark.parametrize("end", ["", " from from where ("])
def test_a_text_that_a_script_runs_again_and_again_is_parsed_some_times(end: str) -> None:
    sql = f"select {', '.join(f'a{number}' for number in range(2_000))} from t{end}"
    script = f"a = '{sql}'\n" + "spark.sql(a)\n" * 1_000
    steps = Steps()
    assert TOO_MANY in references_in_python(script, steps=steps).unknown
    # Refused attempts are counted, and not made.
    assert steps.count > STEPS_MAX
    assert TOO_MANY not in references_in_python(script[: len(sql) + 50]).unknown


def test_the_branches_of_a_template_share_the_steps() -> None:
    columns = ", ".join(f"a{number}" for number in range(12_000))
    branches = "".join(f"{{% elif b{number} %}} where y{number}" for number in range(9))
    model = f"select {columns} from t {{% if a %}} where x{branches} {{% endif %}}"
    assert TOO_MANY in references_in_model(model, dialect="spark").unknown
    assert references_in_model(f"select {columns} from t", dialect="spark").unknown == ()


def test_a_long_union_of_stars_takes_calls_by_its_length() -> None:
    def calls(branches: int) -> int:
        """Return the number of calls of Python functions that the reading takes."""
        sql = " union all ".join(f"select * from s{number}" for number in range(branches))
        count = 0

        def add(_frame: FrameType, event: str, _argument: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(add)
        try:
            found, _ = read(f"insert into t {sql}")
        finally:
            sys.setprofile(None)
        assert len(found.tables) == branches
        assert all(reference.by_position for reference in found.read)
        return count

    calls(1)
    assert calls(400) < 2.5 * calls(200)


def test_a_script_and_a_notebook() -> None:
    linear, doubling = chain(LINEAR["stars"], 40), chain(DOUBLING["named"], 40)
    [statement] = read_script(f"insert into t {linear};", "spark")
    assert statement.references(no_columns).tables == {("s",)}
    cell = f"# Databricks notebook source\n# MAGIC %sql\n# MAGIC {doubling}\n"
    assert references_in_notebook(cell, is_python=True).unknown == (TOO_MANY,)


def test_an_import_names_the_statement_that_takes_too_many_steps() -> None:
    lines = [f"insert into t {chain(LINEAR['stars'], 40)};\n"]
    lines += [f"insert into u {chain(DOUBLING['named'], 40)};\n"]
    report = ImportReport()
    options = SqlOptions(NameRules("a", dialect="spark"))
    events = list(read_sql([SqlFile("q.sql", lines, 0)], options, report))
    assert [event["outputs"][0]["name"] for event in events] == ["t"]
    assert [(one.place, one.reason) for one in report.problems] == [("q.sql:2", TOO_MANY)]
