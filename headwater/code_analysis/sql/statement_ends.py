"""Where the statements of a script begin and end, by the comments, quotes and blocks of a dialect.

The work grows with the length of the script: no mark is looked for again after a place behind which
there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property

from sqlglot.dialects.dialect import Dialect

# A semicolon that ends a line, also inside of a quote.
_LINE_END = re.compile(r";[ \t]*(?:--[^\n]*)?\n")
_SPACE = re.compile(r"\s*+")
# A routine is one statement up to its last END; only its calls run the statements in it.
ROUTINE = re.compile(
    r"create\s+(?:or\s+(?:replace|alter)\s+)?(?:\w+\s+){0,2}"
    r"(?:procedure|function|trigger|package)\b",
    re.IGNORECASE,
)
_BLOCK_WORDS = re.compile(r"\b(?:begin|case|end(?:\s+(?:if|loop|while|for|repeat))?)\b", re.I)
_BLOCK_COMMENT_END = "*/"
_LONG_QUOTES = ('"""', "'''")
_DOLLAR_QUOTE = re.compile(r"(?=(\$[A-Za-z_]*+\$))")

# A kind, and where the token starts and ends.
_Token = tuple[str, int, int]


class StatementEnds:
    """Finds the ends of the statements of one script."""

    def __init__(self, text: str, dialect: str) -> None:
        self._text = text
        self._pattern = _openings(dialect)
        self._quote_ends = _quote_ends(dialect)
        # By quote: the first one that is not closed.
        self._unclosed: dict[str, int] = {}

    def next_end(self, start: int) -> tuple[int, int]:
        """Return where the statement at `start` ends, and where the next one starts."""
        code: list[str] = []
        position, depth = start, 0
        is_routine: bool | None = None
        for kind, token_start, token_end in self._tokens(start):
            code.append(self._text[position:token_start])
            position = token_end
            if kind not in ("end", "go"):
                continue
            part = "".join(code)
            code.clear()
            if is_routine is None:
                is_routine = ROUTINE.match(part.lstrip()) is not None
            depth += _blocks_opened(part) if is_routine else 0
            if depth <= 0:
                return token_start, token_end
        return len(self._text), len(self._text)

    def skip_comments(self, start: int, end: int) -> int:
        """Return where the space and comments at `start` end, at most `end`."""
        while True:
            space = _SPACE.match(self._text, start, end)
            start = space.end() if space is not None else start
            token = next(self._tokens(start), None) if start < end else None
            if token is None or token[:2] != ("comment", start):
                return start
            start = min(token[2], end)

    def inner_end(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the first semicolon at the end of a line, and where the next line starts."""
        found = _LINE_END.search(self._text, start, end)
        return (found.start(), found.end()) if found is not None else None

    def _tokens(self, position: int) -> Iterator[_Token]:
        """Yield the comments, quotes and ends of statements from a position on."""
        while (opening := self._pattern.search(self._text, position)) is not None:
            kind, start, position = str(opening.lastgroup), opening.start(), opening.end()
            if kind in ("block", "dollar", "quote"):
                end = self._end_of_quote if kind == "quote" else self._end_of_block
                found = end(opening[0], start)
                if found is None:
                    # It is not closed, and no comment or quote.
                    position = start + 1
                    continue
                position = found
            yield "comment" if kind == "block" else kind, start, position

    def _end_of_block(self, opening: str, start: int) -> int | None:
        """Return where a block comment or a dollar quote ends; None if it is not closed."""
        closing = _BLOCK_COMMENT_END if opening == "/*" else opening
        if self._last_places.get(closing, -1) < start + len(opening):
            return None
        return self._text.index(closing, start + len(opening)) + len(closing)

    def _end_of_quote(self, opening: str, start: int) -> int | None:
        """Return where a quote ends; None if it is not closed.

        Three quotes that are not closed are one. All later quotes of a kind that is not closed are
        escaped or doubled, and end nothing."""
        for quote in dict.fromkeys((opening, opening[0])):
            if start < self._unclosed.get(quote, len(self._text)):
                found = self._quote_ends[quote].match(self._text, start + len(quote))
                if found is not None:
                    return found.end()
                self._unclosed[quote] = start
        return None

    @cached_property
    def _last_places(self) -> dict[str, int]:
        """Return the last place of each mark that closes a comment or a quote."""
        places = {one[1]: one.start() for one in _DOLLAR_QUOTE.finditer(self._text)}
        return places | {_BLOCK_COMMENT_END: self._text.rfind(_BLOCK_COMMENT_END)}


@cache
def _openings(dialect: str) -> re.Pattern[str]:
    """Return the pattern of comments, quoted texts and ends of statements in a dialect.

    Of a block comment and of most quotes it matches the opening."""
    tokenizer = Dialect.get_or_raise(dialect).tokenizer_class
    line_comments = [r"--"]
    line_comments += [one for one in ("#", "//") if one in tokenizer.COMMENTS]
    parts = [
        rf"(?P<comment>(?:{'|'.join(line_comments)})[^\n]*+)",
        r"(?P<block>/\*)",
        r"(?P<dollar>\$[A-Za-z_]*+\$)",
        rf"(?P<quote>{'|'.join(_quote_ends(dialect))})",
        r"(?P<end>;)",
    ]
    if dialect == "tsql":
        parts.append(r"(?P<bracket>\[[^\[\]\n]*+\])")
        parts.append(r"(?P<go>^[ \t]*+go[ \t]*+$)")
    return re.compile("|".join(parts), re.MULTILINE | re.IGNORECASE)


@cache
def _quote_ends(dialect: str) -> dict[str, re.Pattern[str]]:
    """Return the quotes of a dialect, each with the pattern of what follows up to its end."""
    tokenizer = Dialect.get_or_raise(dialect).tokenizer_class
    escape = r"|\\[\s\S]" if "\\" in tokenizer.STRING_ESCAPES else ""
    excluded = "\\\\" if escape else ""
    ends = {quote: rf"[\s\S]*?{quote}" for quote in _LONG_QUOTES if dialect == "bigquery"}
    ends |= {
        quote: rf"(?:[^{quote}{excluded}]|{quote}{quote}{escape})*+{quote}" for quote in ("'", '"')
    }
    return {quote: re.compile(end) for quote, end in (ends | {"`": "[^`]*+`"}).items()}


def _blocks_opened(code: str) -> int:
    """Return the number of blocks that code opens and does not end."""
    depth = 0
    for word in _BLOCK_WORDS.findall(code):
        folded = word.lower()
        if folded in ("begin", "case"):
            depth += 1
        elif folded == "end":
            depth -= 1
    return depth
