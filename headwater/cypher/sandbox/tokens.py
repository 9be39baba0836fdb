"""The tokens of a statement that a caller wrote."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from headwater.errors import QueryError

TEXT_CHARACTERS_MAX = 20_000
TOKENS_MAX = 3_000
# The depth of brackets, and the number of times that a word may follow itself (NOT NOT NOT ...).
DEPTH_MAX = 50
# A quotation or a comment that is not closed extends to the end, so that nothing is read twice.
_TOKEN = re.compile(
    r"""(?P<gap>\s+|//[^\r\n]*|/\*.*?\*/)
    |(?P<string>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")
    |(?P<name>`(?:[^`]|``)*+`)
    |(?P<open>(?:['"`]|/\*).*)
    |(?P<word>[^\W\d]\w*)
    |(?P<number>\d\w*)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029](?<!\r)|\r(?!\n)")
# Texts, quoted names and comments may hold any character.
_QUOTED = ("'", '"', "`", "//", "/*")
_OPEN, _CLOSE = "([{", ")]}"


class Token(NamedTuple):
    """A word, number, string, quoted name or mark of a statement."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """Return a word in small letters, as Cypher reads it; empty for any other token."""
        return self.text.lower() if self.kind == "word" else ""


def parse_tokens(text: str) -> list[Token]:
    """Return the tokens of a statement. Raises QueryError for a text that has two readings."""
    if len(text) > TEXT_CHARACTERS_MAX:
        raise refused(
            f"the statement is longer than {TEXT_CHARACTERS_MAX:,} characters",
            "Send values as parameters.",
        )
    if re.search(r"\\u", text, re.IGNORECASE) or _ODD.search(text):
        raise refused(
            "the statement has escaped or invisible characters",
            "Write them plainly, or send them as parameters.",
        )
    matches = list(_TOKEN.finditer(text))
    for found in (match.group() for match in matches):
        # Cypher reads some other dashes, arrows, digits and letters like those of ASCII.
        if not (found.isascii() or found.startswith(_QUOTED)):
            raise refused(
                f"{ascii(found)[:80]} is outside ASCII",
                "Put such a name into backticks, and such a text into quotes.",
            )
    tokens = [
        Token(match.lastgroup or "", match.group()) for match in matches if match.lastgroup != "gap"
    ]
    if not tokens:
        raise refused("there is no statement", "Send one.")
    longest = max(
        len(list(same)) for _, same in itertools.groupby(token.text.lower() for token in tokens)
    )
    if len(tokens) > TOKENS_MAX or longest > DEPTH_MAX:
        raise refused("the statement has too many words", "Split it into several statements.")
    if tokens[-1].kind == "open":
        raise refused("a quotation or a comment is not closed", "Close it.")
    return tokens


def match_brackets(tokens: list[Token]) -> dict[int, int]:
    """Return the place where each bracket closes. Raises QueryError for brackets that do not
    match."""
    closed_by: dict[int, int] = {}
    waiting: list[int] = []
    for position, token in enumerate(tokens):
        if token.kind == "mark" and token.text in _OPEN:
            waiting.append(position)
        elif token.kind == "mark" and token.text in _CLOSE:
            if not waiting or _OPEN.index(tokens[waiting[-1]].text) != _CLOSE.index(token.text):
                raise refused("the brackets do not match", "Close each of them.")
            closed_by[waiting.pop()] = position
        if len(waiting) > DEPTH_MAX:
            raise refused(
                f"it is nested more than {DEPTH_MAX} deep", "Split it into several statements."
            )
    if waiting:
        raise refused("the brackets do not match", "Close each of them.")
    return closed_by


def refused(reason: str, hint: str) -> QueryError:
    """Return the error that refuses a statement, with another way to write it."""
    return QueryError(f"refused: {reason}", hint=hint)
