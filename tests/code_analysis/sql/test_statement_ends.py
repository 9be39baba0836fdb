"""Where statements end, and the work that this takes."""

from __future__ import annotations

import re

import pytest

from headwater.code_analysis.sql import statement_ends
from headwater.code_analysis.sql.statement_ends import StatementEnds


def parts(text: str, dialect: str = "postgres") -> list[str]:
    """Return the statements of a text without the comments before them."""
    ends, start, found = StatementEnds(text, dialect), 0, []
    while start < len(text):
        end, following = ends.next_end(start)
        found.append(text[ends.skip_comments(start, end) : end])
        start = following
    return found


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "a /* ; */ b; c", ["a /* ; */ b", "c"]),
        ("postgres", "a /* b; c", ["a /* b", "c"]),
        ("postgres", "/* a */ -- ;\n b;", ["b"]),
        ("postgres", "a $x$ ; $y$ ; $x$; b", ["a $x$ ; $y$ ; $x$", "b"]),
        ("postgres", "a $x$ ; b", ["a $x$ ", "b"]),
        ("postgres", "a $x$y$ ; $y$; b", ["a $x$y$ ; $y$", "b"]),
        ("tsql", "a [b;c]; d [e; [f;g]", ["a [b;c]", "d [e", "[f;g]"]),
        ("tsql", "a;\n  go  \nb", ["a", "", "b"]),
        ("mysql", "a 'b\\\n;'; c", ["a 'b\\\n;'", "c"]),
        ("mysql", "a 'b; c", ["a 'b", "c"]),
        ("bigquery", 'a """ ; " ; c', ['a """ ; " ', "c"]),
    ],
)
def test_comments_and_quotes(dialect: str, text: str, expected: list[str]) -> None:
    assert parts(text, dialect) == expected


def test_a_block_in_a_routine_ends_before_an_if() -> None:
    routine = "create procedure p() begin begin a; end; if b then c; end if; end"
    assert parts(f"{routine}; d;") == [routine, "d"]


class CountedWords:
    """A pattern that counts the characters that it searches."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.characters = 0
        self._pattern = pattern

    def findall(self, text: str) -> list[str]:
        self.characters += len(text)
        return list(self._pattern.findall(text))


def test_the_words_of_an_open_routine_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    words = CountedWords(statement_ends._BLOCK_WORDS)
    monkeypatch.setattr(statement_ends, "_BLOCK_WORDS", words)
    text = "create procedure p() begin " + "a;" * 2_000
    assert parts(text) == [text]
    assert words.characters < len(text)


def test_a_mark_that_is_missing_is_not_looked_for_at_each_opening() -> None:
    """Each of these took time by the square of the length: 200,000 openings, for minutes."""
    for dialect, opening in (
        *(("tsql", "/* "), ("tsql", "["), ("tsql", "$a$b ")),
        *(("mysql", '\\"'), ("mysql", r"\'"), ("bigquery", '\\"""')),
    ):
        assert parts(opening * 100_000 + "; x", dialect)[-1] == "x"
