"""Query logs: their formats, columns and times, and rows that cannot be read."""

from __future__ import annotations

import io

import pytest

from headwater.importers.report import ImportReport
from headwater.importers.sql import logs
from headwater.importers.sql.logs import LoggedQuery, SqlFile, bounded_lines, read_queries

DAY = 1_793_491_200_000_000  # 2026-11-01T00:00:00Z


def read(name: str, text: str) -> tuple[list[LoggedQuery], list[tuple[str, str]]]:
    report = ImportReport()
    found = list(read_queries(SqlFile(name, text.splitlines(keepends=True)), report))
    return found, [(one.place, one.reason) for one in report.problems]


def test_a_script_is_one_text_without_a_time() -> None:
    (query,), problems = read("a.sql", "select 1;\nselect 2;\n")
    assert (query.text, query.time, query.is_script, problems) == (
        "select 1;\nselect 2;\n",
        None,
        True,
        [],
    )


def test_rows_of_csv_may_have_several_lines() -> None:
    queries, problems = read(
        "log.csv",
        'time,user,database,query\n2026-11-01,etl,shop,"insert into a\nselect 1"\n'
        "2026-11-01T01:00:00Z,ana,shop,select 2\n,,,\n",
    )
    assert [(one.line, one.user, one.database, one.time) for one in queries] == [
        (2, "etl", "shop", DAY),
        (4, "ana", "shop", DAY + 3_600_000_000),
    ]
    assert problems == [("log.csv:5", "the row has no query")]


def test_names_of_columns_in_the_logs_of_engines() -> None:
    row = (
        '{"QUERY_TEXT": "select 1", "START_TIME": "2026-11-01 00:00:00.000 +0000", "SESSION_ID": 7,'
        ' "USER_NAME": "ETL", "DATABASE_NAME": "SHOP", "SCHEMA_NAME": "RAW", "QUERY_ID": "q1",'
        ' "END_TIME": "2026-11-01 00:00:01 UTC", "EXECUTION_STATUS": "FAILED_WITH_ERROR",'
        ' "ERROR_MESSAGE": "no such table"}'
    )
    (query,), problems = read("log.jsonl", row)
    assert problems == []
    assert query == LoggedQuery(
        "select 1",
        "log.jsonl",
        1,
        time=DAY,
        end=DAY + 1_000_000,
        user="ETL",
        database="SHOP",
        schema="RAW",
        session="7",
        id="q1",
        error="no such table",
    )


@pytest.mark.parametrize(
    "time",
    [
        *("1793491200", "1793491200000", '"2026-11-01 00:00:00+00"'),
        '"2026-11-01 00:00:00   +00:00"',
    ],
)
def test_forms_of_a_time(time: str) -> None:
    (query,), _ = read("log.jsonl", f'{{"query": "select 1", "time": {time}}}')
    assert query.time == DAY


def test_a_row_that_cannot_be_read_stops_no_other() -> None:
    queries, problems = read(
        "log.jsonl",
        '{"query": "select 1"}\n{broken\n[1]\n{"query": "select 2", "time": "noon"}\n{"query": "select 3"}\n',
    )
    assert [one.text for one in queries] == ["select 1", "select 3"]
    assert problems == [
        ("log.jsonl:2", "the line is not a JSON object"),
        ("log.jsonl:3", "the line is not a JSON object"),
        ("log.jsonl:4", "time 'noon' is not a time"),
    ]


@pytest.mark.parametrize(
    ("text", "is_script"),
    [
        ("select 1, query from t;", True),
        ('{"query": "select 1"}', False),
        ("time,query\n1,x", False),
    ],
)
def test_the_format_of_standard_input(text: str, is_script: bool) -> None:
    (query,), _ = read("stdin", text)
    assert query.is_script is is_script


@pytest.mark.parametrize(
    ("status", "error"),
    [("SUCCESS", ""), ("DONE", ""), ("ABORTED", "the query ended as ABORTED")],
)
def test_a_failed_status(status: str, error: str) -> None:
    (query,), _ = read("log.jsonl", f'{{"query": "select 1", "state": "{status}"}}')
    assert query.error == error


def test_a_script_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "SCRIPT_CHARACTERS_MAX", 20)
    assert read("a.sql", "select 1;\nselect 2;\n")[1] == []
    assert read("a.sql", "select 1;\nselect 2;\n\n") == (
        [],
        [("a.sql", "the script is longer than 20 characters")],
    )


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.sql"])
def test_a_line_has_a_limit(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(logs, "LINE_CHARACTERS_MAX", 20)
    report = ImportReport()
    text = '{"query": "select"}\n' if name == "a.jsonl" else "query,\nselect,\n"
    lines = bounded_lines(io.StringIO(text + " " * 21))
    found = [query.text for query in read_queries(SqlFile(name, lines), report)]
    assert found == ([] if name == "a.sql" else ["select"])
    number = text.count("\n") + 1
    assert [(one.place, one.reason) for one in report.problems] == [
        (name, f"line {number} is longer than 20 characters")
    ]


@pytest.mark.parametrize(
    "time",
    [
        '"nan"',
        '"infinity"',
        "NaN",
        "Infinity",
        "1e308",
        "1e999",
        "-1e17",
        "9" * 400,
        f'"x{" " * 99_999}y"',
    ],
)
def test_a_time_that_is_no_moment_stops_no_other_row(time: str) -> None:
    queries, problems = read(
        "log.jsonl",
        f'{{"query": "select 1", "time": {time}}}\n{{"query": "select 2", "end": {time}}}\n'
        '{"query": "select 3", "time": 1}\n',
    )
    assert [(one.text, one.time) for one in queries] == [("select 3", 1_000_000)]
    assert [place for place, _ in problems] == ["log.jsonl:1", "log.jsonl:2"]
    assert all("is not a time" in reason for _, reason in problems)
